"""The sandbox's booking gateway, whose behavior notes control.

A keyword in `appointment_notes` selects the behavior (docs/guides/go-live.md). A slow
provider is simulated without waiting, so that no worker is blocked.
"""

from __future__ import annotations

from datetime import time, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from labs.gateways.booking import (
    BookingState,
    FoundBooking,
    ProviderNotResponding,
    SlotUnavailable,
)
from labs.gateways.booking_directory import (
    list_slot_start_times,
    make_booking_confirmation_code,
    next_full_hour,
)
from labs.models import SandboxVisit
from labs.states.service_centers import OpenSpan
from portal.lib.periods import find_time_zone_by_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime
    from uuid import UUID

    from labs.gateways.booking import AppointmentRequest
    from labs.queries.appointments.bookable_sites import Site

# How it behaves, by the word in the notes.
SLOW = "sandbox:slow"  # answers yes, but only after SLOWNESS
REFUSE = "sandbox:refuse"  # the same, and says no
CUT = "sandbox:cut"  # says yes, and the answer is lost on its way
DOWN = "sandbox:down"  # can't be reached
GONE = "sandbox:gone"  # has given the slot to somebody else
WORDS = (SLOW, REFUSE, CUT, DOWN, GONE)
SLOWNESS = timedelta(seconds=30)

# Contract 6.18: today until 17:00 where it is before 16:00, later days 07:00 to 12:00.
_TODAY = {"opens": time.min, "closes": time(17)}
_TODAY_LAST_CALL = 16
_LATER = {"opens": time(7), "closes": time(12)}


class SandboxBooking:
    """A BookingGateway without a provider."""

    def list_slot_starts(
        self, site: Site, day: date, now: datetime
    ) -> Sequence[datetime]:
        """List the sandbox's slots within the site's hours. Source: Contract 6.18."""
        here = now.astimezone(find_time_zone_by_name(site.time_zone))
        spans = site.hours[day.weekday()]
        if day != here.date():
            clipped = _clip_spans(spans, **_LATER)
            return list_slot_start_times(clipped, site.time_zone, day)
        if here.hour >= _TODAY_LAST_CALL:
            return ()
        soonest = next_full_hour(now, site.time_zone)
        clipped = _clip_spans(spans, **_TODAY)
        starts = list_slot_start_times(clipped, site.time_zone, day)
        return [start for start in starts if start >= soonest]

    def confirm_booking(self, request: AppointmentRequest, *, within: timedelta) -> str:
        """Confirm, unless the notes request otherwise."""
        if DOWN in request.notes:
            raise ProviderNotResponding
        if GONE in request.notes:
            raise SlotUnavailable
        is_slow = SLOW in request.notes or REFUSE in request.notes
        known, is_new = SandboxVisit.objects.get_or_create(
            reference=request.reference,
            defaults={
                "external_id": make_booking_confirmation_code(request.reference),
                "is_refused": REFUSE in request.notes,
                "answers_at": timezone.now() + (SLOWNESS if is_slow else timedelta()),
            },
        )
        if known.answers_at - timezone.now() > within:
            raise ProviderNotResponding
        if known.is_refused or known.cancelled_at is not None:
            raise SlotUnavailable
        if is_new and CUT in request.notes:
            raise ProviderNotResponding
        return known.external_id

    def find_booking(self, reference: UUID) -> FoundBooking:
        """Return the stored state of a booking."""
        known = SandboxVisit.objects.filter(pk=reference).first()
        if known is None:
            return FoundBooking(BookingState.UNKNOWN)
        if known.cancelled_at is not None:
            return FoundBooking(BookingState.REFUSED)
        if known.answers_at > timezone.now():
            return FoundBooking(BookingState.WAITING)
        if known.is_refused:
            return FoundBooking(BookingState.REFUSED)
        return FoundBooking(BookingState.CONFIRMED, known.external_id)

    def cancel_booking(self, reference: UUID) -> None:
        """Store that the booking was cancelled."""
        SandboxVisit.objects.filter(pk=reference, cancelled_at=None).update(
            cancelled_at=timezone.now()
        )


def _clip_spans(
    spans: tuple[OpenSpan, ...], *, opens: time, closes: time
) -> tuple[OpenSpan, ...]:
    clipped = (
        OpenSpan(max(span.opens, opens), min(span.closes, closes)) for span in spans
    )
    return tuple(span for span in clipped if span.opens < span.closes)
