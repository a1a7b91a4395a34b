"""Convert Oura's nights to resources.

Pure: documents of its collections in, elements of contract 4 and 5.2 out. A document
that lacks what an element needs makes none.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from users.gateways.oura.values import (
    Document,
    build_samples_at_fixed_interval,
    is_json_number,
    parse_time_with_offset,
    parse_utc_offset,
    round_number_or_none,
)
from users.states import SensorLocation, SleepStage, SleepType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

# A sleep that the user deleted, or said was none.
_NO_SLEEPS = frozenset({"deleted", "rest"})
_TYPES = {
    "long_sleep": SleepType.LONG_SLEEP,
    "sleep": SleepType.ACKNOWLEDGED_NAP,
    "late_nap": SleepType.ACKNOWLEDGED_NAP,
}
_STAGES = {
    "1": SleepStage.DEEP,
    "2": SleepStage.LIGHT,
    "3": SleepStage.REM,
    "4": SleepStage.AWAKE,
}
# By key of the document, finest first: seconds of each character.
_PHASES = (("sleep_phase_30_sec", 30), ("sleep_phase_5_min", 300))


def convert_oura_sleeps(
    sleeps: Iterable[Document],
    *,
    daily_sleep: Iterable[Document] = (),
    daily_readiness: Iterable[Document] = (),
) -> list[dict[str, Any]]:
    """Convert sleeps; a day's scores go to its longest night."""
    kept = _real(sleeps)
    scores = {each.get("day"): each for each in daily_sleep}
    readiness = {each.get("day"): each for each in daily_readiness}
    longest = {id(each) for each in find_longest_sleep_of_each_day(kept).values()}
    return [
        _sleep(
            each,
            scores.get(each.get("day"), {}) if id(each) in longest else {},
            readiness.get(each.get("day"), {}) if id(each) in longest else {},
        )
        for each in kept
    ]


def _sleep(sleep: Document, day: Document, day_readiness: Document) -> dict[str, Any]:
    own = sleep.get("readiness") or {}
    temperature = own.get("temperature_deviation")
    if temperature is None:
        temperature = day_readiness.get("temperature_deviation")
    readiness = own.get("score")
    if readiness is None:
        readiness = day_readiness.get("score")
    return {
        "external_id": sleep.get("id"),
        "calendar_date": sleep.get("day"),
        "bedtime_start": sleep["bedtime_start"],
        "bedtime_stop": sleep["bedtime_end"],
        "timezone_offset": parse_utc_offset(sleep["bedtime_start"]),
        "type": str(_TYPES.get(sleep.get("type") or "", SleepType.UNKNOWN)),
        "duration": round_number_or_none(sleep.get("time_in_bed")),
        "total": round_number_or_none(sleep.get("total_sleep_duration")),
        "awake": round_number_or_none(sleep.get("awake_time")),
        "light": round_number_or_none(sleep.get("light_sleep_duration")),
        "rem": round_number_or_none(sleep.get("rem_sleep_duration")),
        "deep": round_number_or_none(sleep.get("deep_sleep_duration")),
        "latency": round_number_or_none(sleep.get("latency")),
        "efficiency": sleep.get("efficiency"),
        "score": round_number_or_none(day.get("score")),
        "recovery_readiness_score": round_number_or_none(readiness),
        "hr_lowest": round_number_or_none(sleep.get("lowest_heart_rate")),
        "hr_average": round_number_or_none(sleep.get("average_heart_rate")),
        "average_hrv": sleep.get("average_hrv"),
        "respiratory_rate": sleep.get("average_breath"),
        "temperature_delta": temperature,
    }


def convert_oura_sleep_stages(
    sleeps: Iterable[Document], *, fallback: tzinfo
) -> list[dict[str, Any]]:
    """Convert the stages of each sleep that has them, at the finest resolution.

    Its external_id is its sleep's. `fallback` is the zone that the user's data is of
    where a session names none: a session elsewhere names its offset's own zone.
    """
    cycles = []
    for sleep in _real(sleeps):
        start, end = (
            parse_time_with_offset(sleep["bedtime_start"]),
            parse_time_with_offset(sleep["bedtime_end"]),
        )
        stages = _stages(sleep, int((end - start).total_seconds()))
        if stages:
            codes, starts, ends = (list(column) for column in zip(*stages, strict=True))
            cycles.append(
                {
                    "external_id": sleep.get("id"),
                    "session_start": sleep["bedtime_start"],
                    "session_end": sleep["bedtime_end"],
                    "stage_type": codes,
                    "stage_start_offset_second": starts,
                    "stage_end_offset_second": ends,
                    "time_zone": _zone_elsewhere(start, fallback),
                }
            )
    return cycles


def _stages(sleep: Document, length: int) -> list[tuple[int, int, int]]:
    """Return code, start and end of each stage, cut to the session."""
    step, phases = next(
        ((step, sleep[name]) for name, step in _PHASES if sleep.get(name)), (0, "")
    )
    stages = []
    at = 0
    for character, run in groupby(phases):
        ends = at + step * sum(1 for _ in run)
        if at < length:
            code = _STAGES.get(character, SleepStage.UNKNOWN)
            stages.append((int(code), at, min(ends, length)))
        at = ends
    return stages


def _zone_elsewhere(start: datetime, fallback: tzinfo) -> str | None:
    """Return the zone of an offset that differs from the fallback's, or None.

    Oura tells no IANA zone. Offsets that are no whole hours have no zone of their own.
    """
    offset = start.utcoffset() or timedelta(0)
    if offset == start.astimezone(fallback).utcoffset():
        return None
    hours, rest = divmod(int(offset.total_seconds()), 3600)
    # The names of these zones count westwards.
    return None if rest or not -12 <= hours <= 14 else f"Etc/GMT{-hours:+d}"


def convert_oura_sleep_hrv(sleeps: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert heart rate variability in sleep, every five minutes."""
    return [
        each
        for sleep in _real(sleeps)
        for each in build_samples_at_fixed_interval(sleep.get("hrv"))
    ]


def convert_oura_sleep_heart_rates(sleeps: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert heart rates in sleep, every five minutes."""
    return [
        each
        for sleep in _real(sleeps)
        for each in build_samples_at_fixed_interval(sleep.get("heart_rate"))
    ]


def convert_oura_temperature_deviations(
    sleeps: Iterable[Document],
) -> list[dict[str, Any]]:
    """Convert each night's deviation of the finger temperature."""
    return [
        {
            **_interval(sleep),
            "value": sleep["readiness"]["temperature_deviation"],
            "sensor_location": str(SensorLocation.FINGER),
        }
        for sleep in _real(sleeps)
        if is_json_number((sleep.get("readiness") or {}).get("temperature_deviation"))
    ]


def convert_oura_blood_oxygen(
    sleeps: Iterable[Document], daily_spo2: Iterable[Document]
) -> list[dict[str, Any]]:
    """Convert a night's mean saturation, dated its end; Oura sends only the day.

    Source: Ours: Oura measures it in sleep. A night that is not there yet brings its
    value once it is: pulls overlap.
    """
    nights = find_longest_sleep_of_each_day(_real(sleeps))
    return [
        {
            "timestamp": nights[each["day"]]["bedtime_end"],
            "timezone_offset": parse_utc_offset(nights[each["day"]]["bedtime_end"]),
            "value": average,
        }
        for each in daily_spo2
        if is_json_number(average := (each.get("spo2_percentage") or {}).get("average"))
        and average > 0
        and each.get("day") in nights
    ]


def convert_oura_breathing_disturbances(
    sleeps: Iterable[Document], daily_spo2: Iterable[Document]
) -> list[dict[str, Any]]:
    """Convert a night's breathing disturbance index, over its night."""
    nights = find_longest_sleep_of_each_day(_real(sleeps))
    return [
        {**_interval(nights[each["day"]]), "value": index}
        for each in daily_spo2
        if is_json_number(index := each.get("breathing_disturbance_index"))
        and each.get("day") in nights
    ]


def find_longest_sleep_of_each_day(sleeps: Sequence[Document]) -> dict[Any, Document]:
    """Return the longest of the long sleeps of each day."""
    nights: dict[Any, Document] = {}
    for sleep in sleeps:
        if sleep.get("type") == "long_sleep":
            known = nights.setdefault(sleep.get("day"), sleep)
            if _length(sleep) > _length(known):
                nights[sleep.get("day")] = sleep
    return nights


def _real(sleeps: Iterable[Document]) -> list[Document]:
    """Return the sleeps that were real and have a start and an end."""
    return [
        each
        for each in sleeps
        if each.get("type") not in _NO_SLEEPS
        and parse_utc_offset(each.get("bedtime_start")) is not None
        and parse_utc_offset(each.get("bedtime_end")) is not None
        and _length(each) > timedelta(0)
    ]


def _length(sleep: Document) -> timedelta:
    return parse_time_with_offset(sleep["bedtime_end"]) - parse_time_with_offset(
        sleep["bedtime_start"]
    )


def _interval(sleep: Document) -> dict[str, Any]:
    return {
        "start": sleep["bedtime_start"],
        "end": sleep["bedtime_end"],
        "timezone_offset": parse_utc_offset(sleep["bedtime_start"]),
    }
