"""Convert Dexcom's glucose values, calibrations and entries to samples.

Verified in public references on 2026-11-26 (developer.dexcom.com, endpoint overview,
Time; /egvs, /calibrations, /events): `systemTime` is UTC by the device's clock, with or
without offset, `displayTime` what it showed. A glucose value that is `low` or `high`
says that it is beyond the sensor's range: its number is the range's end and no
measurement. Units are of the region, mg/dL or mmol/L.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from users.gateways.dexcom.client import Record

# Grams a mole of glucose: of mg/dL, a mmol/L has a tenth as many.
_GLUCOSE_MOLAR_MASS = 180.156
_FACTORS = {"mg/dL": 10 / _GLUCOSE_MOLAR_MASS, "mmol/L": 1.0}
_OUT_OF_RANGE = frozenset({"low", "high"})
_INSULIN = {"fastActing": "rapid_acting", "longActing": "long_acting"}
_OFFSET_MAX = timedelta(hours=26)
_QUARTER = timedelta(minutes=15)


def convert_dexcom_glucose(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Convert glucose values within the sensor's range, or calibrations."""
    found = []
    for record in records:
        at = _time(record)
        value: Any = record.get("value")
        factor = _FACTORS.get(str(record.get("unit")))
        if at is None or factor is None or not _is_number(value):
            continue
        if record.get("status") in _OUT_OF_RANGE:
            continue
        found.append({"timestamp": at, "value": value * factor})
    return found


def convert_dexcom_insulin(events: Iterable[Record]) -> list[dict[str, Any]]:
    """Convert insulin doses that the user entered, those whose kind is known."""
    return [
        element | {"type": _INSULIN[kind]}
        for event in _list_entered(events, "insulin", "units")
        if (kind := event.get("eventSubType")) in _INSULIN
        and (element := _interval(event)) is not None
    ]


def convert_dexcom_carbohydrates(events: Iterable[Record]) -> list[dict[str, Any]]:
    """Convert carbohydrates that the user entered."""
    return [
        element
        for event in _list_entered(events, "carbs", "grams")
        if (element := _interval(event)) is not None
    ]


def _list_entered(events: Iterable[Record], kind: str, unit: str) -> list[Record]:
    """Return entries of a kind that the user did not delete."""
    return [
        event
        for event in events
        if event.get("eventType") == kind
        and event.get("unit") == unit
        and event.get("eventStatus") in (None, "created", "updated")
    ]


def _interval(event: Record) -> dict[str, Any] | None:
    """Return an entry as a sample of a second; its value is a text."""
    at = _time(event)
    try:
        value = float(event.get("value") or "")
    except (TypeError, ValueError):
        return None
    if at is None or not 0 < value < float("inf"):
        return None
    end = datetime.fromisoformat(at) + timedelta(seconds=1)
    return {"start": at, "end": end.isoformat(), "value": value}


def _time(record: Record) -> str | None:
    """Return when it was, with the offset that the device showed.

    Only an offset that a zone can have: a clock that somebody set is no zone.
    """
    system, display = (_parse(record.get(f"{name}Time")) for name in _CLOCKS)
    if system is None:
        return None
    at = system.replace(tzinfo=system.tzinfo or UTC).astimezone(UTC)
    if display is None:
        return at.isoformat()
    offset = display.utcoffset()
    if offset is None:
        offset = display - at.replace(tzinfo=None)
    if abs(offset) >= _OFFSET_MAX / 2 or offset % _QUARTER:
        return at.isoformat()
    return at.astimezone(timezone(offset)).isoformat()


_CLOCKS = ("system", "display")


def _parse(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
