"""Convert Garmin's days, epochs, measurements and metrics to resources.

As of garmin.client (Health API 7): a summary replaces the one of its type and start.
Values below zero say that there is none.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING

from users.gateways.garmin.values import (
    Summary,
    make_batch,
    read_count,
    read_day,
    read_minutes,
    read_number,
    read_offset,
    read_rate,
    read_start,
    read_sum,
    read_values,
)
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Callable

    from users.gateways.garmin.values import Batches

_WATCH, _APP = SourceType.WATCH, SourceType.APP
_GRAMS = 1000


def convert_activity(days: list[Summary], _zone: tzinfo) -> Batches:
    """Convert days; average heart rates are of seven days, and left out."""
    return make_batch(
        "activity",
        _WATCH,
        (
            {
                "calendar_date": day,
                "timezone_offset": read_offset(each),
                "steps": read_count(each, "steps"),
                "distance": read_number(each, "distanceInMeters"),
                "calories_active": read_number(each, "activeKilocalories"),
                "calories_total": read_sum(
                    each, "activeKilocalories", "bmrKilocalories"
                ),
                "medium": read_minutes(each, "moderateIntensityDurationInSeconds"),
                "high": read_minutes(each, "vigorousIntensityDurationInSeconds"),
                "floors_climbed": read_count(each, "floorsClimbed"),
                "wheelchair_use": True if "pushes" in each else None,
                "wheelchair_push": read_count(each, "pushes"),
                "heart_rate": {
                    "min_bpm": read_rate(each, "minHeartRateInBeatsPerMinute"),
                    "max_bpm": read_rate(each, "maxHeartRateInBeatsPerMinute"),
                    "resting_bpm": read_rate(each, "restingHeartRateInBeatsPerMinute"),
                },
            }
            for each in days
            if (day := read_day(each))
        ),
    )


def convert_samples(resource: str, key: str, low: float = 0) -> Callable[..., Batches]:
    """Return a converter of the map of a summary to samples above `low`."""

    def convert(summaries: list[Summary], _zone: tzinfo) -> Batches:
        found = {
            at: {"timestamp": at, "value": value}
            for each in summaries
            for at, value in read_values(each, key)
            if value > low
        }
        return make_batch(resource, _WATCH, found.values())

    return convert


def convert_epochs(resource: str, key: str) -> Callable[..., Batches]:
    """Return a converter of epochs, of which each kind of movement has its own."""

    def convert(epochs: list[Summary], _zone: tzinfo) -> Batches:
        found: dict[str, Summary] = {}
        for each in epochs:
            start, length = read_start(each), read_count(each, "durationInSeconds")
            value = read_number(each, key)
            if start is None or not length or value is None:
                continue
            end = (start + timedelta(seconds=length)).isoformat()
            kept = found.setdefault(
                start.isoformat(), {"start": start.isoformat(), "end": end, "value": 0}
            )
            kept["value"] += value
            kept["end"] = max(kept["end"], end)
        return make_batch(resource, _WATCH, found.values())

    return convert


def convert_body(measured: list[Summary], _zone: tzinfo) -> Batches:
    """Convert weighings to summaries of the body."""

    def share(each: Summary, key: str) -> float | None:
        weight, part = read_number(each, "weightInGrams"), read_number(each, key)
        return round(100 * part / weight, 2) if weight and part else None

    return _weighed(
        "body",
        measured,
        lambda each, at: {
            "calendar_date": at.date().isoformat(),
            "weight": _kilograms(each),
            "fat": read_number(each, "bodyFatInPercent"),
            "water_percentage": read_number(each, "bodyWaterInPercent"),
            "muscle_mass_percentage": share(each, "muscleMassInGrams"),
            "bone_mass_percentage": share(each, "boneMassInGrams"),
            "body_mass_index": read_number(each, "bodyMassIndex"),
        },
    )


def convert_weight(measured: list[Summary], _zone: tzinfo) -> Batches:
    """Convert weighings to weights."""
    return _weighed(
        "weight",
        measured,
        lambda each, at: {"timestamp": at.isoformat(), "value": _kilograms(each)},
    )


def convert_fat(measured: list[Summary], _zone: tzinfo) -> Batches:
    """Convert weighings to shares of fat."""
    return _weighed(
        "fat",
        measured,
        lambda each, at: {
            "timestamp": at.isoformat(),
            "value": read_number(each, "bodyFatInPercent"),
        },
    )


def _weighed(
    resource: str,
    measured: list[Summary],
    convert: Callable[[Summary, datetime], Summary],
) -> Batches:
    """Convert weighings; one of a weight alone was typed in (Health API 7.4)."""
    by_type: dict[SourceType, list[Summary]] = defaultdict(list)
    for each in measured:
        at = read_start(
            each, "measurementTimeInSeconds", "measurementTimeOffsetInSeconds"
        )
        if at is None:
            continue
        element = convert(each, at)
        if element.get("value", 0) is not None:
            kind = SourceType.SCALE if "bodyFatInPercent" in each else _APP
            by_type[kind].append(element)
    return tuple(
        batch
        for kind, elements in by_type.items()
        for batch in make_batch(resource, kind, elements)
    )


def convert_pressure(measured: list[Summary], _zone: tzinfo) -> Batches:
    """Convert blood pressures; typed ones are of the app."""
    by_type: dict[SourceType, list[Summary]] = defaultdict(list)
    for each in measured:
        at = read_start(
            each, "measurementTimeInSeconds", "measurementTimeOffsetInSeconds"
        )
        systolic, diastolic = (
            read_number(each, "systolic"),
            read_number(each, "diastolic"),
        )
        if at is not None and systolic and diastolic:
            is_typed = each.get("sourceType") == "MANUAL"
            by_type[_APP if is_typed else SourceType.CUFF].append(
                {
                    "timestamp": at.isoformat(),
                    "systolic": systolic,
                    "diastolic": diastolic,
                }
            )
    return tuple(
        batch
        for kind, elements in by_type.items()
        for batch in make_batch("blood_pressure", kind, elements)
    )


def convert_vo2(metrics: list[Summary], zone: tzinfo) -> Batches:
    """Convert what Garmin gives by date alone: it is of that midnight of the user."""
    found = []
    for each in metrics:
        day, value = read_day(each), read_number(each, "vo2Max")
        if day and value:
            at = datetime.combine(date.fromisoformat(day), time(), zone).isoformat()
            found.append({"start": at, "end": at, "value": value})
    return make_batch("vo2_max", _WATCH, found)


def convert_skin(nights: list[Summary], _zone: tzinfo) -> Batches:
    """Convert deviations of the skin temperature of nights."""
    found = []
    for each in nights:
        start, length = read_start(each), read_count(each, "durationInSeconds")
        value = each.get("avgDeviationCelsius")
        if start is not None and length and type(value) in (int, float):
            end = start + timedelta(seconds=length)
            found.append(
                {"start": start.isoformat(), "end": end.isoformat(), "value": value}
            )
    return make_batch("body_temperature_delta", _WATCH, found)


def _kilograms(each: Summary) -> float | None:
    grams = read_number(each, "weightInGrams")
    return grams / _GRAMS if grams else None
