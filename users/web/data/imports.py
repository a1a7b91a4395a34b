"""Imports of a user's files: upload, progress, results and skipped rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import (
    allow_larger_request_body,
    page_url,
    redirect_browser,
    render_page,
)
from users.operations.imports.files import BODY_MAX_BYTES
from users.operations.imports.runs import DEFAULT_PROVIDER
from users.operations.imports.status import (
    cancel_health_data_import,
    explain_refused_import,
)
from users.operations.imports.submission import (
    ImportRequest,
    confirm_health_data_import,
    start_health_data_import,
)
from users.queries import live_user, user_overview
from users.queries.imports import (
    find_earlier_import_of_same_file,
    get_health_data_import,
    list_health_data_imports,
)
from users.states.imports import DropReason, ImportStatus
from users.wearables.providers import PROVIDERS
from users.web.columns import IMPORTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.core.files.uploadedfile import UploadedFile
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.models import ImportJob, User

# The page lists this many; older ones have an address, and the audit.
LATEST = 25
# Kinds of rows named under a reason; the others are counted.
_WHATS_SHOWN = 8
# How long the page waits before it asks again, by the age of the import.
_POLLS = ((120, 2), (1800, 5))
_SLOW_POLL_SECONDS = 30


class ImportForm(forms.Form):
    """Upload form of a file of health data."""

    file = forms.FileField(
        allow_empty_file=True,  # the operation refuses it, by its code
        error_messages={"required": gettext_lazy("Choose a file.")},
    )
    provider = forms.ChoiceField(
        choices=[
            (provider.slug, provider.name)
            for provider in sorted(PROVIDERS.values(), key=lambda each: each.name)
        ],
        initial=DEFAULT_PROVIDER,
        required=False,
    )


@allow_larger_request_body(BODY_MAX_BYTES)
@require_http_methods(["GET", "POST"])
@require_right(Area.USERS)
def show_health_data_imports(request: TenantRequest, user_id: str) -> HttpResponse:
    """List a user's imports, and upload a file."""
    user = _user(request, user_id)
    if request.method != "POST":
        return _page(request, user, ImportForm())
    if not request.rights.allow(Area.USERS, write=True):
        raise PermissionDenied
    return _upload(request, user)


def _upload(request: TenantRequest, user: User) -> HttpResponse:
    form = ImportForm(request.POST, request.FILES)
    if form.is_valid():
        file: UploadedFile[Any] = form.cleaned_data["file"]
        import_request = ImportRequest(
            file_name=file.name or "",
            chunks=file.chunks(),
            provider=form.cleaned_data["provider"] or DEFAULT_PROVIDER,
        )
        try:
            job = start_health_data_import(
                user=user,
                actor=request.actor,
                request=import_request,
                needs_confirmation=True,
            )
        except NotFound:
            raise
        except DomainError as refusal:
            form.add_error(
                "file",
                _("%(reason)s Nothing was stored.") % {"reason": refusal.message},
            )
        else:
            return redirect_browser(request, _address(request, user, job))
    return _page(request, user, form, status=422)


@require_GET
@require_right(Area.USERS)
def show_health_data_import(
    request: TenantRequest, user_id: str, import_id: str
) -> HttpResponse:
    """Show the progress or result of an import; polls while it is open."""
    user = _user(request, user_id)
    job = _job(user, import_id)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="import",
        subject_id=job.id,
        user_uuid=user.uuid,
    )
    plan = job.plan or {}
    return render_page(
        request,
        "users/import.html",
        fragment="users/_import.html",
        user=user,
        job=job,
        resources=sorted(job.counts.items()),
        plan=sorted(plan.items()),
        rows=sum(each["rows"] for each in plan.values()),
        drops=_drops(job),
        refusal=explain_refused_import(job),
        before=find_earlier_import_of_same_file(job),
        poll_seconds=_poll_seconds(job),
    )


@require_POST
@require_right(Area.USERS, write=True)
def confirm_data_import(
    request: TenantRequest, user_id: str, import_id: str
) -> HttpResponse:
    """Store what the plan of an import says."""
    user = _user(request, user_id)
    job = _job(user, import_id)
    try:
        confirm_health_data_import(job=job, actor=request.actor)
    except DomainError:
        messages.info(request, _("The import was not waiting for a confirmation."))
    return redirect_browser(request, _address(request, user, job))


@require_POST
@require_right(Area.USERS, write=True)
def cancel_data_import(
    request: TenantRequest, user_id: str, import_id: str
) -> HttpResponse:
    user = _user(request, user_id)
    job = _job(user, import_id)
    was_planned = job.status == ImportStatus.READY
    try:
        cancel_health_data_import(job=job, actor=request.actor)
    except DomainError:
        messages.info(request, _("The import had already ended."))
    else:
        messages.success(
            request,
            _("Import cancelled. Nothing was stored.")
            if was_planned
            else _("Import cancelled. Records stored so far are kept."),
        )
    return redirect_browser(request, _address(request, user, job))


def _page(
    request: TenantRequest, user: User, form: ImportForm, *, status: int = 200
) -> HttpResponse:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="import_list",
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    jobs = list_health_data_imports(user=user, limit=LATEST)
    columns = read_list_columns(request, IMPORTS)
    return render_page(
        request,
        "users/imports.html",
        status=status,
        overview=user_overview(tenant=request.tenant, user_id=user.uuid),
        tab="imports",
        form=form,
        columns=columns,
        jobs=columns.sort_rows(jobs),
    )


def _drops(job: ImportJob) -> list[tuple[str, str, int, list[tuple[str, int]], int]]:
    """Return each skip reason: label, code, rows, top kinds, number of other kinds."""
    reasons = []
    for code, whats in job.drops.items():
        known = DropReason.known(code)
        most = sorted(whats.items(), key=_most)
        reasons.append(
            (
                str(known.label) if known else code.replace("_", " ").capitalize(),
                code,
                sum(whats.values()),
                [(what or _("No name"), rows) for what, rows in most[:_WHATS_SHOWN]],
                max(0, len(most) - _WHATS_SHOWN),
            )
        )
    return sorted(reasons, key=_most_rows)


def _most(what: tuple[str, int]) -> tuple[int, str]:
    return -what[1], what[0]


def _most_rows(
    reason: tuple[str, str, int, Iterable[tuple[str, int]], int],
) -> tuple[int, str]:
    return -reason[2], reason[1]


def _poll_seconds(job: ImportJob) -> int:
    if not job.is_open or job.status == ImportStatus.READY:
        return 0
    age = (timezone.now() - job.created_at).total_seconds()
    return next((wait for limit, wait in _POLLS if age < limit), _SLOW_POLL_SECONDS)


def _address(request: TenantRequest, user: User, job: ImportJob) -> str:
    return page_url(request, "users:import", user_id=user.uuid, import_id=job.id)


def _user(request: TenantRequest, user_id: str) -> User:
    try:
        return live_user(tenant=request.tenant, user_id=UUID(user_id))
    except ValueError:
        raise Http404 from None


def _job(user: User, import_id: str) -> ImportJob:
    try:
        return get_health_data_import(user=user, import_id=UUID(import_id))
    except ValueError:
        raise Http404 from None
