"""Google Fit from Google Takeout: data points, sessions and sums of days.

Takeout holds one measure many times: what a sensor gave, what an app derived, and what
Google merged of all. Only the best of each type in the archive is read: the top level,
else a merged one, else what there is. Times are nanoseconds of Unix, values in units of
public files (tests/bench/health_files.csv): steps, meters, kg, bpm, %, mmol/L, mmHg,
°C, liters. Expended calories contain those at rest and are no active ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from users.states import SourceType
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
    parse_duration,
    parse_number,
    parse_whole,
    write_unix_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_ORIGIN = Origin(str(SourceType.PHONE))
_POINTS = ("Data Source", "Data Points")
_SESSION = ("fitnessActivity", "startTime", "endTime")
_DAYS = ("date", "step count|calories (kcal)|distance (m)")
_QUARTERS = ("start time", "end time", "move minutes count|calories (kcal)")
# By data type: our resource, what its value is multiplied with, and its place.
_TYPES: dict[str, tuple[str, float]] = {
    "step_count.delta": ("steps", 1),
    "distance.delta": ("distance", 1),
    "heart_rate.bpm": ("heartrate", 1),
    "weight": ("body_weight", 1),
    "body.fat.percentage": ("body_fat", 1),
    "oxygen_saturation": ("blood_oxygen", 1),
    "blood_glucose": ("glucose", 1),
    "body.temperature": ("body_temperature", 1),
    "hydration": ("water", 1000),
    "respiratory_rate": ("respiratory_rate", 1),
}
_PRESSURE = "blood_pressure"
_NANO = 1e9
_DAY_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.csv$")
_BEST = "google_fit"


def _data_type(source: str) -> str:
    """Return the data type of a data source such as raw:com.google.weight:app:…."""
    parts = source.split(":")
    return parts[1].removeprefix("com.google.") if len(parts) > 1 else ""


def _rank(source: str) -> int:
    if source.endswith("top_level"):
        return 3
    return 2 if "merge" in source else 1


def prepare(head: Head, reading: Reading) -> None:
    """Note the best data source of each type before any is read."""
    source = _source_of(head)
    best = reading.kept.setdefault(_BEST, {})
    if source:
        kind = _data_type(source)
        best[kind] = max(best.get(kind, 0), _rank(source))


def _source_of(head: Head) -> str:
    found = re.search(r'"Data Source"\s*:\s*"([^"]{1,500})"', head.text[:2000])
    return found[1] if found else ""


def _read_points(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
    source = _source_of(head)
    kind = _data_type(source)
    known = _TYPES.get(kind)
    reason = None
    if known is None and kind != _PRESSURE:
        reason = DropReason.UNKNOWN_KIND
    elif _rank(source) < reading.kept.get(_BEST, {}).get(kind, 0):
        reason = DropReason.PART_OF_ANOTHER
    rows = 0
    for point in iterate_items(member, "Data Points.item"):
        if reason is not None or not isinstance(point, dict):
            rows += 1
        else:
            yield _point(known, point)
    if rows:
        yield SkippedRows(reason or DropReason.BAD_ROW, kind[:60], rows)


def _point(known: tuple[str, float] | None, point: dict[str, Any]) -> Row:
    values = [_value(each) for each in _list(point.get("fitValue"))]
    start, end = (
        write_unix_time(None if nanos is None else nanos / _NANO)
        for nanos in (
            parse_number(point.get(name)) for name in ("startTimeNanos", "endTimeNanos")
        )
    )
    if known is None:
        both = [*values, None, None]
        return make_sample(_PRESSURE, _ORIGIN, both[0], end, diastolic=both[1])
    slug, scale = known
    value = values[0] if values else None
    # A point in time is stated as one that starts and ends then.
    return make_sample(
        slug, _ORIGIN, None if value is None else value * scale, start, end
    )


def _value(given: Any) -> float | None:
    """Return a value of Takeout's JSON: {"value": {"intVal": 19}} or {"fpVal": …}."""
    inner = given.get("value") if isinstance(given, dict) else None
    if not isinstance(inner, dict):
        return None
    return parse_number(inner.get("intVal", inner.get("fpVal")))


def _read_session(member: Member, _head: Head, _reading: Reading) -> Iterator[Row]:
    for session in iterate_items(member, ""):
        if not isinstance(session, dict):
            continue
        sums = {
            each.get("metricName"): parse_number(
                each.get("intValue", each.get("floatValue"))
            )
            for each in _list(session.get("aggregate"))
            if isinstance(each, dict)
        }
        activity = str(session.get("fitnessActivity") or "")
        if activity == "sleep":
            yield make_summary(
                "sleep",
                _ORIGIN,
                {
                    "bedtime_start": session.get("startTime"),
                    "bedtime_stop": session.get("endTime"),
                },
            )
            continue
        steps = sums.get("com.google.step_count.delta")
        lasted = parse_duration(str(session.get("duration") or ""))
        yield make_summary(
            "workouts",
            _ORIGIN,
            {
                "time_start": session.get("startTime"),
                "time_end": session.get("endTime"),
                "sport": make_sport(activity),
                "calories": sums.get("com.google.calories.expended"),
                "distance": sums.get("com.google.distance.delta"),
                "average_speed": sums.get("com.google.speed.summary"),
                "steps": None if steps is None else round(steps),
                "moving_time": None if lasted is None else round(lasted),
            },
        )


def _read_days(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
    for cells in iterate_cells(member, head, _DAYS):
        if isinstance(cells, SkippedRows):
            yield cells
            continue
        bpm = {
            "avg_bpm": parse_whole(cells.first("average heart rate (bpm)")),
            "min_bpm": parse_whole(cells.first("min heart rate (bpm)")),
            "max_bpm": parse_whole(cells.first("max heart rate (bpm)")),
        }
        yield make_summary(
            "activity",
            _ORIGIN,
            {
                "calendar_date": cells.first("date"),
                "calories_total": parse_number(cells.first("calories (kcal)")),
                "steps": parse_whole(cells.first("step count")),
                "distance": parse_number(cells.first("distance (m)")),
                "heart_rate": bpm if any(bpm.values()) else None,
            },
        )


def _read_quarters(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
    """Read sums of a quarter of an hour; its date is the file's name alone."""
    named = _DAY_NAME.search(head.name)
    day = named[1] if named else ""
    for cells in iterate_cells(member, head, _QUARTERS):
        if isinstance(cells, SkippedRows):
            yield cells
            continue
        start, end = cells.first("start time"), cells.first("end time")
        whole = (f"{day}T{start}", f"{day}T{end}")
        found = 0
        for column, slug in (("step count", "steps"), ("distance (m)", "distance")):
            value = parse_number(cells.first(column))
            kind = "step_count.delta" if slug == "steps" else "distance.delta"
            # The points of an archive are the same movement, and finer.
            if value and kind not in reading.kept.get(_BEST, {}) and start < end:
                found += 1
                yield make_sample(slug, _ORIGIN, value, *whole)
        if not found:
            yield SkippedRows(DropReason.PART_OF_ANOTHER, "quarter of an hour")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_FORMAT = ImportFormat.GOOGLE_FIT
FORMS = (
    Form("Google Fit points", _FORMAT, _read_points, "json", keys=(("", _POINTS),)),
    Form("Google Fit session", _FORMAT, _read_session, "json", keys=(("", _SESSION),)),
    Form("Google Fit days", _FORMAT, _read_days, columns=_DAYS),
    Form(
        "Google Fit quarters",
        _FORMAT,
        _read_quarters,
        columns=_QUARTERS,
        file=_DAY_NAME.pattern,
    ),
)
PROVIDER = "google_fit"
