"""Samsung Health's archive: a CSV for each data type, named in its first line.

The second line is the header; its columns may have the type's name before them. Times
are UTC beside their offset, days are milliseconds of their midnight. Units, as
seen in public sample files (tests/bench/health_files.csv): kg, bpm, mmHg, mmol/L,
ml, °C, floors, kcal, meters, milliseconds.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

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
    parse_local_time,
    parse_number,
    parse_utc_offset,
    parse_whole,
    write_unix_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_ORIGIN = Origin(str(SourceType.PHONE))
# By the end of a type's name: columns and the resource that each becomes.
_SAMPLES: dict[str, dict[str, str]] = {
    "health.weight": {"weight": "body_weight", "body_fat": "body_fat"},
    "heart_rate": {"heart_rate": "heartrate"},
    "oxygen_saturation": {"spo2": "blood_oxygen"},
    "blood_glucose": {"glucose": "glucose"},
    "body_temperature": {"temperature": "body_temperature"},
    "water_intake": {"amount": "water"},
    "floors_climbed": {"floor": "floors_climbed"},
    "shealth.stress": {"score": "stress_level"},
    "respiratory_rate": {"average": "respiratory_rate"},
}
_STAGES = {"40001": 4, "40002": 2, "40003": 1, "40004": 3}
_STAGE_FIELDS = {4: "awake", 2: "light", 1: "deep", 3: "rem"}
# Numbers of exercises that most rows have (Samsung Health SDK, "Exercise types").
_SPORTS = {
    "1001": "walking",
    "1002": "running",
    "11007": "cycling",
    "13001": "hiking",
    "14001": "swimming",
    "15005": "elliptical trainer",
    "15006": "exercise bike",
    "10026": "circuit training",
    "9002": "yoga",
}
# Of step_daily_trend: the sum of all devices.
_ALL_DEVICES = "-2"
_HEADER = ("pkg_name|source_pkg_name", "datauuid")
_MARKER = r"com\.samsung\.\S*health\.[\w.]+,"


def _read(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
    type_ = head.text.split(",", 1)[0].strip().removeprefix("com.samsung.")
    columns = tuple(
        name
        for line in head.headers[1:2]
        for name in line.columns
        if "datauuid" in name
    )
    convert = _find_reader(type_)
    rows = 0
    for cells in iterate_cells(member, head, columns[:1], prefix=True):
        if isinstance(cells, SkippedRows):
            yield cells
        elif convert is None:
            rows += 1
        else:
            yield from convert(cells, reading)
    if rows:
        yield SkippedRows(DropReason.UNKNOWN_KIND, type_[:60], rows)


def _find_reader(type_: str) -> Any:
    readers = {
        "health.sleep_stage": _stage,
        "shealth.sleep": _night,
        "health.sleep": _night,
        "exercise": _exercise,
        "blood_pressure": _pressure,
        "pedometer_day_summary": _day,
        "step_daily_trend": _trend,
    }
    for end, reader in readers.items():
        if type_.endswith(end):
            return reader
    for end, columns in _SAMPLES.items():
        if type_.endswith(end) and "alerted" not in type_:
            return _sampler(columns)
    return None


def _at(cells: Cells, name: str) -> str | None:
    """Return a time in its own zone: the file writes it in UTC."""
    text = cells.first(name)
    if text.isdigit() and len(text) == 13:
        return write_unix_time(int(text) / 1000)
    local = parse_local_time(text)
    if local is None:
        return None
    fraction = text.partition(".")[2]
    return f"{local}.{fraction}+00:00" if fraction.isdigit() else f"{local}+00:00"


def _offset(cells: Cells) -> int | None:
    return parse_utc_offset(cells.first("time_offset"))


def _sampler(columns: dict[str, str]) -> Any:
    def convert(cells: Cells, _reading: Reading) -> Iterator[Row]:
        at, end = _at(cells, "start_time"), _at(cells, "end_time")
        found = 0
        for name, slug in columns.items():
            value = parse_number(cells.first(name))
            if value:
                found += 1
                offset = _offset(cells)
                yield make_sample(slug, _ORIGIN, value, at, end, timezone_offset=offset)
        if not found:
            yield SkippedRows(DropReason.NO_VALUE, next(iter(columns.values())))

    return convert


def _pressure(cells: Cells, _reading: Reading) -> Iterator[Row]:
    yield make_sample(
        "blood_pressure",
        _ORIGIN,
        parse_number(cells.first("systolic")),
        _at(cells, "start_time"),
        diastolic=parse_number(cells.first("diastolic")),
        timezone_offset=_offset(cells),
    )


def _night(cells: Cells, reading: Reading) -> Iterator[Row]:
    start, end = _at(cells, "start_time"), _at(cells, "end_time")
    if start is None or end is None:
        yield SkippedRows(DropReason.BAD_TIME, "sleep")
        return
    nights = reading.kept.setdefault("samsung nights", {})
    nights[cells.first("datauuid")] = {
        "bedtime_start": start,
        "bedtime_stop": end,
        "timezone_offset": _offset(cells),
        # 0 is what it writes of a night that nothing measured.
        "efficiency": parse_number(cells.first("efficiency")) or None,
        "score": parse_whole(cells.first("sleep_score")) or None,
    }


def _stage(cells: Cells, reading: Reading) -> Iterator[Row]:
    start, end = _at(cells, "start_time"), _at(cells, "end_time")
    stage = _STAGES.get(cells.first("stage"))
    if start is None or end is None or stage is None:
        yield SkippedRows(DropReason.NO_VALUE, "sleep_stage")
        return
    stages = reading.kept.setdefault("samsung stages", {})
    stages.setdefault(cells.first("sleep_id"), []).append((start, end, stage))
    yield MergedRows()


def _exercise(cells: Cells, _reading: Reading) -> Iterator[Row]:
    milliseconds = parse_number(cells.first("duration"))
    kind = cells.first("exercise_type")
    sport = _SPORTS.get(kind, f"exercise {kind}" if kind.isdigit() else "other")
    yield make_summary(
        "workouts",
        _ORIGIN,
        {
            "time_start": _at(cells, "start_time"),
            "time_end": _at(cells, "end_time"),
            "provider_id": cells.first("datauuid"),
            "timezone_offset": _offset(cells),
            "title": cells.first("title")[:1000],
            "sport": {**make_sport(sport), "id": int(kind) if kind.isdigit() else 0},
            "calories": parse_number(cells.first("calorie")),
            "distance": parse_number(cells.first("distance")),
            "moving_time": None if not milliseconds else round(milliseconds / 1000),
            "average_hr": parse_whole(cells.first("mean_heart_rate")) or None,
            "max_hr": parse_whole(cells.first("max_heart_rate")) or None,
            "average_speed": parse_number(cells.first("mean_speed")),
            "max_speed": parse_number(cells.first("max_speed")),
            "total_elevation_gain": parse_number(cells.first("altitude_gain")),
            "elev_high": parse_number(cells.first("max_altitude")),
            "elev_low": parse_number(cells.first("min_altitude")),
        },
    )


def _day(cells: Cells, reading: Reading) -> Iterator[Row]:
    """Keep a day of a device; a day of several is that of the most steps."""
    yield from _keep_day(
        reading,
        cells,
        parse_whole(cells.first("step_count")),
        parse_number(cells.first("distance")),
        parse_number(cells.first("calorie")),
    )


def _trend(cells: Cells, reading: Reading) -> Iterator[Row]:
    if cells.first("source_type") not in {_ALL_DEVICES, ""}:
        yield SkippedRows(DropReason.PART_OF_ANOTHER, "step_daily_trend")
        return
    yield from _keep_day(
        reading,
        cells,
        parse_whole(cells.first("count")),
        parse_number(cells.first("distance")),
        parse_number(cells.first("calorie")),
    )


def _keep_day(
    reading: Reading,
    cells: Cells,
    steps: int | None,
    meters: float | None,
    calories: float | None,
) -> Iterator[Row]:
    at = _at(cells, "day_time")
    if at is None or steps is None:
        yield SkippedRows(DropReason.NO_VALUE, "day")
        return
    day = {
        "calendar_date": at[:10],
        "steps": steps,
        "distance": meters,
        "calories_active": calories,
    }
    days = reading.kept.setdefault("samsung days", {})
    rows, before = days.get(at[:10], (0, None))
    days[at[:10]] = (
        rows + 1,
        day if before is None or before["steps"] < steps else before,
    )


def finish(reading: Reading) -> Iterator[Row]:
    """Yield nights with their stages, and days."""
    stages_of = reading.kept.get("samsung stages", {})
    nights = reading.kept.get("samsung nights", {})
    for name in stages_of.keys() - nights.keys():
        # Stages alone still say when they began and ended.
        yield from _cycle(
            min(each[0] for each in stages_of[name]),
            max(each[1] for each in stages_of[name]),
            stages_of[name],
        )
    for name, night in nights.items():
        start, end = night["bedtime_start"], night["bedtime_stop"]
        stages = _stages_within(start, end, stages_of.get(name, []))
        sums: dict[str, int] = {}
        for first, last, stage in stages:
            field = _STAGE_FIELDS[stage]
            sums[field] = sums.get(field, 0) + last - first
        yield make_summary("sleep", _ORIGIN, {**night, **sums})
        yield from _cycle(start, end, stages_of.get(name, []))
    for rows, day in reading.kept.get("samsung days", {}).values():
        yield make_summary("activity", _ORIGIN, day, rows)


def _cycle(start: str, end: str, given: list[tuple[str, str, int]]) -> Iterator[Row]:
    stages = _stages_within(start, end, given)
    if stages:
        yield make_summary(
            "sleep_cycle",
            _ORIGIN,
            {
                "session_start": start,
                "session_end": end,
                "stage_type": [each[2] for each in stages],
                "stage_start_offset_second": [each[0] for each in stages],
                "stage_end_offset_second": [each[1] for each in stages],
            },
            0,
        )


def _stages_within(
    bedtime: str, waking: str, stages: list[tuple[str, str, int]]
) -> list[tuple[int, int, int]]:
    """Return stages as seconds of the night, those that overlap the last one cut."""
    begins = datetime.fromisoformat(bedtime)
    lasts = datetime.fromisoformat(waking) - begins
    found: list[tuple[int, int, int]] = []
    before = 0
    for start, end, stage in sorted(stages):
        first, last = (
            int((datetime.fromisoformat(each) - begins).total_seconds())
            for each in (start, end)
        )
        first, last = max(first, before), min(last, int(lasts.total_seconds()))
        if first < last:
            found.append((first, last, stage))
            before = last
    return found


FORMS = (Form("Samsung Health", ImportFormat.SAMSUNG_HEALTH, _read, marker=_MARKER),)
PROVIDER = "samsung_health"
