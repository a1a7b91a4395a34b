"""Visits that a service center confirms: by a mailed link, or as staff enters it.

Mails and the page name no patient and no test.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from labs.documents.site_links import build_site_link, verify_site_link_token
from labs.models import Appointment
from labs.operations.appointments.changes import cancel_appointment_of_locked_order
from labs.operations.appointments.status import change_appointment_status
from labs.operations.order_status.status import lock_order
from labs.queries.appointments.appointments import (
    appointments_with_details,
    find_active_appointment,
)
from labs.queries.appointments.service_centers import find_service_center_by_code
from labs.states.appointments import NOTES_MAX_LENGTH, AppointmentStatus
from labs.states.service_centers import VisitConfirmation
from portal.lib.actor import Actor
from portal.lib.errors import DomainError, NotFound
from portal.lib.periods import find_time_zone_by_name
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from labs.models import Order

_log = logging.getLogger(__name__)


class MailNotAccepted(Exception):
    """The mail server did not accept a mail; the job runs again."""


def mail_visit_to_site(*, tenant: Tenant, appointment_id: UUID) -> None:
    """Mail a center the link by which it confirms or declines a visit.

    Nothing is sent once the visit is answered, or the center has no address any more.
    Raises: MailNotAccepted (the job runs again).
    """
    found = appointments_with_details(tenant=tenant).filter(pk=appointment_id).first()
    if found is None or not is_waiting_for_site(found):
        return
    center = find_service_center_by_code(
        tenant=tenant, lab_slug=found.provider, site_code=found.site_code
    )
    if center is None or not center.email:
        _log.warning("visit %s can't be mailed: its site has no address", found.pk)
        return
    context = {
        "site": found.site_name,
        "starts_at": format_visit_time(found),
        "number": get_visit_number(found),
        "team": tenant.team.name,
        "is_sandbox": tenant.is_sandbox,
        "confirm_by": format_deadline(found),
        "link": build_site_link(found),
    }
    subject = render_to_string("labs/email/site_visit_subject.txt", context)
    mail = EmailMessage(
        subject=" ".join(subject.split()),
        body=render_to_string("labs/email/site_visit_message.txt", context),
        to=[center.email],
    )
    try:
        mail.send()
    except (OSError, SMTPException):
        _log.warning("mail of visit %s was not taken", found.pk)
        raise MailNotAccepted from None


def read_site_link(token: str) -> Appointment:
    """Return the visit of a link, to show; nothing changes.

    Raises: site_link_unknown (404), of no link of ours and of one that a later one
    ended; site_link_ended, once the visit is answered or its time has passed.
    """
    with _visit_of_link(token) as visit:
        return visit


def confirm_visit_by_link(token: str) -> Appointment:
    """Confirm a visit as its center; a second answer is refused.

    Raises: as read_site_link. Source: Ours: a visit is confirmed by whoever expects the
    patient.
    """
    with _visit_of_link(token) as visit, transaction.atomic():
        order = lock_order(visit.order)
        return _confirm(
            order, _require_waiting(order, visit), _actor_of_site(visit), "site"
        )


def decline_visit_by_link(token: str) -> Appointment:
    """Decline a visit as its center: it is cancelled and its place is free again.

    Raises: as read_site_link.
    """
    with _visit_of_link(token) as visit, transaction.atomic():
        order = lock_order(visit.order)
        return cancel_appointment_of_locked_order(
            appointment=_require_waiting(order, visit),
            order=order,
            actor=_actor_of_site(visit),
            reason_id="site_declined",
        )


@transaction.atomic
def confirm_visit_by_staff(
    *, order: Order, actor: Actor, confirmed_with: str, external_id: str = ""
) -> Appointment:
    """Record that a center confirmed a visit by another way, and who there did.

    Raises: appointment_not_found (404); visit_not_waiting; confirmed_with_missing.
    """
    order = lock_order(order)
    found = find_active_appointment(order=order)
    if found is None:
        raise NotFound("appointment_not_found", _("This order has no visit."))
    if not is_waiting_for_site(found):
        raise DomainError(
            "visit_not_waiting", _("This visit does not wait for its site.")
        )
    if not confirmed_with.strip():
        raise DomainError(
            "confirmed_with_missing",
            _("Enter who confirmed the visit."),
            "confirmed_with",
        )
    return _confirm(
        order,
        found,
        actor,
        "staff",
        confirmed_with=confirmed_with.strip()[:NOTES_MAX_LENGTH],
        external_id=external_id.strip(),
    )


def is_waiting_for_site(appointment: Appointment) -> bool:
    """Return whether a visit waits for its service center to confirm it."""
    return (
        appointment.status == AppointmentStatus.PENDING
        and appointment.confirmed_by != VisitConfirmation.BOOK
        and appointment.start_at is not None
    )


def get_visit_number(appointment: Appointment) -> str:
    """Return the number that stands for a visit in mails: eight characters."""
    return appointment.reference.hex[:8].upper()


def format_visit_time(appointment: Appointment) -> str:
    """Format a visit's start and end on its site's clock."""
    zone = find_time_zone_by_name(appointment.time_zone)
    assert appointment.start_at is not None  # noqa: S101 - slots have times
    assert appointment.end_at is not None  # noqa: S101 - as above
    start = appointment.start_at.astimezone(zone)
    end = appointment.end_at.astimezone(zone)
    return f"{start:%A}, {start.day} {start:%B %Y}, {start:%H:%M}–{end:%H:%M %Z}"


def format_deadline(appointment: Appointment) -> str:
    """Format until when a site may answer, on its clock."""
    zone = find_time_zone_by_name(appointment.time_zone)
    assert appointment.confirm_by is not None  # noqa: S101 - waits for its site
    until = appointment.confirm_by.astimezone(zone)
    return f"{until:%A}, {until.day} {until:%B %Y}, {until:%H:%M %Z}"


@contextmanager
def _visit_of_link(token: str) -> Iterator[Appointment]:
    """Act for the tenant of a link, with its visit that still waits."""
    claim = verify_site_link_token(token)
    tenants = Tenant.objects.select_related("team").filter(team__deleted_at=None)
    tenant = tenants.filter(pk=claim.tenant_id).first() if claim else None
    if claim is None or tenant is None:
        raise _unknown()
    with acting_for(tenant):
        visit = (
            appointments_with_details(tenant=tenant)
            .filter(
                pk=claim.appointment_id,
                site_asked_at=claim.asked_at,
                order__user__deleted_at=None,
            )
            .first()
        )
        if visit is None:
            raise _unknown()
        visit.tenant = visit.order.tenant = tenant
        _require_unanswered(visit)
        yield visit


def _require_waiting(order: Order, visit: Appointment) -> Appointment:
    """Return the visit of a locked order as it is now. Raises: site_link_ended."""
    current = find_active_appointment(order=order)
    if current is None or current.pk != visit.pk:
        raise _ended()
    _require_unanswered(current)
    return current


def _require_unanswered(visit: Appointment) -> None:
    late = visit.confirm_by is None or timezone.now() >= visit.confirm_by
    if late or not is_waiting_for_site(visit):
        raise _ended()


def _confirm(
    order: Order,
    visit: Appointment,
    actor: Actor,
    by: str,
    *,
    confirmed_with: str = "",
    external_id: str = "",
) -> Appointment:
    data = {"origin": "booking", "confirmed_by": by}
    if confirmed_with:
        data["confirmed_with"] = confirmed_with
    return change_appointment_status(
        appointment=visit,
        order=order,
        actor=actor,
        to=AppointmentStatus.CONFIRMED,
        verb="confirm_appointment",
        data=data,
        changes={
            "external_id": external_id or get_visit_number(visit),
            "confirm_by": None,
        },
    )


def _actor_of_site(visit: Appointment) -> Actor:
    system = Actor.system("labs.site_confirmation")
    return Actor(system.kind, system.key, visit.site_name[:100])


def _unknown() -> NotFound:
    return NotFound("site_link_unknown", _("No visit belongs to this link."))


def _ended() -> DomainError:
    return DomainError("site_link_ended", _("This visit was answered or has expired."))
