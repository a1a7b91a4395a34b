"""Workouts of an Apple Health export, and their heart rates as streams."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from users.states.imports import DropReason
from users.wearables.formats.apple.times import (
    find_apple_record_time_zone,
    find_utc_offset_of_apple_time,
)
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import SkippedRows, StreamRow, SummaryRow
from users.wearables.formats.tracks import Points
from users.wearables.formats.units import find_unit_conversion
from users.wearables.formats.uploads.members import MemberDamaged
from users.wearables.streams import POINTS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from users.wearables.formats.apple.attachments import Attachments
    from users.wearables.formats.rows import Origin, Row

_ACTIVITY = "HKWorkoutActivityType"
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_QUANTITY = re.compile(r"([\d.]+) ?(\S+)", re.ASCII)
# Bits of a heart rate beside its second, in one number.
_RATE_BITS = 10
_RATE_MAX = (1 << _RATE_BITS) - 1
_POINTS_MIN = 2


class _Statistic(NamedTuple):
    sum: float | None
    average: float | None
    maximum: float | None
    unit: str


class HeartRates:
    """Heart rates of the whole file, eight bytes each."""

    def __init__(self) -> None:
        self._all = array("q")
        self._ascends = True

    def add(self, second: int, rate: float) -> None:
        """Add a heart rate by its Unix second; skip impossible values."""
        rounded = round(rate)
        if not 0 < rounded <= _RATE_MAX:
            return
        packed = (second << _RATE_BITS) | rounded
        if self._all and packed < self._all[-1]:
            self._ascends = False
        self._all.append(packed)

    def between(self, start: int, end: int) -> tuple[list[int], list[int]]:
        """Return seconds and rates from `start` to `end`, inclusive, one a second."""
        if not self._ascends:
            self._all = array("q", sorted(self._all))
            self._ascends = True
        first = bisect_left(self._all, start << _RATE_BITS)
        after = bisect_right(self._all, (end << _RATE_BITS) | _RATE_MAX)
        seconds: list[int] = []
        rates: list[int] = []
        for packed in self._all[first:after]:
            second = packed >> _RATE_BITS
            if not seconds or second > seconds[-1]:
                seconds.append(second)
                rates.append(packed & _RATE_MAX)
        return seconds[:POINTS_MAX], rates[:POINTS_MAX]


class Workouts:
    """Workouts until the end of the file; some hundreds a year."""

    def __init__(self) -> None:
        self._all: list[_Workout] = []

    def add(
        self,
        origin: Origin,
        start: datetime,
        end: datetime,
        attributes: Mapping[str, str],
        statistics: Mapping[str, _Statistic],
        metadata: Mapping[str, str],
        routes: list[str],
    ) -> None:
        """Add a workout: attributes, statistics by type, metadata, names of routes."""
        element = _element(start, end, attributes, statistics, metadata)
        seconds = int(start.timestamp()), int(end.timestamp())
        self._all.append(_Workout(origin, element, *seconds, routes))

    def rows(
        self, heart: HeartRates, attachments: Attachments, now: datetime
    ) -> Iterator[Row]:
        """Yield all workouts, then the streams of heart rates and routes."""
        for workout in self._all:
            element = workout.element
            _, rates = heart.between(workout.start, workout.end)
            if len(rates) >= _POINTS_MIN:
                if "average_hr" not in element:
                    element["average_hr"] = round(sum(rates) / len(rates))
                if "max_hr" not in element:
                    element["max_hr"] = max(rates)
            yield SummaryRow("workouts", workout.origin, element)
        for workout in self._all:
            yield from _stream(workout, heart, attachments, now)


class _Workout(NamedTuple):
    """A workout with the Unix seconds of its start and end."""

    origin: Origin
    element: dict[str, Any]
    start: int
    end: int
    routes: list[str]


def _stream(
    workout: _Workout, heart: HeartRates, attachments: Attachments, now: datetime
) -> Iterator[Row]:
    """Yield the stream of a workout, if it has one, and what its routes lack."""
    seconds, rates = heart.between(workout.start, workout.end)
    points = Points(now)
    for name in workout.routes:
        try:
            for second, values in attachments.take_route(name):
                points.add(second, values)
        except (MemberDamaged, FileRefused):
            yield SkippedRows(DropReason.BAD_FILE, "route_#.gpx")
    if points.bad:
        yield SkippedRows(DropReason.BAD_POINT, "route_#.gpx", points.bad)
    body: dict[str, list[Any]] | None = None
    if points.seconds:
        for second, rate in zip(seconds, rates, strict=True):
            points.add(second, {"heartrate": rate})
        body = points.stream(workout.start, workout.end)
    elif len(seconds) >= _POINTS_MIN:
        body = {"time": seconds, "heartrate": rates}
    if body is not None:
        yield StreamRow(workout.element, body)


def parse_apple_workout_statistic(attributes: Mapping[str, str]) -> _Statistic:
    """Parse a workout's statistic of one record type."""
    return _Statistic(
        sum=_number(attributes.get("sum")),
        average=_number(attributes.get("average")),
        maximum=_number(attributes.get("maximum")),
        unit=attributes.get("unit", ""),
    )


def convert_healthkit_activity_to_sport(activity: str) -> dict[str, Any]:
    """Return the sport of a HealthKit activity type; 0 without a number."""
    word = activity.removeprefix(_ACTIVITY) or "Other"
    words = _WORDS.sub(" ", word)
    return {
        "id": _SPORT_IDS.get(word, 0),
        "name": words[:1] + words[1:].lower(),
        "slug": words.lower().replace(" ", "_"),
    }


def _element(
    start: datetime,
    end: datetime,
    fields: Mapping[str, str],
    statistics: Mapping[str, _Statistic],
    metadata: Mapping[str, str],
) -> dict[str, Any]:
    element: dict[str, Any] = {
        "time_start": start.isoformat(),
        "time_end": end.isoformat(),
        "timezone_offset": find_utc_offset_of_apple_time(
            start, find_apple_record_time_zone(metadata)
        ),
        "sport": convert_healthkit_activity_to_sport(
            fields.get("workoutActivityType", "")
        ),
    }
    heart = statistics.get("HeartRate")
    steps = statistics.get("StepCount")
    power = [each for name, each in statistics.items() if name.endswith("Power")]
    speed = [each for name, each in statistics.items() if name.endswith("Speed")]
    found: dict[str, float | int | None] = {
        "average_hr": _whole(heart and heart.average),
        "max_hr": _whole(heart and heart.maximum),
        "distance": _distance(fields, statistics),
        "calories": _energy(fields, statistics),
        "moving_time": _whole(
            _in(fields.get("duration"), fields.get("durationUnit", "min"), "s")
        ),
        "total_elevation_gain": _read_quantity(metadata.get("HKElevationAscended")),
        "steps": _whole(steps and steps.sum),
        "average_watts": power[0].average if power else None,
        "max_watts": power[0].maximum if power else None,
        "average_speed": _in_unit(speed[0].average, speed[0].unit, "m/s")
        if speed
        else None,
        "max_speed": _in_unit(speed[0].maximum, speed[0].unit, "m/s")
        if speed
        else None,
    }
    return element | {name: each for name, each in found.items() if each is not None}


def _distance(
    fields: Mapping[str, str], statistics: Mapping[str, _Statistic]
) -> float | None:
    whole = _in(fields.get("totalDistance"), fields.get("totalDistanceUnit", "km"), "m")
    if whole:
        return whole
    for name, each in statistics.items():
        if name.startswith("Distance") and each.sum:
            return _in_unit(each.sum, each.unit, "m")
    return None


def _energy(
    fields: Mapping[str, str], statistics: Mapping[str, _Statistic]
) -> float | None:
    unit = fields.get("totalEnergyBurnedUnit", "kcal")
    whole = _in(fields.get("totalEnergyBurned"), unit, "kcal")
    active = statistics.get("ActiveEnergyBurned")
    if not whole and active is not None:
        return _in_unit(active.sum, active.unit, "kcal")
    return whole


def _read_quantity(text: str | None) -> float | None:
    """Parse metadata such as "1234 cm", in meters."""
    found = _QUANTITY.fullmatch(text or "")
    return _in(found[1], found[2], "m") if found else None


def _in(text: str | None, unit: str, to: str) -> float | None:
    return _in_unit(_number(text), unit, to)


def _in_unit(value: float | None, unit: str, to: str) -> float | None:
    conversion = find_unit_conversion(unit, to)
    return None if value is None or conversion is None else conversion.apply(value)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and isfinite(value) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


# HealthKit's own numbers of its activities: the first is 1.
_SPORTS = (
    "AmericanFootball",
    "Archery",
    "AustralianFootball",
    "Badminton",
    "Baseball",
    "Basketball",
    "Bowling",
    "Boxing",
    "Climbing",
    "Cricket",
    "CrossTraining",
    "Curling",
    "Cycling",
    "Dance",
    "DanceInspiredTraining",
    "Elliptical",
    "EquestrianSports",
    "Fencing",
    "Fishing",
    "FunctionalStrengthTraining",
    "Golf",
    "Gymnastics",
    "Handball",
    "Hiking",
    "Hockey",
    "Hunting",
    "Lacrosse",
    "MartialArts",
    "MindAndBody",
    "MixedMetabolicCardioTraining",
    "PaddleSports",
    "Play",
    "PreparationAndRecovery",
    "Racquetball",
    "Rowing",
    "Rugby",
    "Running",
    "Sailing",
    "SkatingSports",
    "SnowSports",
    "Soccer",
    "Softball",
    "Squash",
    "StairClimbing",
    "SurfingSports",
    "Swimming",
    "TableTennis",
    "Tennis",
    "TrackAndField",
    "TraditionalStrengthTraining",
    "Volleyball",
    "Walking",
    "WaterFitness",
    "WaterPolo",
    "WaterSports",
    "Wrestling",
    "Yoga",
    "Barre",
    "CoreTraining",
    "CrossCountrySkiing",
    "DownhillSkiing",
    "Flexibility",
    "HighIntensityIntervalTraining",
    "JumpRope",
    "Kickboxing",
    "Pilates",
    "Snowboarding",
    "Stairs",
    "StepTraining",
    "WheelchairWalkPace",
    "WheelchairRunPace",
    "TaiChi",
    "MixedCardio",
    "HandCycling",
    "DiscSports",
    "FitnessGaming",
    "CardioDance",
    "SocialDance",
    "Pickleball",
    "Cooldown",
)
_SPORT_IDS = {word: number for number, word in enumerate(_SPORTS, start=1)}
