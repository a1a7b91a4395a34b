"""Documents of an appointment: the patient's sheet and a calendar entry."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from django.utils import timezone, translation
from django.utils.dates import WEEKDAYS as DAY_NAMES
from django.utils.translation import gettext as _

from labs.documents.appointment_sheet import AppointmentDetails, render_appointment_page
from labs.documents.calendar_entry import write_icalendar_entry
from labs.documents.guides import get_collection_guide
from labs.documents.requisition import render_requisition
from labs.documents.sheet import Document, combine_documents_into_pdf
from labs.operations.documents.order_documents import collect_requisition_content
from labs.queries.appointments.service_centers import find_service_center_by_code
from labs.queries.orders.history import had_requisition_created
from labs.states.appointments import AppointmentProvider, AppointmentStatus
from labs.states.service_centers import deserialize_opening_hours
from portal.lib.errors import NotFound
from portal.lib.periods import find_time_zone_by_name
from portal.lib.web.links import get_public_host
from users.operations.users.languages import find_mail_language

if TYPE_CHECKING:
    from labs.models import Appointment, Order
    from labs.states.service_centers import Hours

_UNSURE = {AppointmentStatus.PENDING, AppointmentStatus.RESERVED}


def render_appointment_sheet(*, order: Order, appointment: Appointment) -> Document:
    """Render the patient's sheet in their language, then the requisition in English.

    Without the requisition where it is not made. Raises: visit_without_time (404).
    Source: Issue "Service centers and appointments".
    """
    with translation.override(find_mail_language(order.user)):
        details = _appointment_details(order, appointment)
        sheets = [render_appointment_page(details, patient=_patient_full_name(order))]
        title = _("Your visit")
    if had_requisition_created(order):
        sheets.append(render_requisition(collect_requisition_content(order)))
    name = f"visit-{str(order.pk)[:8]}.pdf"
    return Document(name, combine_documents_into_pdf(sheets, title=title))


def render_calendar_entry(*, order: Order, appointment: Appointment) -> Document:
    """Render a calendar entry in the patient's language.

    Raises: visit_without_time (404). Source: RFC 5545.
    """
    with translation.override(find_mail_language(order.user)):
        body = write_icalendar_entry(
            _appointment_details(order, appointment),
            host=get_public_host(),
            at=timezone.now(),
        )
    return Document(f"visit-{str(order.pk)[:8]}.ics", body)


def is_fasting_required_for_order(order: Order) -> bool:
    """Return whether any test of the order requires fasting."""
    return order.placed.needs_fasting


def format_opening_hours(hours: Hours) -> list[tuple[str, str]]:
    """Return opening hours as text pairs; equal consecutive days are grouped.

    Days have the names of the current language.
    """
    named = [
        (
            str(DAY_NAMES[number]),
            ", ".join(
                _write_span(f"{span.opens:%H:%M}", f"{span.closes:%H:%M}")
                for span in spans
            ),
        )
        for number, spans in enumerate(hours)
    ]
    lines = []
    for times, days in groupby(named, key=lambda pair: pair[1]):
        names = [day for day, _times in days]
        span = names[0] if len(names) == 1 else _write_span(names[0], names[-1])
        if times:
            lines.append((span, times))
    return lines


def _write_span(first: str, last: str) -> str:
    return _("%(first)s to %(last)s") % {"first": first, "last": last}


def _appointment_details(order: Order, appointment: Appointment) -> AppointmentDetails:
    if appointment.start_at is None or appointment.end_at is None:
        raise NotFound("visit_without_time", _("This visit has no time yet."))
    zone = find_time_zone_by_name(appointment.time_zone)
    center = find_service_center_by_code(
        tenant=order.tenant,
        lab_slug=appointment.provider,
        site_code=appointment.site_code,
    )
    provider = AppointmentProvider.known(appointment.provider)
    address = appointment.address
    fasting = is_fasting_required_for_order(order)
    lines = (
        address.get("first_line"),
        address.get("second_line"),
        address.get("unit"),
        f"{address.get('city', '')}, {address.get('state', '')}"
        f" {address.get('zip_code', '')}",
    )
    return AppointmentDetails(
        appointment_id=str(appointment.pk),
        order_id=str(order.pk),
        starts_at=appointment.start_at.astimezone(zone),
        ends_at=appointment.end_at.astimezone(zone),
        place=appointment.site_name
        or (str(provider.label) if provider else appointment.provider),
        address=tuple(str(line) for line in lines if line),
        phone=center.phone_number if center else "",
        hours=format_opening_hours(deserialize_opening_hours(center.hours))
        if center
        else (),
        latitude=appointment.latitude,
        longitude=appointment.longitude,
        lab=order.lab.name,
        team=order.tenant.team.name,
        external_id=appointment.external_id,
        guide=get_collection_guide(
            method=order.method,
            sample_type=order.lab_test.sample_type,
            fasting=fasting,
        ),
        is_fasting=fasting,
        is_confirmed=appointment.status not in _UNSURE,
        is_cancelled=appointment.status == AppointmentStatus.CANCELLED,
        is_sandbox=order.tenant.is_sandbox,
        # A step more or less is no harm: a later entry only has to count higher.
        changes=max(0, len(appointment.events.all()) - 1),
    )


def _patient_full_name(order: Order) -> str:
    details = order.patient_details or {}
    return f"{details.get('first_name', '')} {details.get('last_name', '')}".strip()
