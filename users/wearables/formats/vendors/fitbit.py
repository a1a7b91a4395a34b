"""Fitbit from Google Takeout or Fitbit's own archive (JSON and CSV).

Heart rates, steps and distances by the minute are UTC, and so are exercises; nights are
wall clock. Lists of {"dateTime", "value"} all look alike: their name tells them.
Weights have no unit, which was the account's, but a body mass index, and the archive a
height in millimeters: together they say the unit, alone they do not. Altitudes have no
unit either; of VO2max there are four values, and none is said to be the one shown.
Source: the archive in danlsn/fitport, data/user-site-export (read 2026-11-24). The mean
heart rate of its exercises is that of the heart rates at the same times (296 of them,
median difference 0.2 bpm). Heart rates are lowest 10 hours before its nights, as of
somebody at UTC+10, and distances make 0.7 m a step as centimeters. Names of files also:
timgrote/fitbitImporter, internal/takeout/parser.go. Columns of heart rates: README of
Takeout's time series. No public document was found that says what zone the times
without one of the other CSV have: they are taken for UTC.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.rows import MergedRows, Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Form,
    iterate_cells,
    iterate_items,
    make_sample,
    make_sport,
    make_summary,
)
from users.wearables.formats.uploads.values import (
    add_seconds,
    parse_local_time,
    parse_number,
    parse_whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_ORIGIN = Origin()
_PLAIN = (("item", ("dateTime", "value")),)
_NIGHT = (("item", ("logId", "dateOfSleep", "startTime", "endTime")),)
_EXERCISE = (("item", ("logId", "activityName", "startTime", "duration")),)
_WEIGHT = (("item", ("logId", "weight", "date", "time")),)
# By the name of a list: our resource, what its value is multiplied with.
_LISTS: dict[str, tuple[str, float]] = {
    "heart_rate": ("heartrate", 1),
    "steps": ("steps", 1),
    "distance": ("distance", 0.01),  # centimeters
}
_DAY_RESTING = "resting_heart_rate"
_LEVELS = {"deep": 1, "light": 2, "asleep": 2, "rem": 3, "wake": 4, "awake": 4}
_LEVELS |= {"restless": 4}
# CSV of UTC by their column of values: our resource.
_TABLES: dict[str, str] = {
    "beats per minute": "heartrate",
    "steps": "steps",
    "rmssd": "hrv",
    "average_value": "blood_oxygen",
    "full_sleep_breathing_rate": "respiratory_rate",
}
# Values of a whole day by the name of their list: our field of activity.
_DAYS = {
    "very_active_minutes": "high",
    "moderately_active_minutes": "medium",
    "lightly_active_minutes": "low",
    _DAY_RESTING: "resting_bpm",
}
_HEIGHT = "height"
_UNKNOWN_UNITS = frozenset({"altitude"})
# Kilograms, pounds and stones, in kilograms.
_WEIGHT_UNITS = (1.0, 0.45359237, 6.35029318)
# How far the body mass index may be off, which is written with two digits.
_INDEX_OFF_MAX = 0.02
# A value of a whole day, in the columns of heart rates.
_RESTING = "daily_resting_heart_rate"


def _kind(name: str) -> str:
    last = name.rsplit("/", 1)[-1].lower()
    return re.sub(r"[-_ ]+\d.*|\.json$", "", last)


def _read_list(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
    kind = _kind(head.name)
    if kind in _DAYS or kind == _HEIGHT:
        yield from _read_days(member, kind, reading)
        return
    known = _LISTS.get(kind)
    rows = 0
    for item in iterate_items(member, "item"):
        if known is None or not isinstance(item, dict):
            rows += 1
            continue
        slug, scale = known
        at = parse_local_time(item.get("dateTime"), "mdy")
        start = None if at is None else f"{at}+00:00"
        given = item.get("value")
        if isinstance(given, dict):
            given = given.get("bpm")
        value = parse_number(given)
        if not value:  # a minute without movement, or off the wrist
            rows += 1
            continue
        yield make_sample(slug, _ORIGIN, value * scale, start, add_seconds(start, 60))
    if rows:
        reason = DropReason.NO_VALUE if known else DropReason.UNKNOWN_KIND
        if kind in _UNKNOWN_UNITS:
            reason = DropReason.UNKNOWN_UNIT
        yield SkippedRows(reason, kind[:60] or "values", rows)


def _read_days(member: Member, kind: str, reading: Reading) -> Iterator[Row]:
    """Keep values of whole days, of which several files make one summary."""
    days = reading.kept.setdefault("fitbit days", {})
    for item in iterate_items(member, "item"):
        given = item.get("value") if isinstance(item, dict) else None
        value = parse_number(given.get("value") if isinstance(given, dict) else given)
        at = parse_local_time(item.get("dateTime"), "mdy") if given else None
        # A day without a resting heart rate has 0.
        if value is None or at is None or (kind == _DAY_RESTING and not value):
            yield SkippedRows(DropReason.NO_VALUE, kind)
        elif kind == _HEIGHT:
            reading.kept.setdefault("fitbit heights", []).append(value / 1000)
            yield MergedRows()
        else:
            rows, found = days.get(at[:10], (0, {}))
            days[at[:10]] = rows + 1, found | {_DAYS[kind]: value}


def finish(reading: Reading) -> Iterator[Row]:
    """Yield the activity of days, and weights once the height is known."""
    for day, (rows, found) in reading.kept.get("fitbit days", {}).items():
        resting = found.pop("resting_bpm", None)
        heart = {"resting_bpm": None if resting is None else round(resting)}
        element = {"calendar_date": day, **found, "heart_rate": heart}
        yield make_summary("activity", _ORIGIN, element, rows)
    heights = reading.kept.get("fitbit heights", [])
    for day, item in reading.kept.get("fitbit weights", {}).items():
        weight, index = parse_number(item.get("weight")), parse_number(item.get("bmi"))
        unit = _find_weight_unit(weight, index, heights)
        yield make_summary(
            "body",
            _ORIGIN,
            {
                "calendar_date": day,
                "weight": weight * unit if weight and unit else None,
                "fat": parse_number(item.get("fat")),
                "body_mass_index": index,
            },
        )
        if unit is None:
            yield SkippedRows(DropReason.UNKNOWN_UNIT, "weight")


def _find_weight_unit(
    weight: float | None, index: float | None, heights: list[float]
) -> float | None:
    """Return the kilograms of a weight's unit that its body mass index has, or None."""
    for height in heights:
        for unit in _WEIGHT_UNITS:
            expected = (weight or 0) * unit / height**2 if height else 0
            if index and abs(expected / index - 1) < _INDEX_OFF_MAX:
                return unit
    return None


def _read_nights(member: Member, _head: Head, _reading: Reading) -> Iterator[Row]:
    for night in iterate_items(member, "item"):
        if not isinstance(night, dict):
            yield SkippedRows(DropReason.BAD_ROW, "sleep")
            continue
        levels = night.get("levels")
        levels = levels if isinstance(levels, dict) else {}
        summary = levels.get("summary")
        summary = summary if isinstance(summary, dict) else {}

        def seconds(*names: str, summary: dict[str, Any] = summary) -> int | None:
            found = [summary.get(name) for name in names]
            minutes = [
                parse_number(each.get("minutes"))
                for each in found
                if isinstance(each, dict)
            ]
            known = [each for each in minutes if each is not None]
            return round(sum(known) * 60) if known else None

        start, end = night.get("startTime"), night.get("endTime")
        asleep = parse_number(night.get("minutesAsleep"))
        latency = parse_number(night.get("minutesToFallAsleep"))
        log = {"external_id": _text(night.get("logId"))}
        yield make_summary(
            "sleep",
            _ORIGIN,
            {
                **log,
                "calendar_date": night.get("dateOfSleep"),
                "bedtime_start": start,
                "bedtime_stop": end,
                "type": "long_sleep" if night.get("mainSleep") else "short_sleep",
                "total": None if asleep is None else round(asleep * 60),
                "deep": seconds("deep"),
                "light": seconds("light", "asleep"),
                "rem": seconds("rem"),
                "awake": seconds("wake", "awake", "restless"),
                "latency": None if latency is None else round(latency * 60),
                "efficiency": parse_number(night.get("efficiency")),
            },
        )
        stages = _stages(levels.get("data"))
        if stages:
            session = {"session_start": start, "session_end": end}
            yield make_summary("sleep_cycle", _ORIGIN, {**log, **session, **stages}, 0)


def _stages(data: Any) -> dict[str, Any] | None:
    """Return the stages of a night that follow each other, else None."""
    types, starts, ends = [], [], []
    at = 0
    for each in data if isinstance(data, list) else ():
        seconds = parse_whole(each.get("seconds")) if isinstance(each, dict) else None
        level = _LEVELS.get(str(each.get("level"))) if seconds else None
        if not seconds or level is None:
            return None
        types.append(level)
        starts.append(at)
        at += seconds
        ends.append(at)
    if not types or len(types) > 5000:
        return None
    return {
        "stage_type": types,
        "stage_start_offset_second": starts,
        "stage_end_offset_second": ends,
    }


def _read_exercises(member: Member, _head: Head, _reading: Reading) -> Iterator[Row]:
    for each in iterate_items(member, "item"):
        if not isinstance(each, dict):
            yield SkippedRows(DropReason.BAD_ROW, "exercise")
            continue
        at = parse_local_time(_text(each.get("startTime")), "mdy")
        milliseconds = parse_number(each.get("duration"))
        if at is None or not milliseconds:
            yield SkippedRows(DropReason.BAD_TIME, "exercise")
            continue
        start = f"{at}+00:00"
        unit = _text(each.get("distanceUnit"))
        distance = parse_number(each.get("distance"))
        meters = {"Kilometer": 1000, "Mile": 1609.344, "Meter": 1}.get(unit or "")
        active = parse_number(each.get("activeDuration"))
        yield make_summary(
            "workouts",
            _ORIGIN,
            {
                "external_id": _text(each.get("logId")),
                "provider_id": _text(each.get("logId")),
                "time_start": start,
                "time_end": add_seconds(start, milliseconds / 1000),
                "sport": make_sport(_text(each.get("activityName")) or ""),
                "calories": parse_number(each.get("calories")),
                "average_hr": parse_whole(each.get("averageHeartRate")),
                "steps": parse_whole(each.get("steps")),
                "moving_time": None if active is None else round(active / 1000),
                "distance": distance * meters if distance and meters else None,
            },
        )


def _read_weights(member: Member, _head: Head, reading: Reading) -> Iterator[Row]:
    weights = reading.kept.setdefault("fitbit weights", {})
    for item in iterate_items(member, "item"):
        at = None
        if isinstance(item, dict):
            at = parse_local_time(f"{item.get('date')} {item.get('time')}", "mdy")
        if at is None:
            yield SkippedRows(DropReason.BAD_TIME, "weight")
        elif at[:10] in weights:  # the last of a day counts
            weights[at[:10]] = item
            yield MergedRows()
        else:
            weights[at[:10]] = item


def _table(column: str) -> Any:
    slug = _TABLES[column]

    def read(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
        for cells in iterate_cells(member, head, ("timestamp", column)):
            if isinstance(cells, SkippedRows):
                yield cells
                continue
            if _kind(head.name).startswith(_RESTING):
                yield SkippedRows(DropReason.UNKNOWN_KIND, _RESTING)
                continue
            at = cells.first("timestamp")
            at = at if at.endswith("Z") or "+" in at else f"{at}Z"
            value = parse_number(cells.first(column))
            yield make_sample(slug, _ORIGIN, value, at, add_seconds(at, 60))

    return read


def _text(value: Any) -> str | None:
    return None if value in (None, "") else str(value)


_FORMAT = ImportFormat.FITBIT
FORMS = (
    Form("Fitbit nights", _FORMAT, _read_nights, "json", keys=_NIGHT),
    Form("Fitbit exercises", _FORMAT, _read_exercises, "json", keys=_EXERCISE),
    Form("Fitbit weights", _FORMAT, _read_weights, "json", keys=_WEIGHT),
    Form("Fitbit values", _FORMAT, _read_list, "json", keys=_PLAIN),
    *(
        Form(f"Fitbit {slug}", _FORMAT, _table(column), columns=("timestamp", column))
        for column, slug in _TABLES.items()
    ),
)
PROVIDER = "fitbit"
