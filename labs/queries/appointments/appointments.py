"""Reads of appointments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import Appointment
from labs.states.appointments import ACTIVE, AppointmentStatus
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models import Order


def appointments_with_details(*, tenant: Tenant) -> QuerySet[Appointment]:
    """Return appointments of live orders with all payload data, by two queries."""
    rows: QuerySet[Appointment] = Appointment.objects.for_tenant(tenant).filter(
        order__user__deleted_at=None
    )
    return rows.select_related("order__user").prefetch_related("events")


def get_current_appointment(*, order: Order, kind: str | None = None) -> Appointment:
    """Return the active appointment, else the latest completed one.

    Raises: appointment_not_found (404), also where its visit is of another kind.
    Source: Contract 6.18.
    """
    found = find_uncancelled_appointment(order=order)
    if found is None or (kind is not None and found.type != kind):
        raise NotFound("appointment_not_found", _("This order has no visit."))
    return found


def find_uncancelled_appointment(*, order: Order) -> Appointment | None:
    """Return the order's uncancelled appointment; None without one."""
    found = (
        appointments_with_details(tenant=order.tenant)
        .filter(order=order)
        .exclude(status=AppointmentStatus.CANCELLED)
        .order_by("-created_at")
        .first()
    )
    if found is not None:
        found.tenant = order.tenant
    return found


def list_appointments_of_order(*, order: Order) -> list[Appointment]:
    """List an order's appointments with events: active first, then latest.

    Two queries.
    """
    found = appointments_with_details(tenant=order.tenant).filter(order=order)
    return sorted(found.order_by("-created_at"), key=lambda one: not one.is_active)


def find_active_appointment(*, order: Order) -> Appointment | None:
    """Return an order's active appointment, by one query; None without one."""
    found: Appointment | None = (
        Appointment.objects.for_tenant(order.tenant)
        .filter(order=order, status__in=ACTIVE)
        .first()
    )
    return found
