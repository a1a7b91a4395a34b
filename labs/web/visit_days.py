"""The list of visits: today and tomorrow where each takes place, and loose ends.

Must not be here: one order's visit (labs.web.visits), or a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.operations.audit import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from labs.queries.appointment_days import VisitTab, visit_counts, visits_on_tab
from labs.states.orders import split_status
from labs.web.visits import visit_row
from portal.lib.web import Pager, asked_offset, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from portal.lib.web import TenantRequest

PAGE_SIZE = 50
_EMPTY = {
    VisitTab.TODAY: (
        "No visit today",
        "Visits appear here on the day that their place has.",
    ),
    VisitTab.TOMORROW: ("No visit tomorrow", "Visits appear here the day before."),
    VisitTab.LATER: (
        "No visit later",
        "Visits from the day after tomorrow on appear here.",
    ),
    VisitTab.UNSURE: (
        "Every visit is confirmed",
        "Visits whose provider has not answered yet appear here.",
    ),
    VisitTab.PASSED: (
        "Every visit that has passed brought a sample",
        "Confirmed visits that have passed while their order still waits appear here:"
        " ask the place, and book anew where nobody came.",
    ),
    VisitTab.UNBOOKED: (
        "No order waits for a booking",
        "Orders appear here that could be booked for three days and were not.",
    ),
}


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS)
def visit_list(request: TenantRequest) -> HttpResponse:
    """A tab of the list; no names, but when somebody goes to a lab is a read."""
    tab = VisitTab.known(request.GET.get("tab", "")) or VisitTab.TODAY
    offset = asked_offset(request)
    at = timezone.now()
    counts = visit_counts(tenant=request.tenant, at=at)
    page = visits_on_tab(
        tenant=request.tenant, tab=tab, at=at, offset=offset, limit=PAGE_SIZE
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="visit_list",
        subject_id=f"{tab} offset={offset}",
    )
    title, says = _EMPTY[tab]
    return render_page(
        request,
        "labs/visits.html",
        section="visits",
        tab=str(tab),
        tabs=[
            (str(one), str(one.label), counts[one], _family(one, counts[one]))
            for one in VisitTab
        ],
        rows=[visit_row(visit) for visit in page.visits],
        orders=[(order, split_status(order.status).low) for order in page.orders],
        pager=Pager(total=counts[tab], offset=offset, limit=PAGE_SIZE),
        empty_title=title,
        empty_says=says,
    )


def _family(tab: VisitTab, number: int) -> str:
    return "bad" if number and tab in {VisitTab.UNSURE, VisitTab.PASSED} else ""
