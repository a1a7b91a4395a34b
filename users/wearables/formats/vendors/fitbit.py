"""Fitbit from Google Takeout or Fitbit's own archive (JSON and CSV).

Heart rates, steps and distances by the minute are UTC, and so are exercises; nights are
wall clock. Lists of {"dateTime", "value"} all look alike: their name tells them.
Weights have no unit, which was the account's, and are not read.
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
from users.wearables.formats.rows import Origin, Row, SkippedRows
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
# A value of a whole day, in the columns of heart rates.
_RESTING = "daily_resting_heart_rate"


def _kind(name: str) -> str:
    last = name.rsplit("/", 1)[-1].lower()
    return re.sub(r"[-_ ]+\d.*|\.json$", "", last)


def _read_list(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
    kind = _kind(head.name)
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
        yield SkippedRows(reason, kind[:60] or "values", rows)


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


def _read_weights(member: Member, _head: Head, _reading: Reading) -> Iterator[Row]:
    rows = sum(1 for _ in iterate_items(member, "item"))
    yield SkippedRows(DropReason.UNKNOWN_UNIT, "weight", rows)


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
