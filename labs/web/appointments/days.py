"""List of visits: today, tomorrow, later, and those that need attention.

Rows name no patient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from labs.queries.appointments.days import (
    AppointmentTab,
    count_appointments_by_tab,
    list_appointments_on_tab,
)
from labs.states.orders import split_order_status
from labs.web.appointments.card import build_appointment_row
from labs.web.columns import UNBOOKED, VISITS
from portal.lib.database.sorting import SORTED_UP_TO
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import Pager, parse_list_offset, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest

PAGE_SIZE = 50
_EMPTY = {
    AppointmentTab.TODAY: (
        gettext_lazy("No visits today"),
        gettext_lazy("Visits appear here on their local date."),
    ),
    AppointmentTab.TOMORROW: (
        gettext_lazy("No visits tomorrow"),
        gettext_lazy("Visits appear here the day before."),
    ),
    AppointmentTab.LATER: (
        gettext_lazy("No later visits"),
        gettext_lazy("Visits after tomorrow appear here."),
    ),
    AppointmentTab.UNSURE: (
        gettext_lazy("All visits are confirmed"),
        gettext_lazy("Visits appear here until the provider confirms them."),
    ),
    AppointmentTab.PASSED: (
        gettext_lazy("No missed visits"),
        gettext_lazy(
            "Past visits without a sample appear here. Ask the service center, and book"
            " a new visit if the patient did not come."
        ),
    ),
    AppointmentTab.UNBOOKED: (
        gettext_lazy("No orders to book"),
        gettext_lazy(
            "Orders without a visit appear here three days after they can be booked."
        ),
    ),
}


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS)
def show_appointment_list(request: TenantRequest) -> HttpResponse:
    """Show a tab of visits without names, and record the read."""
    tab = AppointmentTab.known(request.GET.get("tab", "")) or AppointmentTab.TODAY
    offset = parse_list_offset(request)
    at = timezone.now()
    counts = count_appointments_by_tab(tenant=request.tenant, at=at)
    columns = read_list_columns(
        request, UNBOOKED if tab == AppointmentTab.UNBOOKED else VISITS
    )
    page = list_appointments_on_tab(
        tenant=request.tenant,
        tab=tab,
        at=at,
        order_by=columns.order_asked,
        offset=offset,
        limit=PAGE_SIZE,
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="visit_list",
        subject_id=f"{tab} offset={offset}",
    )
    title, text = _EMPTY[tab]
    return render_page(
        request,
        "labs/visits.html",
        section="visits",
        tab=str(tab),
        columns=columns,
        is_sort_cut=columns.is_partial and counts[tab] > SORTED_UP_TO,
        tabs=[
            (str(one), str(one.label), counts[one], _count_family(one, counts[one]))
            for one in AppointmentTab
        ],
        rows=[build_appointment_row(visit) for visit in page.appointments],
        orders=[(order, split_order_status(order.status).low) for order in page.orders],
        pager=Pager(total=counts[tab], offset=offset, limit=PAGE_SIZE),
        empty_title=title,
        empty_says=text,
    )


def _count_family(tab: AppointmentTab, number: int) -> str:
    return (
        "bad"
        if number and tab in {AppointmentTab.UNSURE, AppointmentTab.PASSED}
        else ""
    )
