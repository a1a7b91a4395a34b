"""Import of users: check a file, preview it, create the users."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.translation import gettext_lazy
from portal.lib.web.csv_files import build_csv_download
from portal.lib.web.views import page_url, redirect_browser, render_page
from users.operations.users.csv_import import (
    COLUMNS,
    EXISTS,
    RowNote,
    UserFileInvalid,
    import_users_from_csv,
)

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.operations.users.csv_import import UserImport

# As many as are created while somebody waits; `manage.py import_users` takes any.
ROWS_MAX = 2000
# So many long rows fit; the checked file travels back with the page.
BYTES_MAX = 500_000
# The page lists this many, the file to download all.
NOTES_SHOWN = 100
CREATE, NOTES = "create", "notes"


class UserFileForm(forms.Form):
    """A CSV file to check."""

    file = forms.FileField(
        allow_empty_file=True,  # the operation refuses one, with its own sentence
        error_messages={"required": gettext_lazy("Choose a file.")},
    )


class CheckedFileForm(forms.Form):
    """Form of a checked file that is sent again with an action."""

    content = forms.CharField(strip=False, max_length=BYTES_MAX)
    action = forms.ChoiceField(choices=[(CREATE, ""), (NOTES, "")])


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS, write=True)
def show_user_csv_import(request: TenantRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, UserFileForm())
    checked = CheckedFileForm(request.POST)
    if checked.is_valid():
        return _process_checked_file(request, **checked.cleaned_data)
    form = UserFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=422)
    file = form.cleaned_data["file"]
    if (file.size or 0) > BYTES_MAX:
        form.add_error(
            "file",
            _("The file is larger than %(limit)d kB. Nothing was stored.")
            % {"limit": BYTES_MAX // 1000},
        )
        return _page(request, form, status=422)
    content: bytes = file.read()
    try:
        found, notes = _import_file(request, content, is_dry_run=True)
    except UserFileInvalid as refused:
        form.add_error("file", refused.message)
        return _page(request, form, status=422)
    return _page(
        request, UserFileForm(), found=found, notes=notes, content=_text(content)
    )


def _process_checked_file(
    request: TenantRequest, *, content: str, action: str
) -> HttpResponse:
    """Create the users of a checked file, or download its skipped lines."""
    is_dry_run = action == NOTES
    try:
        found, notes = _import_file(request, content.encode(), is_dry_run=is_dry_run)
    except UserFileInvalid as refused:
        messages.error(request, refused.message)
        return _page(request, UserFileForm(), status=422)
    if is_dry_run:
        return build_csv_download(
            name="users-left-out",
            columns=("line", "outcome", "column", "code", "message"),
            rows=(_cells(note) for note in notes),
        )
    created = ngettext(
        "%(number)s user created.", "%(number)s users created.", found.created
    )
    messages.success(request, created % {"number": f"{found.created:,}"})
    if found.refused:
        return _page(
            request,
            UserFileForm(),
            found=found,
            notes=notes,
            content=content,
            done=True,
        )
    return redirect_browser(request, page_url(request, "users:list"))


def _import_file(
    request: TenantRequest, content: bytes, *, is_dry_run: bool
) -> tuple[UserImport, list[RowNote]]:
    notes: list[RowNote] = []
    found = import_users_from_csv(
        tenant=request.tenant,
        actor=request.actor,
        file=io.BytesIO(content),
        is_dry_run=is_dry_run,
        rows_max=ROWS_MAX,
        note=notes.append,
    )
    return found, notes


def _page(
    request: TenantRequest,
    form: UserFileForm,
    *,
    status: int = 200,
    found: UserImport | None = None,
    notes: list[RowNote] | None = None,
    content: str = "",
    done: bool = False,
) -> HttpResponse:
    left_out = notes or []
    return render_page(
        request,
        "users/import_users.html",
        status=status,
        form=form,
        found=found,
        notes=left_out[:NOTES_SHOWN],
        more=max(0, len(left_out) - NOTES_SHOWN),
        exists=EXISTS,
        content=content,
        done=done,
        columns=COLUMNS,
        rows_max=ROWS_MAX,
        bytes_max=BYTES_MAX // 1000,
    )


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig")


def _cells(note: RowNote) -> tuple[str, ...]:
    outcome = "exists" if note.code == EXISTS else "refused"
    return str(note.line), outcome, note.column, note.code, note.message
