"""Request bodies and queries about appointments (contract 6.18)."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from labs.api.v3.service_centers.inputs import Radius
from labs.operations.appointments.booking import BookingRequest
from labs.queries.appointments.bookable_sites import SITE_CODES_MAX
from labs.states.appointments import (
    ASYNC_TIMEOUT,
    NOTES_MAX_LENGTH,
    SYNC_TIMEOUT,
    AppointmentProvider,
)
from labs.states.service_centers import BOOKABLE_LABS
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import (
    Bool,
    Inputs,
    Int,
    OpenEnum,
    QueryBool,
    QueryText,
    Str,
    build_pattern_validator,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

_zip_code = build_pattern_validator(
    r"\d{5}(?:-\d{4})?", "a ZIP code such as 60618 or 60618-1234"
)
_MILLISECOND = timedelta(milliseconds=1)
# A key of a home holds its address.
_KEY_MAX = 20_000


class HomeAvailabilityQuery(Inputs):
    """Filters of at-home slots."""

    start_date = QueryText(required=False)


class CenterAvailabilityQuery(HomeAvailabilityQuery):
    """Filters of service center slots.

    `allow_stale` has no effect: availability is always current.
    """

    lab = OpenEnum(AppointmentProvider)
    site_codes = serializers.ListField(
        child=QueryText(max_length=20), required=False, max_length=SITE_CODES_MAX
    )
    zip_code = Str(required=False, validators=[_zip_code])
    radius = Radius()
    allow_stale = QueryBool(required=False)


class UsAddressInputs(Inputs):
    """An address in the United States."""

    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False)
    city = Str(max_length=100)
    state = Str(
        validators=[build_pattern_validator("[A-Za-z]{2}", "a 2-letter state code")]
    )
    zip_code = Str(validators=[_zip_code])
    unit = Str(max_length=50, required=False)
    access_notes = Str(max_length=1000, required=False)


class RescheduleInputs(Inputs):
    """A new slot for an appointment."""

    whole = True

    booking_key = Str(max_length=_KEY_MAX)
    appointment_notes = Str(required=False, max_length=NOTES_MAX_LENGTH)


class BookingInputs(RescheduleInputs):
    """A booking of a slot; timeouts in milliseconds."""

    async_confirmation = Bool(default=False)
    sync_confirmation_timeout_millisecond = Int(
        min_value=1_000, max_value=10_000, default=SYNC_TIMEOUT // _MILLISECOND
    )
    async_confirmation_timeout_millisecond = Int(
        min_value=60_000, max_value=172_800_000, default=ASYNC_TIMEOUT // _MILLISECOND
    )


class VisitRequestInputs(Inputs):
    """A request for an at-home appointment."""

    address = UsAddressInputs()
    provider = OpenEnum(AppointmentProvider)
    appointment_notes = Str(required=False, max_length=NOTES_MAX_LENGTH)


class CenterCancellationInputs(Inputs):
    """A service center cancellation, as published clients spell it (contract 10.1)."""

    cancellationReasonId = Str(max_length=100)  # noqa: N815 - the wire's
    note = Str(max_length=NOTES_MAX_LENGTH, required=False)


class HomeCancellationInputs(Inputs):
    """An at-home cancellation, as published clients spell it (contract 10.1)."""

    cancellation_reason_id = Str(max_length=100)
    notes = Str(max_length=NOTES_MAX_LENGTH, required=False)


class CancellationInputs(Inputs):
    """A cancellation, with fields in either spelling; each call documents its own."""

    cancellationReasonId = Str(max_length=100, required=False)  # noqa: N815 - the wire's
    cancellation_reason_id = Str(max_length=100, required=False)
    note = Str(max_length=NOTES_MAX_LENGTH, required=False)
    notes = Str(max_length=NOTES_MAX_LENGTH, required=False)


def parse_slot_start_date(query: Mapping[str, Any]) -> date | None:
    """Return the requested first day of slots; the date part of a date-time.

    Raises: 422 by date_from_datetime_parsing.
    """
    text = query.get("start_date")
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        raise _field_error("start_date", "date_from_datetime_parsing") from None


def parse_requested_lab(query: Mapping[str, Any]) -> str:
    """Return the slug of the requested lab. Raises: 422 by enum, missing.

    By zip code, by codes of sites, or by both; by neither is missing.
    """
    if query["lab"] not in BOOKABLE_LABS:
        raise _field_error("lab", "enum")
    if not query.get("zip_code") and not query.get("site_codes"):
        raise _field_error("zip_code", "missing")
    return str(query["lab"])


def parse_appointment_booking_request(
    body: Mapping[str, Any], reference: UUID | None
) -> BookingRequest:
    """Return the booking of a validated body."""
    return BookingRequest(
        booking_key=body["booking_key"],
        notes=body.get("appointment_notes", ""),
        waits_on=body["async_confirmation"],
        sync_timeout=_MILLISECOND * body["sync_confirmation_timeout_millisecond"],
        async_timeout=_MILLISECOND * body["async_confirmation_timeout_millisecond"],
        reference=reference,
    )


def parse_appointment_cancellation_request(
    body: Mapping[str, Any], *, name: str
) -> tuple[str, str]:
    """Return the cancellation's reason id and note; `name` is the id's field name.

    Raises: 422 by missing.
    """
    reason = body.get("cancellationReasonId") or body.get("cancellation_reason_id")
    if not reason:
        raise RequestInvalid([FieldError(("body", name), "Field required.", "missing")])
    return reason, body.get("note") or body.get("notes") or ""


def _field_error(field: str, kind: str) -> RequestInvalid:
    message = "Field required." if kind == "missing" else "Not an allowed value."
    return RequestInvalid([FieldError(("query", field), message, kind)])
