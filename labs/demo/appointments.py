"""Demo appointments: one of each kind that staff work through."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from labs.models import Appointment, AppointmentEvent, Order, OrderEvent, SlotPlace
from labs.operations.appointments.booking import (
    BookingRequest,
    book_appointment,
    request_home_appointment,
)
from labs.operations.appointments.changes import cancel_appointment
from labs.operations.appointments.slots import list_center_slots
from labs.operations.gateways import get_booking_gateway
from labs.states.appointments import SLOT_LENGTH, AppointmentProvider
from portal.lib.errors import DomainError
from portal.lib.periods import find_time_zone_by_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date, datetime

    from accounts.declarations.demo_data import DemoScene
    from labs.operations.appointments.slots import FreeSlot
    from labs.queries.appointments.bookable_sites import Site


@dataclass(frozen=True, slots=True)
class _DemoAppointment:
    """An appointment for the order of a panel, by its reference slug.

    `ahead` are the days until it, -1 for one that has passed; a provider that
    `comes` to a home is asked for one instead, and has not answered. `cancelled` is
    why it was cancelled, by the id of the reason.
    """

    panel: str
    ahead: int = 0
    notes: str = ""
    comes: AppointmentProvider | None = None
    cancelled: str = ""


_DAY = timedelta(days=1)
# How long after its order's last step a visit is booked, and after that cancelled.
_PAUSE = timedelta(hours=3)
# Between two steps of one answer, so that they keep their order.
_MOMENT = timedelta(seconds=1)
_PASSED = -1
_NEAR_MILES = 10
# By a person's place in the scene.
_VISITS: dict[int, _DemoAppointment] = {
    0: _DemoAppointment("quest-lipid-panel"),
    1: _DemoAppointment("quest-lipid-panel", 1, "Fasts from the evening before."),
    2: _DemoAppointment("quest-lipid-panel", 2, cancelled="schedule_conflict"),
    3: _DemoAppointment(
        "quest-essential-health-at-home", comes=AppointmentProvider.PHLEBFINDERS
    ),
    4: _DemoAppointment("quest-lipid-panel", _PASSED),
    5: _DemoAppointment(
        "quest-essential-health-at-home",
        notes="Ring twice; the bell is quiet.",
        comes=AppointmentProvider.PHLEBFINDERS,
    ),
    11: _DemoAppointment("quest-lipid-panel", 8),
    15: _DemoAppointment(
        "quest-essential-health-at-home",
        comes=AppointmentProvider.PHLEBFINDERS,
        cancelled="schedule_conflict",
    ),
}


def load_demo_appointments(scene: DemoScene) -> None:
    """Create demo appointments: upcoming, past, cancelled and unconfirmed.

    Whose order has had a visit gets none. Where centers are closed on the day, the next
    open one is taken; one that lies in the past is dated back once it is booked, as
    are all steps. Source: Ours (a newcomer sees every screen with something on it).
    """
    orders = {
        (order.user.uuid, order.lab_test.reference_slug): order
        for order in Order.objects.for_tenant(scene.tenant)
        .filter(
            user__uuid__in=[person.user_uuid for person in scene.people],
            status__endswith=".requisition_created",
            appointments=None,
        )
        .select_related("user", "lab", "lab_test", "tenant__team")
    }
    for number, person in enumerate(scene.people):
        appointment = _VISITS.get(number)
        if appointment is None:
            continue
        order = orders.get((person.user_uuid, appointment.panel))
        if order is None:
            continue
        try:
            _create_demo_appointment(scene, order, appointment)
        except DomainError:
            # The team's own orders have taken the place, or the order went on.
            continue


def _create_demo_appointment(
    scene: DemoScene, order: Order, appointment: _DemoAppointment
) -> None:
    steps = list(OrderEvent.objects.for_tenant(scene.tenant).filter(order=order))
    since = max(step.created_at for step in steps)
    home = order.patient_address or {}
    slot = None
    if appointment.comes:
        booked = request_home_appointment(
            order=order,
            actor=scene.actor,
            provider=appointment.comes,
            address={**home, "zip_code": home.get("zip", "")},
            notes=appointment.notes,
        )
    else:
        slot = _find_first_free_slot(order, str(home.get("zip", "")), appointment.ahead)
        if slot is None:
            return
        booked = book_appointment(
            order=order,
            actor=scene.actor,
            request=BookingRequest(
                booking_key=slot.booking_key, notes=appointment.notes
            ),
        )
    if appointment.cancelled:
        booked = cancel_appointment(
            order=order, actor=scene.actor, reason_id=appointment.cancelled
        )
    start = _past_start_of(order, slot, appointment.ahead) if slot else None
    _backdate_appointment(booked, since=since, known=steps, start=start)


def _find_first_free_slot(order: Order, zip_code: str, ahead: int) -> FreeSlot | None:
    """Return the first free slot near a home from a day on, nearest center first.

    For today a center that is or was open today, if any near is.
    """
    found = list_center_slots(
        tenant=order.tenant,
        lab_slug=order.lab.slug,
        zip_code=zip_code,
        miles=_NEAR_MILES,
        order_id=order.pk,
    ).days
    days = [
        (day, site)
        for day in found
        if (site := day.site) and day.day >= _today_at_site(site) + _DAY * max(ahead, 0)
    ]
    if ahead == 0:
        of_today = [
            (day, site) for day, site in days if _slots_of_past_day(order, site, 0)
        ]
        days = of_today or days
    return next((slot for day, _ in days for slot in day.slots), None)


def _past_start_of(order: Order, slot: FreeSlot, ahead: int) -> datetime | None:
    """Return when a past appointment started; None for a future one.

    That is the last slot of the latest open day before today, or of today where it is
    to be today and all of today's are over.
    """
    now, site = timezone.now(), slot.site
    if ahead > 0:
        return None
    if ahead == 0:
        is_today = slot.start.astimezone(find_time_zone_by_name(site.time_zone)).date()
        if is_today == _today_at_site(site):
            return None
    for ago in (0,) if ahead == 0 else range(1, 8):
        over = [
            start
            for start in _slots_of_past_day(order, site, ago)
            if start + SLOT_LENGTH < now
        ]
        if over:
            return over[-1]
    return None


def _today_at_site(site: Site) -> date:
    return timezone.now().astimezone(find_time_zone_by_name(site.time_zone)).date()


def _slots_of_past_day(order: Order, site: Site, ago: int) -> Sequence[datetime]:
    """List all slots of a past day as offered the day before."""
    gateway = get_booking_gateway(order.tenant)
    day_before = timezone.now() - (ago + 1) * _DAY
    return gateway.list_slot_starts(site, _today_at_site(site) - ago * _DAY, day_before)


@transaction.atomic
def _backdate_appointment(
    appointment: Appointment,
    *,
    since: datetime,
    known: Iterable[OrderEvent],
    start: datetime | None,
) -> None:
    """Backdate an appointment's steps and, where it is over, its time.

    `known` are the steps that its order had before; operations know only the present.
    """
    tenant, now = appointment.tenant, timezone.now()
    booked, ended = (min(since + _PAUSE * steps, now) for steps in (1, 2))
    taken = list(
        AppointmentEvent.objects.for_tenant(tenant)
        .filter(appointment=appointment)
        .order_by("pk")
    )
    for event, at in zip(taken, (booked, ended), strict=False):
        event.created_at = at
    AppointmentEvent.objects.for_tenant(tenant).bulk_update(taken, ["created_at"])
    steps = list(
        OrderEvent.objects.for_tenant(tenant)
        .filter(order=appointment.order_id)
        .exclude(pk__in=[step.pk for step in known])
        .order_by("pk")
    )
    for number, step in enumerate(steps):
        # Pending and scheduled are one answer of the provider.
        step.created_at = (booked if number < 2 else ended) + number * _MOMENT
    OrderEvent.objects.for_tenant(tenant).bulk_update(steps, ["created_at"])
    last = taken[-1].created_at
    Order.objects.for_tenant(tenant).filter(pk=appointment.order_id).update(
        updated_at=last
    )
    when = {"start_at": start, "end_at": start + SLOT_LENGTH} if start else {}
    Appointment.objects.for_tenant(tenant).filter(pk=appointment.pk).update(
        created_at=booked, updated_at=last, **when
    )
    if start:
        # The past can't be booked, and the team may have taken the place.
        SlotPlace.objects.filter(appointment=appointment).delete()
