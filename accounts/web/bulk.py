"""Actions on several rows of a list at once: a plan first, then each row by itself.

A list declares its actions as a table of `BulkAction`. Its form sends the chosen rows
by GET to one page, which shows what will happen to which, and what is skipped and why;
the same page, posted, does it. Copy a neighbor to add one: `labs/web/orders/bulk.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.lib.errors import DomainError
from portal.lib.web.views import redirect_browser, render_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest

Row = TypeVar("Row")

# As many rows as a page of a list may show; more are chosen by a filter, not by hand.
ROWS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction(Generic[Row]):
    """An action that a list offers for its chosen rows.

    `refuse` says why a row would be skipped, empty if it would not; `run` does it to
    one row and may raise a DomainError, which skips that row. `undo` says how what was
    done is undone, or that it is not. `is_danger` is one that takes something away.
    """

    key: str
    title: str
    verb: str
    says: str
    undo: str
    refuse: Callable[[Row], str]
    run: Callable[[TenantRequest, Row], None]
    is_danger: bool = False


@dataclass(frozen=True, slots=True)
class BulkRow(Generic[Row]):
    """A chosen row; `name` and `detail` name it on the plan, `skips` says why not."""

    row: Row
    name: str
    detail: str
    url: str
    skips: str = ""


def serve_bulk_action(
    request: TenantRequest,
    *,
    actions: Mapping[str, BulkAction[Row]],
    rows: Sequence[BulkRow[Row]],
    back: str,
    back_words: str,
    section: str,
) -> HttpResponse:
    """Show the plan of the action that the request names; posted, carry it out.

    `rows` are those of the chosen that the member may see. Each is done by itself: one
    that has changed since the plan is skipped and named, the others are done.
    Source: Ours (workflows, bulk).
    """
    sent = request.POST if request.method == "POST" else request.GET
    action = actions.get(sent.get("action", ""))
    if action is None:
        messages.error(request, _("Choose an action for the selected rows."))
        return redirect_browser(request, back)
    planned = [
        BulkRow(each.row, each.name, each.detail, each.url, action.refuse(each.row))
        for each in rows
    ]
    if request.method != "POST":
        return render_page(
            request,
            "accounts/bulk_plan.html",
            action=action,
            doing=[each for each in planned if not each.skips],
            skipping=[each for each in planned if each.skips],
            back=back,
            back_words=back_words,
            section=section,
        )
    done = 0
    skipped = [f"{each.name}: {each.skips}" for each in planned if each.skips]
    for each in planned:
        if each.skips:
            continue
        try:
            action.run(request, each.row)
        except DomainError as refusal:
            skipped.append(f"{each.name}: {refusal.message}")
        else:
            done += 1
    words = ngettext("Done for %(n)d row.", "Done for %(n)d rows.", done) % {"n": done}
    messages.success(request, f"{action.title}. {words}")
    if skipped:
        messages.error(request, _("Skipped: %(rows)s") % {"rows": " ".join(skipped)})
    return redirect_browser(request, back)
