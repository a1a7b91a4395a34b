"""Oura's data: nights, days and heart rates, as JSON of its API 2 or flattened CSV.

Fields: Oura API 2, document 1.37 (users.gateways.oura.resources). An element's id is
kept, so that the same night by cloud and by file is one. sleep_phase_5_min: 1 deep, 2
light, 3 REM, 4 awake.
"""

from __future__ import annotations

from datetime import datetime
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
from users.wearables.formats.uploads.values import parse_number, parse_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_RING = Origin(str(SourceType.RING))
_SLEEP = ("bedtime_start", "bedtime_end", "total_sleep_duration")
_HEART = ("timestamp", "bpm", "source")
_DAY = ("day", "steps", "active_calories")
_WORKOUT = ("activity", "start_datetime", "end_datetime")
_PHASE_SECONDS = 300
_PHASES = {"1": 1, "2": 2, "3": 3, "4": 4}
_TYPES = {"long_sleep": "long_sleep", "sleep": "short_sleep", "rest": "unknown"}


def _sleep(night: Mapping[str, Any]) -> Iterator[Row]:
    start, end = night.get("bedtime_start"), night.get("bedtime_end")
    if not start or not end or night.get("type") == "deleted":
        yield SkippedRows(DropReason.NO_VALUE, "sleep")
        return
    named = {"external_id": night.get("id")}
    yield make_summary(
        "sleep",
        _RING,
        {
            **named,
            "calendar_date": _iso_day(night.get("day")),
            "bedtime_start": str(start),
            "bedtime_stop": str(end),
            "timezone_offset": _offset(str(start)),
            "type": _TYPES.get(str(night.get("type")), "unknown"),
            "duration": parse_whole(night.get("time_in_bed")),
            "total": parse_whole(night.get("total_sleep_duration")),
            "awake": parse_whole(night.get("awake_time")),
            "light": parse_whole(night.get("light_sleep_duration")),
            "rem": parse_whole(night.get("rem_sleep_duration")),
            "deep": parse_whole(night.get("deep_sleep_duration")),
            "score": parse_whole(night.get("score")),
            "hr_lowest": parse_whole(night.get("lowest_heart_rate")) or None,
            "hr_average": parse_whole(night.get("average_heart_rate")) or None,
            "efficiency": parse_number(night.get("efficiency")),
            "latency": parse_whole(night.get("latency")),
            "average_hrv": parse_number(night.get("average_hrv")),
            "respiratory_rate": parse_number(night.get("average_breath")),
        },
    )
    stages = _stages(str(night.get("sleep_phase_5_min") or ""), str(start), str(end))
    if stages:
        yield make_summary("sleep_cycle", _RING, {**named, **stages}, 0)


def _stages(phases: str, start: str, end: str) -> dict[str, Any] | None:
    """Return the stages of a night, alike ones after each other as one."""
    try:
        begins, ends = datetime.fromisoformat(start), datetime.fromisoformat(end)
    except ValueError:
        return None
    lasted = int((ends - begins).total_seconds())
    found: list[list[int]] = []
    for number, sign in enumerate(phases):
        first = number * _PHASE_SECONDS
        last = min(first + _PHASE_SECONDS, lasted)
        if sign not in _PHASES or first >= last:
            return None
        if found and found[-1][0] == _PHASES[sign]:
            found[-1][2] = last
        else:
            found.append([_PHASES[sign], first, last])
    if not found:
        return None
    return {
        "session_start": start,
        "session_end": end,
        "stage_type": [each[0] for each in found],
        "stage_start_offset_second": [each[1] for each in found],
        "stage_end_offset_second": [each[2] for each in found],
    }


def _heart(row: Mapping[str, Any]) -> Iterator[Row]:
    at = row.get("timestamp")
    yield make_sample("heartrate", _RING, parse_number(row.get("bpm")), at)


def _day(day: Mapping[str, Any]) -> Iterator[Row]:
    def minutes(name: str) -> float | None:
        seconds = parse_number(day.get(name))
        return None if seconds is None else seconds / 60

    yield make_summary(
        "activity",
        _RING,
        {
            "external_id": day.get("id"),
            "calendar_date": _iso_day(day.get("day")),
            "calories_total": parse_number(day.get("total_calories")),
            "calories_active": parse_number(day.get("active_calories")),
            "steps": parse_whole(day.get("steps")),
            "daily_movement": parse_number(day.get("equivalent_walking_distance")),
            "low": minutes("low_activity_time"),
            "medium": minutes("medium_activity_time"),
            "high": minutes("high_activity_time"),
        },
    )


def _workout(workout: Mapping[str, Any]) -> Iterator[Row]:
    yield make_summary(
        "workouts",
        _RING,
        {
            "external_id": workout.get("id"),
            "provider_id": workout.get("id"),
            "time_start": workout.get("start_datetime"),
            "time_end": workout.get("end_datetime"),
            "sport": make_sport(str(workout.get("activity") or "")),
            "calories": parse_number(workout.get("calories")),
            "distance": parse_number(workout.get("distance")),
        },
    )


def _iso_day(day: object) -> str | None:
    """Return a day in ISO 8601; None for one whose order is unclear."""
    text = str(day or "")
    return text if len(text) == 10 and text[4] == "-" else None


def _offset(iso: str) -> int | None:
    try:
        offset = datetime.fromisoformat(iso).utcoffset()
    except ValueError:
        return None
    return None if offset is None else int(offset.total_seconds())


# What the JSON of an account has, by its key, and how it is read.
_KINDS: dict[str, Any] = {
    "sleep": _sleep,
    "heartrate": _heart,
    "heart_rate": _heart,
    "daily_activity": _day,
    "workout": _workout,
}


def _csv(columns: tuple[str, ...], convert: Any) -> Any:
    def read(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
        for cells in iterate_cells(member, head, columns):
            if isinstance(cells, SkippedRows):
                yield cells
            else:
                yield from convert(
                    {name: cell for name, cell in cells.items() if cell.strip()}
                )

    return read


def _json(prefix: str) -> Any:
    """Return a reader of JSON whose lists by kind are below a prefix."""

    def read(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
        for kind in head.keys.get(prefix, ()):
            convert = _KINDS.get(kind)
            place = ".".join(each for each in (prefix, kind) if each)
            rows = 0
            for item in iterate_items(member, f"{place}.item"):
                if convert is None or not isinstance(item, dict):
                    rows += 1
                else:
                    yield from convert(item)
            if rows:
                yield SkippedRows(DropReason.UNKNOWN_KIND, kind[:60], rows)

    return read


_FORMAT = ImportFormat.OURA
FORMS = (
    Form("Oura sleep", _FORMAT, _csv(_SLEEP, _sleep), columns=_SLEEP),
    Form("Oura heart rate", _FORMAT, _csv(_HEART, _heart), columns=_HEART),
    Form("Oura days", _FORMAT, _csv(_DAY, _day), columns=_DAY),
    Form("Oura workouts", _FORMAT, _csv(_WORKOUT, _workout), columns=_WORKOUT),
    *(
        Form(f"Oura {kind}", _FORMAT, _json(prefix), kind="json", keys=keys)
        for kind, prefix, keys in (
            ("sleep", "", (("sleep.item", ("bedtime_start", "bedtime_end")),)),
            ("days", "", (("daily_activity.item", ("day", "met")),)),
            ("account", "data", (("data", ("daily_activity", "daily_sleep")),)),
            ("account", "data", (("data.daily_sleep.item", ("contributors",)),)),
        )
    ),
)
PROVIDER = "oura"
