"""Book appointments: claim a slot, book at the provider, store the outcome.

The provider is called outside any transaction.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.gateways.booking import (
    AppointmentRequest,
    ProviderNotResponding,
    SlotUnavailable,
)
from labs.models import Appointment
from labs.operations.appointments.slot_places import (
    assign_slot_place_to_appointment,
    claim_slot_place,
    get_slot_of_booking_key,
    release_slot_place,
)
from labs.operations.appointments.slots import build_slot_taken_error
from labs.operations.appointments.status import (
    get_last_known_low_level_status,
    store_appointment,
)
from labs.operations.gateways import get_booking_gateway
from labs.operations.order_status.status import (
    lock_order,
    require_order_is_no_history,
)
from labs.operations.production import require_home_visits
from labs.queries.appointments.appointments import find_active_appointment
from labs.queries.appointments.bookable_sites import (
    accepts_home_visit_requests,
    build_home_visit_site,
)
from labs.states.appointments import (
    ASYNC_TIMEOUT,
    SYNC_TIMEOUT,
    TYPE_OF_METHOD,
    AppointmentStatus,
    AppointmentType,
)
from labs.states.service_centers import VisitConfirmation
from portal.lib.errors import DomainError, Unavailable
from portal.lib.jobs.jobs import enqueue_job

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from labs.models import Order
    from labs.operations.appointments.booking_keys import OfferedSlot
    from labs.queries.appointments.bookable_sites import Site
    from portal.lib.actor import Actor

RELEASE_JOB = "labs.release_visit"
SITE_MAIL_JOB = "labs.mail_site"
# How long a center that is mailed has to answer.
ANSWER_WITHIN = timedelta(hours=48)
# How long a claimed place outlives a process that died while it asked the provider.
CLAIM_TTL = timedelta(minutes=5)
_BOOKABLE = {
    "requisition_created",
    "requisition_bypassed",
    "appointment_pending",
    "appointment_scheduled",
    "appointment_cancelled",
}


@dataclass(frozen=True, slots=True)
class BookingRequest:
    """A slot to book.

    `reference` is the same for every try of one booking; the first that got through
    is found by it. Without `waits_on` a provider that stays silent for `sync_timeout`
    is an error; with it the visit stays pending until `async_timeout`.
    """

    booking_key: str
    notes: str = ""
    waits_on: bool = False
    sync_timeout: timedelta = SYNC_TIMEOUT
    async_timeout: timedelta = ASYNC_TIMEOUT
    reference: UUID | None = None


@dataclass(frozen=True, slots=True)
class SlotClaim:
    """A slot claimed for an order, with the request to its provider."""

    place_id: int
    order: Order
    slot: OfferedSlot
    request: AppointmentRequest


def make_repeatable_booking_reference(*, order: Order, key: str) -> UUID:
    """Return a booking reference that is the same for the same idempotency key."""
    return uuid.uuid5(order.pk, key)


def require_order_bookable(*, order: Order) -> bool:
    """Refuse an order that can't be booked; return whether booking is early.

    Early is before its requisition, where the team may: the visit is then reserved.
    Raises: method_without_visits; requisition_missing; order_not_bookable;
    appointment_exists; order_is_history. Source: Contract 6.18.
    """
    require_order_is_no_history(order)
    if order.method not in TYPE_OF_METHOD:
        raise DomainError(
            "method_without_visits",
            _("Orders with collection method %(method)s have no visits.")
            % {"method": order.method},
        )
    low = get_last_known_low_level_status(order)
    if low == "ordered":
        is_walk_in = TYPE_OF_METHOD[order.method] == AppointmentType.SERVICE_CENTER
        if not (is_walk_in and order.tenant.early_psc_booking_enabled):
            raise DomainError(
                "requisition_missing", _("The requisition has not been created yet.")
            )
    elif low not in _BOOKABLE:
        raise DomainError(
            "order_not_bookable",
            _("No visit can be booked while the order is in status %(status)s.")
            % {"status": low.replace("_", " ")},
        )
    if find_active_appointment(order=order) is not None:
        raise DomainError("appointment_exists", _("This order already has a visit."))
    return low == "ordered"


def require_matching_appointment_type(*, order: Order, kind: AppointmentType) -> None:
    """Refuse an order with another collection place. Raises: kind_of_visit_wrong.

    Source: Contract 6.18.
    """
    if TYPE_OF_METHOD.get(order.method) != kind:
        raise DomainError(
            "kind_of_visit_wrong",
            _("Orders with collection method %(method)s have no visits of this type.")
            % {"method": order.method},
        )


def book_appointment(
    *, order: Order, actor: Actor, request: BookingRequest
) -> Appointment:
    """Book a slot for an order: claim it, book it at the provider, store the outcome.

    Call it outside any transaction. Confirmed, or reserved where the order has no
    requisition yet, or pending where the provider is silent and `waits_on`, or where
    the site itself has yet to confirm it. A try
    whose reference was booked before returns that visit. Raises: those of
    require_order_bookable, find_bookable_slot; slot_taken, with alternatives;
    provider_silent (503): repeat the call to get the outcome. Source: Contract 6.18.
    """
    booked = _find_earlier_booking(order, request.reference)
    if booked is not None:
        return booked
    slot = find_bookable_slot(order=order, booking_key=request.booking_key)
    with transaction.atomic():
        order = lock_order(order)
        is_early = require_order_bookable(order=order)
        waits_for_site = slot.site.confirmed_by != VisitConfirmation.BOOK
        if is_early and waits_for_site:
            raise DomainError(
                "requisition_missing", _("The requisition has not been created yet.")
            )
        claim = claim_slot_for_booking(
            order=order, slot=slot, reference=request.reference, notes=request.notes
        )
        if claim is not None and is_early:
            return _store_booked_appointment(claim, actor, AppointmentStatus.RESERVED)
        if claim is not None and waits_for_site:
            return _store_visit_for_site(claim, actor)
    if claim is None:
        raise build_slot_taken_error(tenant=order.tenant, lost=slot, order_id=order.pk)
    external_id, confirm_by = "", None
    try:
        external_id = book_claimed_slot_at_provider(
            claim=claim, within=request.sync_timeout
        )
    except Unavailable:
        if not request.waits_on:
            raise
        confirm_by = timezone.now() + request.async_timeout
    try:
        with transaction.atomic():
            claim = replace(claim, order=lock_order(order))
            booked = _find_earlier_booking(order, claim.request.reference)
            if booked is not None:
                return booked
            require_order_bookable(order=claim.order)
            return _store_booked_appointment(
                claim,
                actor,
                AppointmentStatus.PENDING
                if confirm_by
                else AppointmentStatus.CONFIRMED,
                external_id=external_id,
                confirm_by=confirm_by,
            )
    except DomainError:
        undo_slot_claim(claim=claim)
        raise


@transaction.atomic
def request_home_appointment(
    *,
    order: Order,
    actor: Actor,
    provider: str,
    address: Mapping[str, Any],
    notes: str = "",
) -> Appointment:
    """Request an at-home appointment; the provider sets its time.

    It is pending, without times, until schedule_requested_appointment. `address` is
    shaped as in contract 6.18. Raises: those of require_order_bookable;
    kind_of_visit_wrong; area_not_served; directory_required. Source: Contract 6.18.
    """
    order = lock_order(order)
    require_order_bookable(order=order)
    require_matching_appointment_type(order=order, kind=AppointmentType.PHLEBOTOMY)
    require_home_visits(tenant=order.tenant, method=order.method)
    site = build_home_visit_site(provider, address)
    if site is None or not accepts_home_visit_requests(
        order.tenant, provider, site.code
    ):
        raise DomainError(
            "area_not_served",
            _("This provider does not accept requests in this area."),
            "provider",
        )
    appointment = Appointment(
        tenant=order.tenant,
        order=order,
        status=AppointmentStatus.PENDING,
        notes=notes,
        **copy_site_fields_for_appointment(site),
    )
    return store_appointment(
        appointment=appointment, order=order, actor=actor, data={"origin": "request"}
    )


def find_bookable_slot(*, order: Order, booking_key: str) -> OfferedSlot:
    """Return the slot of a booking key if this order can use it.

    Raises: booking_key_invalid; site_inactive; slot_taken, where the key has expired or
    the time has come; kind_of_visit_wrong; site_of_another_lab. Source: Contract 6.18.
    """
    slot = get_slot_of_booking_key(order=order, booking_key=booking_key)
    require_matching_appointment_type(order=order, kind=slot.site.kind)
    is_center = slot.site.kind == AppointmentType.SERVICE_CENTER
    if is_center and slot.site.provider != order.lab.slug:
        raise DomainError(
            "site_of_another_lab",
            _("This site belongs to another lab than the order's."),
        )
    return slot


def claim_slot_for_booking(
    *, order: Order, slot: OfferedSlot, reference: UUID | None, notes: str
) -> SlotClaim | None:
    """Claim a slot for a locked order; None where all places are taken.

    A place that an earlier try has claimed comes with the reference of that try.
    """
    place = claim_slot_place(
        order=order,
        slot=slot,
        reference=reference or uuid.uuid4(),
        until=timezone.now() + CLAIM_TTL,
    )
    if place is None:
        return None
    request = AppointmentRequest(
        reference=place.reference or uuid.uuid4(),
        site=slot.site,
        start=slot.start,
        end=slot.end,
        patient_name=order.patient_name,
        notes=notes,
    )
    return SlotClaim(place.pk, order, slot, request)


def book_claimed_slot_at_provider(*, claim: SlotClaim, within: timedelta) -> str:
    """Book a claimed slot at its provider and return the provider's id.

    Call it outside any transaction. Raises: slot_taken, its place freed;
    provider_silent (503), its place kept until the answer is known.
    """
    tenant = claim.order.tenant
    try:
        return get_booking_gateway(tenant).confirm_booking(claim.request, within=within)
    except SlotUnavailable:
        release_slot_place(claim.place_id)
        raise build_slot_taken_error(
            tenant=tenant, lost=claim.slot, order_id=claim.order.pk
        ) from None
    except ProviderNotResponding:
        raise Unavailable(
            "provider_silent",
            _("The provider did not respond. Try again: your time is held for now."),
        ) from None


def undo_slot_claim(*, claim: SlotClaim) -> None:
    """Undo a failed claim: free its slot and cancel it at the provider."""
    release_slot_place(claim.place_id)
    enqueue_booking_cancellation(order=claim.order, reference=claim.request.reference)


def enqueue_booking_cancellation(*, order: Order, reference: UUID) -> None:
    """Enqueue cancelling a booking at its provider."""
    enqueue_job(
        RELEASE_JOB,
        tenant=order.tenant,
        lock=f"visit-{reference}",
        reference=str(reference),
    )


def copy_site_fields_for_appointment(site: Site) -> dict[str, Any]:
    """Return the fields that an appointment copies from its site."""
    return {
        "type": site.kind,
        "provider": site.provider,
        "site_code": site.code,
        "site_name": site.name,
        "address": dict(site.address),
        "latitude": site.latitude,
        "longitude": site.longitude,
        "time_zone": site.time_zone,
    }


def copy_slot_fields_for_appointment(slot: OfferedSlot) -> dict[str, Any]:
    """Return the fields that an appointment copies from its slot."""
    return {
        **copy_site_fields_for_appointment(slot.site),
        "start_at": slot.start,
        "end_at": slot.end,
    }


def _store_booked_appointment(
    claim: SlotClaim,
    actor: Actor,
    status: AppointmentStatus,
    *,
    external_id: str = "",
    confirm_by: datetime | None = None,
    site_asked_at: datetime | None = None,
) -> Appointment:
    order = claim.order
    appointment = Appointment(
        tenant=order.tenant,
        order=order,
        status=status,
        reference=claim.request.reference,
        external_id=external_id,
        notes=claim.request.notes,
        confirm_by=confirm_by,
        confirmed_by=claim.slot.site.confirmed_by,
        site_asked_at=site_asked_at,
        **copy_slot_fields_for_appointment(claim.slot),
    )
    store_appointment(
        appointment=appointment, order=order, actor=actor, data={"origin": "booking"}
    )
    if not assign_slot_place_to_appointment(
        place_id=claim.place_id, appointment=appointment
    ):
        raise build_slot_taken_error(
            tenant=order.tenant, lost=claim.slot, order_id=order.pk
        )
    return appointment


def _store_visit_for_site(claim: SlotClaim, actor: Actor) -> Appointment:
    """Store a visit that waits for its site, and ask the site where it is mailed.

    It is given up after ANSWER_WITHIN, or when it starts: nobody expects the patient.
    """
    now, start = timezone.now(), claim.slot.start
    is_mailed = claim.slot.site.confirmed_by == VisitConfirmation.MAIL
    visit = _store_booked_appointment(
        claim,
        actor,
        AppointmentStatus.PENDING,
        confirm_by=min(now + ANSWER_WITHIN, start) if is_mailed else start,
        site_asked_at=now if is_mailed else None,
    )
    if is_mailed:
        enqueue_job(
            SITE_MAIL_JOB,
            tenant=visit.tenant,
            lock=f"visit-mail-{visit.pk}",
            appointment_id=str(visit.pk),
        )
    return visit


def _find_earlier_booking(order: Order, reference: UUID | None) -> Appointment | None:
    if reference is None:
        return None
    found = find_active_appointment(order=order)
    return found if found is not None and found.reference == reference else None
