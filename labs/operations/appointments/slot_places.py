"""Places of slots: hold, claim and free them.

A unique constraint of the database prevents overbooking; no function counts places
before it writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from labs.models import Appointment, SlotPlace
from labs.operations.appointments.booking_keys import BookingKeys, OfferedSlot
from labs.operations.appointments.slots import build_slot_taken_error
from labs.operations.order_status.status import lock_order
from labs.queries.appointments.slots import get_shared_slot_pool
from labs.states.appointments import HOLD_TTL
from portal.lib.database.rows import fetch_rows

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from labs.models import Order

# Takes the lowest free place. A concurrent transaction that takes the same one is
# waited for; then no row is returned, and the statement is repeated.
_TAKE = """
    INSERT INTO labs_slotplace
        (pool, provider, site_code, start_at, place, order_id, reference, expires_at)
    SELECT %(pool)s, %(provider)s::varchar, %(site)s::varchar, %(start)s, free.place,
        %(order)s, %(reference)s::uuid, %(until)s
    FROM generate_series(1, %(places)s) AS free (place)
    WHERE NOT EXISTS (
        SELECT FROM labs_slotplace AS taken
        WHERE taken.pool = %(pool)s AND taken.provider = %(provider)s::varchar
            AND taken.site_code = %(site)s::varchar AND taken.start_at = %(start)s
            AND taken.place = free.place
    )
    ORDER BY free.place
    LIMIT 1
    ON CONFLICT (pool, provider, site_code, start_at, place) DO NOTHING
    RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Hold:
    """A slot held for an order until `expires_at`."""

    order_id: UUID
    slot: OfferedSlot
    expires_at: datetime


def hold_slot_for_order(*, order: Order, booking_key: str) -> Hold:
    """Hold a slot for an order while its booking form is filled in.

    An order has one hold: another slot lets go of the first, the same one is held
    anew. The booking of the slot takes the hold over. Raises: booking_key_invalid;
    site_inactive; slot_taken, with alternatives. Source: workflows D3.
    """
    slot = get_slot_of_booking_key(order=order, booking_key=booking_key)
    with transaction.atomic():
        order = lock_order(order)
        until = timezone.now() + HOLD_TTL
        place = claim_slot_place(order=order, slot=slot, reference=None, until=until)
    if place is None:
        raise build_slot_taken_error(tenant=order.tenant, lost=slot, order_id=order.pk)
    return Hold(order.pk, slot, until)


def release_order_holds(*, order: Order) -> None:
    """Release an order's holds, except those claimed by a booking."""
    _unclaimed_holds(order).delete()


def get_slot_of_booking_key(*, order: Order, booking_key: str) -> OfferedSlot:
    """Return the slot of an unexpired booking key.

    Raises: booking_key_invalid; site_inactive; slot_taken, where the key has expired or
    the time has come. Source: Contract 6.18.
    """
    slot = BookingKeys(order.tenant).read(booking_key)
    now = timezone.now()
    if slot.expires_at <= now or slot.start <= now:
        raise build_slot_taken_error(tenant=order.tenant, lost=slot, order_id=order.pk)
    return slot


def claim_slot_place(
    *, order: Order, slot: OfferedSlot, reference: UUID | None, until: datetime
) -> SlotPlace | None:
    """Claim a place of a slot for a locked order; None where all are taken.

    What the order already holds of the slot is taken over, with the reference its
    provider was asked by, if it was; other holds of the order are let go.
    """
    of_slot = _places_of_slot(order, slot)
    held: SlotPlace | None = (
        of_slot.filter(order=order, appointment=None).order_by("reference").first()
    )
    others = _unclaimed_holds(order)
    if held is not None:
        others = others.exclude(pk=held.pk)
    others.delete()
    if held is not None:
        held.reference = held.reference or reference
        held.expires_at = until
        held.save(update_fields=["reference", "expires_at"])
        return held
    now = timezone.now()
    of_slot.filter(reference=None, expires_at__lte=now).delete()
    while of_slot.count() < slot.site.places:
        taken = fetch_rows(
            _TAKE,
            {
                "pool": get_shared_slot_pool(order.tenant),
                "provider": slot.site.provider,
                "site": slot.site.code,
                "start": slot.start,
                "places": slot.site.places,
                "order": order.pk,
                "reference": reference,
                "until": until,
            },
        )
        if taken:
            return SlotPlace.objects.get(pk=taken[0][0])
    return None


def assign_slot_place_to_appointment(
    *, place_id: int, appointment: Appointment
) -> bool:
    """Assign a claimed place to an appointment; False if it was freed since.

    Other places of the appointment are freed.
    """
    bound = SlotPlace.objects.filter(pk=place_id, appointment=None).update(
        appointment=appointment, expires_at=None
    )
    if bound:
        appointment.places.exclude(pk=place_id).delete()
    return bool(bound)


def release_slot_place(place_id: int) -> None:
    """Release a claimed place that has no appointment."""
    SlotPlace.objects.filter(pk=place_id, appointment=None).delete()


def _unclaimed_holds(order: Order) -> QuerySet[SlotPlace]:
    return SlotPlace.objects.filter(order=order, appointment=None, reference=None)


def _places_of_slot(order: Order, slot: OfferedSlot) -> QuerySet[SlotPlace]:
    return SlotPlace.objects.filter(
        pool=get_shared_slot_pool(order.tenant),
        provider=slot.site.provider,
        site_code=slot.site.code,
        start_at=slot.start,
    )
