"""Page that books or reschedules an order's visit.

One form contains every choice, so that each response is rendered from it and no patient
data is in a URL.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from labs.operations.appointments.booking import (
    BookingRequest,
    book_appointment,
    make_repeatable_booking_reference,
    request_home_appointment,
    require_order_bookable,
)
from labs.operations.appointments.booking_keys import BookingKeys
from labs.operations.appointments.changes import reschedule_appointment
from labs.operations.appointments.slot_places import (
    hold_slot_for_order,
    release_order_holds,
)
from labs.operations.appointments.slots import SlotTaken
from labs.queries.appointments.appointments import find_active_appointment
from labs.queries.orders.orders import get_order_with_details
from labs.states.appointments import AppointmentStatus
from labs.web.appointments.booking_grid import get_site_form_value
from labs.web.appointments.booking_page import (
    BookingPage,
    build_home_appointment_address,
    format_appointment_time,
)
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Appointment, Order

_FORM_KEY_MAX = 64


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def book_appointment_page(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Book or reschedule the order's visit; `go` names the button pressed."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    visit = find_active_appointment(order=order)
    if visit is not None and _was_booked_by_this_form(request, order, visit):
        # Pressed twice, or sent again by a reload.
        return _redirect_to_booked_order(request, order, visit)
    closed = explain_why_order_not_bookable(order, visit)
    if closed:
        messages.error(request, closed)
        return redirect_browser(
            request, page_url(request, "labs:order", order_id=order.pk)
        )
    page = BookingPage(request, order, visit)
    if request.method == "POST":
        answer = _handle_post(page)
        if answer is not None:
            return answer
    else:
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="order_booking",
            subject_id=order.pk,
            user_uuid=order.user.uuid,
        )
    return page.render()


def explain_why_order_not_bookable(order: Order, visit: Appointment | None) -> str:
    """Return why no visit can be booked or rescheduled, or an empty text."""
    if visit is not None:
        can = visit.can_reschedule(timezone.now())
        return (
            "" if can else _("This visit can't be rescheduled in its current status.")
        )
    try:
        require_order_bookable(order=order)
    except DomainError as refused:
        return refused.message
    return ""


def _handle_post(page: BookingPage) -> HttpResponse | None:
    """Run the pressed button's action; None shows the page again."""
    request, order = page.request, page.order
    is_valid = page.form.is_valid()
    try:
        if page.is_booking:
            page.refusal = _explain_outdated_form(request, page.visit)
            if not page.refusal and not (page.key and _is_slot_at_chosen_site(page)):
                page.refusal = _("Choose a time at the selected location.")
            if page.refusal or not is_valid:
                return None
            return _book_or_reschedule(page, notes=page.form.cleaned_data["notes"])
        if page.go.startswith("ask:") and is_valid:
            visit = request_home_appointment(
                order=order,
                actor=request.actor,
                provider=page.go.removeprefix("ask:"),
                address=build_home_appointment_address(order),
                notes=page.form.cleaned_data["notes"],
            )
            return _redirect_to_booked_order(request, order, visit)
        if page.go == "hold" and page.key and _is_slot_at_chosen_site(page):
            page.hold = hold_slot_for_order(order=order, booking_key=page.key)
            page.select_slot(page.hold.slot)
        elif page.key:
            release_order_holds(order=order)
    except SlotTaken as taken:
        page.lost = taken
        page.select_slot(taken.lost)
    except DomainError as refused:
        page.refusal = refused.message
    return None


def _is_slot_at_chosen_site(page: BookingPage) -> bool:
    """Return whether the chosen time is at the chosen site.

    It is not where a place was chosen and its times were not there yet.
    """
    if not page.site or "take" in page.request.POST:
        return True
    slot = BookingKeys(page.request.tenant).read(page.key)
    return get_site_form_value(slot.site) == page.site


def _book_or_reschedule(page: BookingPage, *, notes: str) -> HttpResponse:
    request, order = page.request, page.order
    if page.visit is not None:
        visit = reschedule_appointment(
            order=order,
            actor=request.actor,
            booking_key=page.key,
            notes=notes or None,
        )
        return _redirect_to_booked_order(request, order, visit, has_moved=True)
    booking = BookingRequest(
        booking_key=page.key,
        notes=notes,
        waits_on=True,
        reference=_read_booking_reference(request, order),
    )
    visit = book_appointment(order=order, actor=request.actor, request=booking)
    return _redirect_to_booked_order(request, order, visit)


def _redirect_to_booked_order(
    request: TenantRequest,
    order: Order,
    visit: Appointment,
    *,
    has_moved: bool = False,
) -> HttpResponse:
    when = {"time": format_appointment_time(visit)}
    if visit.status == AppointmentStatus.PENDING:
        if visit.start_at is None:
            text = _(
                "Visit requested. The provider sets the time. Wait for confirmation"
                " before you inform the patient."
            )
        else:
            text = _(
                "Visit requested for %(time)s. Wait for confirmation before you inform"
                " the patient."
            )
        messages.warning(request, text % when)
    elif visit.status == AppointmentStatus.RESERVED:
        text = _("Visit reserved for %(time)s until the requisition is created.")
        messages.success(request, text % when)
    elif has_moved:
        messages.success(request, _("Visit rescheduled: %(time)s.") % when)
    else:
        messages.success(request, _("Visit booked: %(time)s.") % when)
    return redirect_browser(request, page_url(request, "labs:order", order_id=order.pk))


def _was_booked_by_this_form(
    request: TenantRequest, order: Order, visit: Appointment
) -> bool:
    """Return whether this form has already booked the visit."""
    is_first = request.method == "POST" and not request.POST.get("moves")
    return is_first and visit.reference == _read_booking_reference(request, order)


def _read_booking_reference(request: TenantRequest, order: Order) -> UUID:
    key = request.POST.get("form_key", "")[:_FORM_KEY_MAX] or str(uuid.uuid4())
    return make_repeatable_booking_reference(order=order, key=key)


def _explain_outdated_form(request: TenantRequest, visit: Appointment | None) -> str:
    """Return why the form is outdated, or an empty text."""
    seen = request.POST.get("moves", "")
    if seen == (str(visit.pk) if visit else ""):
        return ""
    if visit is None:
        return _("The visit was cancelled in the meantime. Book a new one.")
    return _("A visit was booked in the meantime. You can reschedule it here.")
