"""Actions on several rows of a list at once: a plan first, then each row by itself.

A list declares its actions as a table of `BulkAction`. Its form sends the chosen rows
by GET to one page, which shows what will happen to which, and what is skipped and why;
the same page, posted, does it. Copy a neighbor to add one: `labs/web/orders/bulk.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.lib.errors import DomainError, NotAllowed
from portal.lib.web.views import redirect_browser, render_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from django.db.models import Model
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest

Row = TypeVar("Row", bound="Model")

# As many rows as a page of a list may show; more are chosen by a filter, not by hand.
ROWS_MAX = 200


def _refuse_none(_request: TenantRequest, _row: Any) -> str:
    return ""


def _run_nothing(_request: TenantRequest, _row: Any) -> None:
    """Do nothing, for an action that delivers a file."""


def _allow_all(_request: TenantRequest) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction(Generic[Row]):
    """An action that a list offers for its chosen rows.

    `refuse` says why a row would be skipped, empty if it would not; `run` does it to
    one row and may raise a DomainError, which skips that row. `undo` says how what was
    done is undone, or that it is not; `undone_by` is the key of the action that does.
    `is_danger` is one that takes something away. `allows` is asked for what the page
    itself does not. `choose` offers choices as value and words, of which one is sent as
    `choice`, under `choose_label`. `deliver` answers with a file of all rows instead of
    running each.
    """

    key: str
    title: str
    verb: str
    says: str
    undo: str
    refuse: Callable[[TenantRequest, Row], str] = _refuse_none
    run: Callable[[TenantRequest, Row], None] = _run_nothing
    deliver: Callable[[TenantRequest, Sequence[Row]], HttpResponse] | None = None
    allows: Callable[[TenantRequest], bool] = _allow_all
    choose: Callable[[TenantRequest], Sequence[tuple[str, str]]] | None = None
    choose_label: str = ""
    undone_by: str = ""
    is_danger: bool = False


@dataclass(frozen=True, slots=True)
class BulkRow(Generic[Row]):
    """A chosen row; `name` and `detail` name it on the plan, `skips` says why not.

    `key` is its ID as the list sends it; the primary key if empty.
    """

    row: Row
    name: str
    detail: str
    url: str
    skips: str = ""
    key: str = ""

    @property
    def sent_key(self) -> str:
        """Return the ID that stands for the row in forms and addresses."""
        return self.key or str(self.row.pk)


def serve_bulk_action(
    request: TenantRequest,
    *,
    actions: Mapping[str, BulkAction[Row]],
    rows: Sequence[BulkRow[Row]],
    field: str,
    back: str,
    back_words: str,
    section: str,
) -> HttpResponse:
    """Show the plan of the action that the request names; posted, carry it out.

    `rows` are those of the chosen that the member may see, sent as `field`. Each is
    done by itself: one that has changed since the plan is skipped and named, the others
    are done. Raises: NotAllowed. Source: Ours (workflows, bulk).
    """
    sent = request.POST if request.method == "POST" else request.GET
    action = actions.get(sent.get("action", ""))
    if action is None:
        messages.error(request, _("Choose an action for the selected rows."))
        return redirect_browser(request, back)
    if not action.allows(request):
        raise NotAllowed("not_allowed", _("Your role can't do this."))
    choices = list(action.choose(request)) if action.choose else []
    planned = [replace(each, skips=action.refuse(request, each.row)) for each in rows]
    if request.method != "POST":
        return render_page(
            request,
            "accounts/bulk_plan.html",
            action=action,
            choices=choices,
            doing=[each for each in planned if not each.skips],
            skipping=[each for each in planned if each.skips],
            field=field,
            back=back,
            back_words=back_words,
            section=section,
        )
    if action.choose and sent.get("choice") not in {value for value, _words in choices}:
        messages.error(request, _("Choose from the list."))
        return redirect_browser(request, back)
    if action.deliver:
        return action.deliver(request, [each.row for each in planned if not each.skips])
    done, skipped = _run(request, action, planned)
    words = ngettext("Done for %(n)d row.", "Done for %(n)d rows.", len(done))
    said = f"{action.title}. {words % {'n': len(done)}}"
    if done and action.undone_by:
        ids = [(field, each.sent_key) for each in done]
        plan = urlencode([("action", action.undone_by), *ids])
        link = format_html('<a href="{}?{}">{}</a>', request.path, plan, _("Undo"))
        said = format_html("{} {}", said, link)
    messages.success(request, said)
    if skipped:
        messages.error(request, _("Skipped: %(rows)s") % {"rows": " ".join(skipped)})
    return redirect_browser(request, back)


def _run(
    request: TenantRequest, action: BulkAction[Row], planned: Sequence[BulkRow[Row]]
) -> tuple[list[BulkRow[Row]], list[str]]:
    """Do an action to each planned row; return those done, and why others were not."""
    done = []
    skipped = []
    for each in planned:
        refused = each.skips
        if not refused:
            try:
                action.run(request, each.row)
            except DomainError as refusal:
                refused = refusal.message
        if refused:
            skipped.append(f"{each.name}: {refused}")
        else:
            done.append(each)
    return done, skipped


def read_chosen_ids(texts: Sequence[str]) -> list[UUID]:
    """Return the chosen rows' IDs, at most ROWS_MAX; what is none is left out."""
    found = []
    for text in texts[:ROWS_MAX]:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return found
