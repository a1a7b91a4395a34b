"""What a provider of visits is asked for, whoever answers.

Calls that book may take seconds and fail: never inside a transaction. Must not be here:
what follows from an answer (operations).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime, timedelta
    from uuid import UUID

    from labs.queries.bookable_sites import Site


class SlotUnavailable(Exception):
    """The provider has given the slot to somebody else."""


class ProviderNotResponding(Exception):
    """The provider did not answer in time; it may have booked all the same."""


@dataclass(frozen=True, slots=True)
class AppointmentRequest:
    """A visit to be booked; `reference` is the same however often it is asked."""

    reference: UUID
    site: Site
    start: datetime
    end: datetime
    patient_name: str
    notes: str = ""


class BookingState(Enum):
    """What a provider knows of a reference."""

    UNKNOWN = "unknown"
    WAITING = "waiting"
    CONFIRMED = "confirmed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FoundBooking:
    """What became of a booking; `external_id` where it is confirmed."""

    answer: BookingState
    external_id: str = ""


class BookingGateway(Protocol):
    """A provider of visits, or several that are booked alike."""

    def list_slot_starts(
        self, site: Site, day: date, now: datetime
    ) -> Sequence[datetime]:
        """Starts (UTC) of a site's slots on a day of its own clock, taken or not.

        Makes no call: it is asked for hundreds of days at once.
        """
        ...

    def confirm_booking(self, request: AppointmentRequest, *, within: timedelta) -> str:
        """Book; returns the provider's id. The same reference is booked once.

        Raises: SlotGone; ProviderSilent, at the latest after `within`.
        """
        ...

    def find_booking(self, reference: UUID) -> FoundBooking:
        """What became of a booking. Raises: ProviderSilent."""
        ...

    def cancel_booking(self, reference: UUID) -> None:
        """Give a booking back; one that is unknown or given back does no harm.

        Raises: ProviderSilent.
        """
        ...
