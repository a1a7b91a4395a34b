"""The protocol of a booking gateway.

Booking calls can take seconds and fail: make them outside any transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime, timedelta
    from uuid import UUID

    from labs.queries.appointments.bookable_sites import Site


class SlotUnavailable(Exception):
    """The provider gave the slot to another patient."""


class ProviderNotResponding(Exception):
    """The provider did not answer in time; it may have booked the slot anyway."""


@dataclass(frozen=True, slots=True)
class AppointmentRequest:
    """An appointment to book; `reference` is the same for every attempt."""

    reference: UUID
    site: Site
    start: datetime
    end: datetime
    patient_name: str
    notes: str = ""


class BookingState(Enum):
    """The state of a reference at the provider."""

    UNKNOWN = "unknown"
    WAITING = "waiting"
    CONFIRMED = "confirmed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FoundBooking:
    """A booking found at the provider; `external_id` if it is confirmed."""

    answer: BookingState
    external_id: str = ""


class BookingGateway(Protocol):
    """A gateway to one or several providers that are booked alike."""

    def list_slot_starts(
        self, site: Site, day: date, now: datetime
    ) -> Sequence[datetime]:
        """List a site's slot starts (UTC) on a local day, taken or not.

        Makes no call: it is asked for hundreds of days at once.
        """
        ...

    def confirm_booking(self, request: AppointmentRequest, *, within: timedelta) -> str:
        """Book and return the provider's id; a reference is booked once.

        Raises: SlotGone; ProviderSilent, at the latest after `within`.
        """
        ...

    def find_booking(self, reference: UUID) -> FoundBooking:
        """Return the state of a booking. Raises: ProviderNotResponding."""
        ...

    def cancel_booking(self, reference: UUID) -> None:
        """Cancel a booking; unknown and cancelled ones do no harm.

        Raises: ProviderSilent.
        """
        ...
