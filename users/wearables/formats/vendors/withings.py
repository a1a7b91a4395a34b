"""Withings' archive of an account: measures, nights, activities and trackers (CSV).

Headers are in the account's language with units in brackets; German and English are
read. Measures are wall clock without a zone, all else has its offset. Trackers and sums
of days all have the same columns, so that their names tell them. Columns: a public
archive (Handballfreak/WithingsData, read 2026-11-24).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from users.states import SourceType
from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.rows import MergedRows, Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Cells,
    Form,
    iterate_cells,
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

# The sources that the cloud gives the same measures (users.gateways.withings).
_SCALE = Origin(str(SourceType.SCALE))
_CUFF = Origin(str(SourceType.CUFF))
_WATCH = Origin(str(SourceType.WATCH))
_PLAIN = Origin()
_DATE = ("date", "datum")
_UNIT = re.compile(r"(.*?) ?\(([^)]*)\)")
_WEIGHT = ("date|datum", "weight (kg)|gewicht (kg)|weight (lb)|gewicht (lb)")
_PRESSURE = ("date|datum", "systolic|systole", "diastolic|diastole")
_HEIGHT = ("date|datum", "height (m)|grösse (m)|größe (m)")
_OXYGEN = ("date|datum", "spo2 (%)|oxygen saturation (%)|sauerstoffsättigung (%)")
_TEMPERATURE = ("date|datum", "value (°c)|value (°f)")
_NIGHT = ("from|von", "to|bis", "deep (s)|tief (s)", "light (s)|leicht (s)")
_ACTIVITY = ("from|von", "to|bis", "activity type", "data")
_SUM = ("date", "value")
_TRACKER = ("start", "duration", "value")
# Of sums of days by their name: the field of an activity.
_SUMS = {
    "steps": "steps",
    "distance": "distance",
    "elevation": "floors_climbed",
    "calories_earned": "calories_active",
}
_WHOLE = {"steps", "floors_climbed"}
_TRACKED = {
    "hr": "heartrate",
    "steps": "steps",
    "distance": "distance",
    "calories-earned": "calories_active",
    "spo2": "blood_oxygen",
}
_LIST_MAX = 100_000
_STAGES_MAX = 5000
# Its values: those of the cloud's sleep states (users.gateways.withings).
_SLEEP_STATE = "sleep-state"
_STATES = {0: 4, 1: 2, 2: 1, 3: 3}


def _rows(columns: tuple[str, ...], convert: Any) -> Any:
    """Return a reader of rows that `convert` turns into samples and summaries."""

    def read(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
        for cells in iterate_cells(member, head, columns):
            if isinstance(cells, SkippedRows):
                yield cells
            else:
                yield from convert(cells, member, reading)

    return read


def _weight(cells: Cells, _member: Member, _reading: Reading) -> Iterator[Row]:
    at = parse_local_time(cells.first(*_DATE))
    weight = fat = None
    for name, cell in cells.items():
        found = _UNIT.fullmatch(name)
        if not found or not cell.strip():
            continue
        value, unit = parse_number(cell), found[2]
        if found[1] in {"weight", "gewicht"}:
            weight = value
            yield make_sample("body_weight", _SCALE, value, at, unit=unit)
        elif found[1] in {"fat mass", "fettmasse"}:
            fat = value
    if weight and fat is not None:
        # The cloud gives the share, and the file the mass of the same measurement.
        share = round(100 * fat / weight, 3)
        yield make_sample("body_fat", _SCALE, share, at)
    if weight is None:
        yield SkippedRows(DropReason.NO_VALUE, "weight")


def _pressure(cells: Cells, _member: Member, _reading: Reading) -> Iterator[Row]:
    at = parse_local_time(cells.first(*_DATE))
    systolic = parse_number(cells.first("systolic", "systole"))
    diastolic = parse_number(cells.first("diastolic", "diastole"))
    rate = parse_number(cells.first("heart rate", "herzfrequenz"))
    if systolic is not None and diastolic is not None:
        yield make_sample("blood_pressure", _CUFF, systolic, at, diastolic=diastolic)
    elif rate is None:
        yield SkippedRows(DropReason.NO_VALUE, "blood_pressure")
    if rate is not None:
        origin = _CUFF if systolic is not None else _SCALE
        yield make_sample("heartrate", origin, rate, at)


def _height(cells: Cells, _member: Member, reading: Reading) -> Iterator[Row]:
    meters = parse_number(cells.first("height (m)", "grösse (m)", "größe (m)"))
    at = parse_local_time(cells.first(*_DATE))
    if meters is None or at is None:
        yield SkippedRows(DropReason.NO_VALUE, "height")
        return
    latest = reading.kept.setdefault("withings height", (at, meters))
    reading.kept["withings height"] = max(latest, (at, meters))
    yield MergedRows()


def _oxygen(cells: Cells, _member: Member, _reading: Reading) -> Iterator[Row]:
    columns = _OXYGEN[1].split("|")
    value = parse_number(cells.first(*columns))
    at = parse_local_time(cells.first(*_DATE))
    yield make_sample("blood_oxygen", _WATCH, value, at)


def _temperature(cells: Cells, _member: Member, _reading: Reading) -> Iterator[Row]:
    at = parse_local_time(cells.first(*_DATE))
    for name, unit in (("value (°c)", "°C"), ("value (°f)", "°F")):
        if cells.first(name):
            value = parse_number(cells.first(name))
            yield make_sample("body_temperature", _PLAIN, value, at, unit=unit)


def _night(cells: Cells, _member: Member, _reading: Reading) -> Iterator[Row]:
    yield make_summary(
        "sleep",
        _PLAIN,
        {
            "bedtime_start": cells.first("from", "von"),
            "bedtime_stop": cells.first("to", "bis"),
            "light": parse_whole(cells.first("light (s)", "leicht (s)")),
            "deep": parse_whole(cells.first("deep (s)", "tief (s)")),
            "rem": parse_whole(cells.first("rem (s)")),
            "awake": parse_whole(cells.first("awake (s)", "wach (s)")),
            "latency": parse_whole(cells.first("duration to sleep (s)")),
            "hr_average": parse_whole(cells.first("average heart rate")) or None,
            "hr_lowest": parse_whole(cells.first("heart rate (min)")) or None,
        },
    )


def _activity(cells: Cells, _member: Member, _reading: Reading) -> Iterator[Row]:
    try:
        data = orjson.loads(cells.first("data") or "{}")
    except orjson.JSONDecodeError:
        data = {}
    data = data if isinstance(data, dict) else {}
    yield make_summary(
        "workouts",
        _WATCH,
        {
            "time_start": cells.first("from", "von"),
            "time_end": cells.first("to", "bis"),
            "sport": make_sport(cells.first("activity type")),
            "calories": parse_number(
                data.get("calories") or data.get("manual_calories")
            ),
            "distance": parse_number(
                data.get("distance") or data.get("manual_distance")
            ),
            "steps": parse_whole(data.get("steps")),
            # 0 is what it writes without a heart rate.
            "average_hr": parse_whole(data.get("hr_average")) or None,
            "max_hr": parse_whole(data.get("hr_max")) or None,
        },
    )


def _sum(cells: Cells, member: Member, reading: Reading) -> Iterator[Row]:
    kind = re.sub(r".*aggregates_|\.csv", "", member.name.lower())
    value = parse_number(cells.first("value"))
    day = cells.first("date")
    if kind not in _SUMS or value is None or len(day) != 10:
        reason = DropReason.UNKNOWN_KIND if kind not in _SUMS else DropReason.NO_VALUE
        yield SkippedRows(reason, kind[:60])
        return
    name = _SUMS[kind]
    days = reading.kept.setdefault("withings days", {})
    rows, fields = days.get(day, (0, {}))
    fields[name] = round(value) if name in _WHOLE else value
    days[day] = rows + 1, fields


def _track(cells: Cells, member: Member, _reading: Reading) -> Iterator[Row]:
    kind = re.sub(r".*raw_tracker_|\.csv", "", member.name.lower())
    slug = _TRACKED.get(kind, "")
    if not slug and kind != _SLEEP_STATE:
        yield SkippedRows(DropReason.UNKNOWN_KIND, kind[:60])
        return
    at: str | None = cells.first("start")
    try:
        lasted, values = (
            orjson.loads(cells.first(name)) for name in ("duration", "value")
        )
    except orjson.JSONDecodeError:
        lasted = values = None
    if not isinstance(lasted, list) or not isinstance(values, list):
        yield SkippedRows(DropReason.BAD_ROW, kind)
        return
    if kind == _SLEEP_STATE:
        yield from _night_stages(str(at), lasted[:_STAGES_MAX], values)
        return
    for seconds, value in zip(lasted[:_LIST_MAX], values, strict=False):
        seconds = parse_number(seconds)
        end = add_seconds(at, seconds)
        number = parse_number(value)
        # A tracker writes a stretch without movement as 0 of a sum.
        if number != 0 or slug in {"heartrate", "blood_oxygen"}:
            yield make_sample(slug, _WATCH, number, at, end)
        at = end


def _night_stages(start: str, lasted: list[Any], values: list[Any]) -> Iterator[Row]:
    """Yield the stages of a stretch of sleep, which follow each other."""
    types, starts, ends = [], [], []
    at = 0
    for seconds, value in zip(lasted, values, strict=False):
        stage = _STATES.get(value) if type(value) is int else None
        if stage is None or type(seconds) is not int or seconds <= 0:
            yield SkippedRows(DropReason.NO_VALUE, _SLEEP_STATE)
            return
        types.append(stage)
        starts.append(at)
        at += seconds
        ends.append(at)
    yield make_summary(
        "sleep_cycle",
        _WATCH,
        {
            "session_start": start,
            "session_end": add_seconds(start, at),
            "stage_type": types,
            "stage_start_offset_second": starts,
            "stage_end_offset_second": ends,
        },
    )


def finish(reading: Reading) -> Iterator[Row]:
    """Yield days of their sums, and the latest height."""
    for day, (rows, fields) in reading.kept.get("withings days", {}).items():
        yield make_summary("activity", _PLAIN, {"calendar_date": day, **fields}, rows)
    if "withings height" in reading.kept:
        _at, meters = reading.kept["withings height"]
        yield make_summary("profile", _PLAIN, {"height": round(meters * 100)}, 0)


_FORMAT = ImportFormat.WITHINGS
FORMS = (
    Form("Withings weight", _FORMAT, _rows(_WEIGHT, _weight), columns=_WEIGHT),
    Form("Withings pressure", _FORMAT, _rows(_PRESSURE, _pressure), columns=_PRESSURE),
    Form("Withings height", _FORMAT, _rows(_HEIGHT, _height), columns=_HEIGHT),
    Form("Withings oxygen", _FORMAT, _rows(_OXYGEN, _oxygen), columns=_OXYGEN),
    Form(
        "Withings temperature",
        _FORMAT,
        _rows(_TEMPERATURE, _temperature),
        columns=_TEMPERATURE,
    ),
    Form("Withings sleep", _FORMAT, _rows(_NIGHT, _night), columns=_NIGHT),
    Form(
        "Withings activities", _FORMAT, _rows(_ACTIVITY, _activity), columns=_ACTIVITY
    ),
    Form(
        "Withings day sums",
        _FORMAT,
        _rows(_SUM, _sum),
        columns=_SUM,
        file=r"aggregates_\S+\.csv$",
    ),
    Form("Withings tracker", _FORMAT, _rows(_TRACKER, _track), columns=_TRACKER),
)
PROVIDER = "withings"
