"""An order's visit: its card, cancellation and documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.audit.steps import StepGroup, group_steps
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.documents.guides import get_fasting_start
from labs.operations.appointments.changes import cancel_appointment
from labs.operations.appointments.site_confirmation import is_waiting_for_site
from labs.operations.documents.appointment_documents import (
    is_fasting_required_for_order,
    render_appointment_sheet,
    render_calendar_entry,
)
from labs.operations.orders.requisition_watches import subscribe_to_requisition
from labs.queries.appointments.appointments import (
    get_current_appointment,
    list_appointments_of_order,
)
from labs.queries.orders.orders import get_order_with_details
from labs.queries.orders.requisition_watches import is_subscribed_to_requisition
from labs.states.appointments import (
    CANCELLATION_REASONS,
    NOTES_MAX_LENGTH,
    REFUNDED_BEFORE,
    TYPE_OF_METHOD,
    AppointmentProvider,
    AppointmentStatus,
    AppointmentType,
    get_cancellation_reason_name,
)
from labs.states.order_queues import AWAITS_REQUISITION, is_order_in_progress
from labs.states.orders import split_order_status
from labs.web.appointments.booking import explain_why_order_not_bookable
from labs.web.documents.views import build_pdf_response
from portal.lib.errors import DomainError, NotFound
from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser
from portal.ui.dates import write_date
from portal.ui.parts import Happening
from portal.ui.pills import find_status_pill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.web.requests import TenantRequest
    from labs.models import Appointment, AppointmentEvent, Order

_ICONS = {
    "pending": "clock",
    "reserved": "clock",
    "scheduled": "calendar",
    "in_progress": "clock",
    "completed": "check",
    "cancelled": "ban",
}


@dataclass(frozen=True, slots=True)
class AppointmentRow:
    """A visit as text, with times in the site's time zone.

    They are empty while it has none. `fasting` is empty where the order asks for none;
    `is_elsewhere` where that clock differs from the reader's.
    """

    visit: Appointment
    weekday: str
    day: str
    month: str
    time: str
    place: str
    address: str
    is_elsewhere: bool
    fasting: str = ""

    @property
    def is_confirmed(self) -> bool:
        """Return whether the patient can be informed of the visit."""
        return self.visit.status not in {
            AppointmentStatus.PENDING,
            AppointmentStatus.RESERVED,
        }

    @property
    def status_label(self) -> str:
        """Return the visit's status as text."""
        known = AppointmentStatus.known(self.visit.status)
        return str(known.label) if known else ""

    @property
    def patient_message(self) -> str:
        """Return a message for the patient; empty before it is confirmed."""
        if not (self.is_confirmed and self.day):
            return ""
        number = self.visit.external_id
        sentences = (
            _(
                "Your lab visit is on %(weekday)s %(day)s %(month)s, %(time)s:"
                " %(place)s, %(address)s."
            )
            % {
                "weekday": self.weekday,
                "day": self.day,
                "month": self.month,
                "time": self.time,
                "place": self.place,
                "address": self.address,
            },
            _("Don't eat, and drink only water, from %(start)s on.")
            % {"start": self.fasting}
            if self.fasting
            else "",
            _("Bring a photo ID and the requisition."),
            _("Your visit number is %(number)s.") % {"number": number}
            if number
            else "",
        )
        return " ".join(text for text in sentences if text)


@dataclass(frozen=True, slots=True)
class AppointmentCard:
    """An order's visit, and the actions allowed on it.

    `closed` says why none can be booked, empty where one can. `may_watch` offers to be
    told of the requisition, `is_watched` says that the member will be.
    """

    row: AppointmentRow | None
    history: Sequence[StepGroup]
    may_book: bool
    may_move: bool
    may_cancel: bool
    may_see_patient: bool
    may_set_time: bool = False
    may_complete: bool = False
    may_confirm: bool = False
    is_at_center: bool = False
    closed: str = ""
    may_watch: bool = False
    is_watched: bool = False

    @property
    def can_enter(self) -> bool:
        """Return whether the member can enter a visit agreed with a center."""
        return self.may_book and not self.closed and self.is_at_center

    @property
    def can_book(self) -> bool:
        """Return whether the member can open the booking page."""
        return self.may_move or (self.may_book and not self.closed)


class CancelAppointmentForm(forms.Form):
    """Why a visit is cancelled."""

    reason = forms.ChoiceField(
        label=gettext_lazy("Reason"),
        widget=forms.RadioSelect,
        error_messages={"required": gettext_lazy("Choose a reason.")},
    )
    note = forms.CharField(
        max_length=NOTES_MAX_LENGTH, required=False, label=gettext_lazy("Note")
    )

    def __init__(self, *args: object, kind: str, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]  # a form's own
        reasons = self.fields["reason"]
        assert isinstance(reasons, forms.ChoiceField)  # noqa: S101 - for the type checker
        reasons.choices = [
            (one.id, one.name) for one in CANCELLATION_REASONS.get(kind, ())
        ]


def build_appointment_card(
    request: TenantRequest, order: Order
) -> AppointmentCard | None:
    """Build the visit card of an order; None for methods without visits."""
    if order.method not in TYPE_OF_METHOD or order.moved_from:
        return None
    visits = list_appointments_of_order(order=order)
    active = next((visit for visit in visits if visit.is_active), None)
    shown = active or next(
        (one for one in visits if one.status == AppointmentStatus.COMPLETED), None
    )
    may_write = request.rights.allow(Area.BOOKINGS, write=True)
    closed = "" if active else explain_why_order_not_bookable(order, None)
    awaits = split_order_status(order.status).low in AWAITS_REQUISITION
    watches = may_write and awaits
    return AppointmentCard(
        row=build_appointment_row(shown, fasting=is_fasting_required_for_order(order))
        if shown
        else None,
        history=group_steps(request, _build_history(visits)),
        may_book=may_write and shown is None and is_order_in_progress(order.status),
        may_move=may_write
        and active is not None
        and active.can_reschedule(timezone.now()),
        may_cancel=may_write and active is not None,
        may_see_patient=request.rights.allow(Area.PATIENT_DETAILS),
        may_set_time=may_write
        and active is not None
        and needs_appointment_time(active),
        may_complete=may_write
        and active is not None
        and has_home_visit_started(active),
        may_confirm=may_write and active is not None and is_waiting_for_site(active),
        is_at_center=TYPE_OF_METHOD[order.method] == AppointmentType.SERVICE_CENTER,
        closed=closed,
        may_watch=watches and bool(closed),
        is_watched=watches
        and is_subscribed_to_requisition(order=order, member=request.member),
    )


def build_appointment_row(
    visit: Appointment, *, fasting: bool = False
) -> AppointmentRow:
    """Build the texts of a visit."""
    zone = find_time_zone_by_name(visit.time_zone)
    start = visit.start_at.astimezone(zone) if visit.start_at else None
    end = visit.end_at.astimezone(zone) if visit.end_at else None
    provider = AppointmentProvider.known(visit.provider)
    address = visit.address
    lines = (
        address.get("first_line"),
        address.get("second_line"),
        f"{address.get('city', '')}, {address.get('state', '')}"
        f" {address.get('zip_code', '')}",
    )
    since = get_fasting_start(start) if fasting and start else None
    return AppointmentRow(
        visit=visit,
        weekday=write_date(start, "D"),
        day=f"{start.day}" if start else "",
        month=write_date(start, "M"),
        time=_("%(start)s to %(end)s")
        % {"start": f"{start:%H:%M}", "end": f"{end:%H:%M %Z}"}
        if start and end
        else "",
        place=visit.site_name or (str(provider.label) if provider else visit.provider),
        address=", ".join(str(line) for line in lines if line),
        is_elsewhere=start is not None
        and start.utcoffset() != timezone.localtime(start).utcoffset(),
        fasting=write_date(since, "D j M, H:i"),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def cancel_appointment_page(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Cancel the order's visit, with a reason."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    visit = next(
        (one for one in list_appointments_of_order(order=order) if one.is_active), None
    )
    if visit is None:
        messages.error(request, _("This order has no visit to cancel."))
        return _redirect_to_order(request, order)
    form = CancelAppointmentForm(read_posted(request), kind=visit.type)
    refusal = ""
    if request.method == "POST" and form.is_valid():
        try:
            cancel_appointment(
                order=order,
                actor=request.actor,
                reason_id=form.cleaned_data["reason"],
                note=form.cleaned_data["note"],
            )
        except DomainError as refused:
            refusal = refused.message
        else:
            messages.success(request, _("Visit cancelled."))
            return _redirect_to_order(request, order)
    return render_form(
        request,
        "labs/_cancel_visit.html",
        title=_("Cancel this visit?"),
        back=page_url(request, "labs:order", order_id=order.pk),
        back_words=_("Order %(order_id)s") % {"order_id": str(order.pk)[:8]},
        status=422 if refusal or form.errors else 200,
        form=form,
        row=build_appointment_row(visit),
        is_late=_is_too_late_to_refund(visit),
        refusal=refusal,
        section="orders",
    )


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS)
@require_right(Area.PATIENT_DETAILS)
def download_patient_sheet(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Return the patient's sheet with the requisition, as a PDF."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        document = render_appointment_sheet(
            order=order, appointment=get_current_appointment(order=order)
        )
    except NotFound as refusal:
        messages.error(request, refusal.message)
        return _redirect_to_order(request, order)
    _record_read(request, order, "visit_sheet")
    return build_pdf_response(document)


@require_GET
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS)
def download_calendar_entry(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Return the visit as a calendar file."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        entry = render_calendar_entry(
            order=order, appointment=get_current_appointment(order=order)
        )
    except NotFound as refusal:
        messages.error(request, refusal.message)
        return _redirect_to_order(request, order)
    _record_read(request, order, "visit_calendar")
    return HttpResponse(
        entry.body,
        content_type="text/calendar; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{entry.name}"'},
    )


@require_POST
@require_right(Area.ORDERS)
@require_right(Area.BOOKINGS, write=True)
def subscribe_to_requisition_ready_mail(
    request: TenantRequest, order_id: UUID
) -> HttpResponse:
    """Email the member when the requisition is ready."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        subscribe_to_requisition(
            order=order, actor=request.actor, member=request.member
        )
    except DomainError as refused:
        messages.error(request, refused.message)
    else:
        messages.success(
            request,
            _("%(email)s will get an email when the requisition is ready.")
            % {"email": request.member.email},
        )
    return _redirect_to_order(request, order)


def _build_history(visits: Sequence[Appointment]) -> list[Happening]:
    """List all status changes of an order's visits, newest first."""
    steps = [(event, visit) for visit in visits for event in visit.events.all()]
    steps.sort(key=lambda step: step[0].pk, reverse=True)
    return [_build_history_entry(event, visit) for event, visit in steps]


def _build_history_entry(event: AppointmentEvent, visit: Appointment) -> Happening:
    data = event.data or {}
    moved = bool(data.get("is_reschedule"))
    reason = str(data.get("cancellation_reason", ""))
    sentences = (
        get_cancellation_reason_name(visit.type, reason) if reason else "",
        str(data.get("note", "")),
    )
    return Happening(
        label=_("Rescheduled") if moved else find_status_pill(event.status).words,
        at=event.created_at,
        icon="replay" if moved else _ICONS.get(event.status, "ring"),
        kind="warn" if event.status == "cancelled" else "",
        detail=". ".join(text for text in sentences if text),
        raw=event.status,
        actor_kind=event.actor_kind,
        actor_label=event.actor_label,
    )


def needs_appointment_time(visit: Appointment) -> bool:
    """Return whether the provider of a requested visit sets the time."""
    return visit.status == AppointmentStatus.PENDING and visit.start_at is None


def has_home_visit_started(visit: Appointment) -> bool:
    """Return whether a home visit has started."""
    return (
        visit.type == AppointmentType.PHLEBOTOMY
        and visit.status in {AppointmentStatus.CONFIRMED, AppointmentStatus.IN_PROGRESS}
        and visit.start_at is not None
        and visit.start_at <= timezone.now()
    )


def _is_too_late_to_refund(visit: Appointment) -> bool:
    """Return whether it is too late to refund a home visit."""
    return (
        visit.type == AppointmentType.PHLEBOTOMY
        and visit.start_at is not None
        and timedelta() < visit.start_at - timezone.now() < REFUNDED_BEFORE
    )


def _redirect_to_order(request: TenantRequest, order: Order) -> HttpResponse:
    return redirect_browser(request, page_url(request, "labs:order", order_id=order.pk))


def _record_read(request: TenantRequest, order: Order, subject: str) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=order.pk,
        user_uuid=order.user.uuid,
    )
