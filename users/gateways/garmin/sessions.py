"""Convert Garmin's nights, activities and recordings to resources.

As of garmin.client (Health API 7.3, Activity API).
"""

from __future__ import annotations

import base64
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from users.gateways.base import PulledBatch, PulledDevice
from users.gateways.garmin.values import (
    Summary,
    make_batch,
    read_count,
    read_list,
    read_number,
    read_offset,
    read_rate,
    read_start,
    read_text,
    read_values,
)
from users.states import SleepStage, SleepState, SleepType, SourceType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from users.gateways.garmin.values import Batches

_WATCH, _APP = SourceType.WATCH, SourceType.APP
_STAGES = {
    "awake": SleepStage.AWAKE,
    "rem": SleepStage.REM,
    "light": SleepStage.LIGHT,
    "deep": SleepStage.DEEP,
}


def convert_sleep(nights: list[Summary], _zone: tzinfo) -> Batches:
    """Convert nights, by the date that Garmin shows them at, and naps.

    A night that is refined may begin at another time: its date identifies it.
    """
    typed: list[Summary] = []
    worn: list[Summary] = []
    for each in nights:
        times = _night(each)
        if times is None:
            continue
        start, end = times
        light, rem, deep = (
            read_count(each, name) or 0
            for name in (
                "lightSleepDurationInSeconds",
                "remSleepInSeconds",
                "deepSleepDurationInSeconds",
            )
        )
        validation = str(each.get("validation") or "")
        tentative = validation.endswith("TENTATIVE")
        breaths = [
            value for _, value in read_values(each, "timeOffsetSleepRespiration")
        ]
        score = each.get("overallSleepScore")
        element = {
            "external_id": _night_id(each),
            "calendar_date": read_text(each, "calendarDate"),
            "bedtime_start": start.isoformat(),
            "bedtime_stop": end.isoformat(),
            "timezone_offset": read_offset(each),
            "type": str(SleepType.LONG_SLEEP),
            "state": str(SleepState.TENTATIVE if tentative else SleepState.CONFIRMED),
            "total": read_count(each, "durationInSeconds"),
            "awake": read_count(each, "awakeDurationInSeconds") or 0,
            "light": light,
            "rem": rem,
            "deep": deep,
            "score": (read_count(score, "value") if isinstance(score, dict) else None)
            or None,
            "respiratory_rate": round(sum(breaths) / len(breaths), 2)
            if breaths
            else None,
        }
        (typed if validation == "MANUAL" else worn).append(element)
        worn += list(_naps(each))
    return (*make_batch("sleep", _WATCH, worn), *make_batch("sleep", _APP, typed))


def _naps(night: Summary) -> Iterator[Summary]:
    for nap in read_list(night, "naps"):
        start = read_start(nap, "napStartTimeInSeconds", "napOffsetInSeconds")
        length = read_count(nap, "napDurationInSeconds")
        if start is not None and length:
            yield {
                "external_id": f"nap-{int(start.timestamp())}",
                "bedtime_start": start.isoformat(),
                "bedtime_stop": (start + timedelta(seconds=length)).isoformat(),
                "timezone_offset": read_offset(nap, "napOffsetInSeconds"),
                "type": str(SleepType.ACKNOWLEDGED_NAP),
                "total": length,
            }


def convert_stages(nights: list[Summary], _zone: tzinfo) -> Batches:
    """Convert the stages of nights, whose external_id is their sleep's."""
    cycles = []
    for each in nights:
        times = _night(each)
        if times is None:
            continue
        start, end = times
        length = int((end - start).total_seconds())
        stages, before = [], 0
        for begins, ends, stage in sorted(_levels(each)):
            first = max(begins - int(start.timestamp()), before)
            last = min(ends - int(start.timestamp()), length)
            if first < last:
                stages.append((stage, first, last))
                before = last
        if stages:
            cycles.append(
                {
                    "external_id": _night_id(each),
                    "session_start": start.isoformat(),
                    "session_end": end.isoformat(),
                    "stage_type": [stage for stage, _, _ in stages],
                    "stage_start_offset_second": [first for _, first, _ in stages],
                    "stage_end_offset_second": [last for _, _, last in stages],
                }
            )
    return make_batch("sleep_cycle", _WATCH, cycles)


def convert_workouts(activities: list[Summary], _zone: tzinfo) -> Batches:
    """Convert activities; of one with legs the legs alone, which have all of it."""
    by_origin: dict[tuple[SourceType, str], list[Summary]] = defaultdict(list)
    for each in activities:
        start, length = read_start(each), read_count(each, "durationInSeconds")
        if start is None or not length or each.get("isParent") is True:
            continue
        found = {
            "external_id": read_activity_id(each),
            "provider_id": read_activity_id(each),
            "title": read_text(each, "activityName"),
            "time_start": start.isoformat(),
            "time_end": (start + timedelta(seconds=length)).isoformat(),
            "timezone_offset": read_offset(each),
            "average_hr": read_rate(each, "averageHeartRateInBeatsPerMinute"),
            "max_hr": read_rate(each, "maxHeartRateInBeatsPerMinute"),
            "distance": read_number(each, "distanceInMeters"),
            "calories": read_number(each, "activeKilocalories"),
            "total_elevation_gain": read_number(each, "totalElevationGainInMeters"),
            "average_speed": read_number(each, "averageSpeedInMetersPerSecond"),
            "max_speed": read_number(each, "maxSpeedInMetersPerSecond"),
            "steps": read_count(each, "steps"),
            "sport": _sport(each),
        }
        device = (
            "" if each.get("manual") is True else read_text(each, "deviceName") or ""
        )
        kind = _APP if each.get("manual") is True else _WATCH
        by_origin[kind, device].append(found)
    return tuple(
        PulledBatch(
            "workouts",
            elements,
            kind,
            device=PulledDevice(device, "Garmin", device) if device else None,
        )
        for (kind, device), elements in by_origin.items()
    )


def convert_recordings(recordings: list[Summary], _zone: tzinfo) -> Batches:
    """Return recordings as they are."""
    return make_batch("workout_stream", _WATCH, recordings)


def make_garmin_recording(ping: Summary, file: bytes) -> Summary:
    """Return an activity file under the ID of its activity."""
    return {
        "external_id": read_activity_id(ping),
        "fit": base64.b64encode(file).decode(),
    }


def _night(each: Summary) -> tuple[datetime, datetime] | None:
    """Return when a night began and ended: its duration has no time awake."""
    start, asleep = read_start(each), read_count(each, "durationInSeconds")
    if start is None or not asleep:
        return None
    awake = read_count(each, "awakeDurationInSeconds") or 0
    unmeasured = (
        read_count(each, "unmeasurableSleepInSeconds")
        or read_count(each, "unmeasurableSleepDurationInSeconds")
        or 0
    )
    return start, start + timedelta(seconds=asleep + awake + unmeasured)


def _night_id(each: Summary) -> str | None:
    return read_text(each, "calendarDate") or read_text(each, "summaryId")


def read_activity_id(each: Summary) -> str | None:
    """Return the ID of an activity, else of its summary."""
    found = each.get("activityId")
    return str(found) if found else read_text(each, "summaryId")


def _levels(night: Summary) -> Iterator[tuple[int, int, int]]:
    levels = night.get("sleepLevelsMap")
    for name, parts in levels.items() if isinstance(levels, dict) else ():
        stage = int(_STAGES.get(str(name).lower(), SleepStage.UNKNOWN))
        for each in parts if isinstance(parts, list) else ():
            begins, ends = (
                each.get(key) for key in ("startTimeInSeconds", "endTimeInSeconds")
            )
            if type(begins) is int and type(ends) is int:
                yield begins, ends, stage


def _sport(each: Summary) -> dict[str, Any] | None:
    name = read_text(each, "activityType")
    if name is None:
        return None
    slug = name.strip().lower()
    return {"id": 0, "name": slug.replace("_", " ").capitalize(), "slug": slug}
