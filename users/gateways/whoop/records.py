"""Convert WHOOP's sleeps, recoveries, workouts and measurements to resources.

Verified in its OpenAPI document 2.0.0 on 2026-11-24: times are UTC with the offset
apart, durations milliseconds, energies kilojoules, distances meters. Values are there
only where `score_state` is SCORED; a recovery belongs to the sleep of `sleep_id`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from users.states import SleepType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from users.gateways.whoop.client import Record

SCORED = "SCORED"
PENDING = "PENDING_SCORE"
_KILOJOULES = 4.184
_ZONES = ("one", "two", "three", "four", "five")
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)


def convert_whoop_sleeps(
    sleeps: Iterable[Record], recoveries: Iterable[Record]
) -> list[dict[str, Any]]:
    """Convert sleeps that were scored, each with its recovery."""
    by_sleep = {
        each.get("sleep_id"): each.get("score") or {}
        for each in recoveries
        if each.get("score_state") == SCORED
    }
    return [
        _convert_sleep(each, by_sleep.get(each.get("id"), {}))
        for each in sleeps
        if is_whoop_scored(each)
    ]


def _convert_sleep(sleep: Record, recovery: dict[str, Any]) -> dict[str, Any]:
    score = sleep["score"]
    stages = score.get("stage_summary") or {}

    def seconds(name: str) -> int | None:
        return _divide(stages.get(f"total_{name}_time_milli"), 1000)

    asleep = [seconds(name) for name in ("light_sleep", "rem_sleep", "slow_wave_sleep")]
    light, rem, deep = (each or 0 for each in asleep)
    kind = SleepType.ACKNOWLEDGED_NAP if sleep.get("nap") else SleepType.LONG_SLEEP
    return {
        "external_id": sleep["id"],
        "bedtime_start": _local(sleep, "start"),
        "bedtime_stop": _local(sleep, "end"),
        "timezone_offset": _offset(sleep),
        "type": str(kind),
        "duration": seconds("in_bed"),
        "total": light + rem + deep if None not in asleep else None,
        "awake": seconds("awake") or 0,
        "light": light,
        "rem": rem,
        "deep": deep,
        "score": _round(score.get("sleep_performance_percentage"), low=1),
        "efficiency": score.get("sleep_efficiency_percentage"),
        "respiratory_rate": score.get("respiratory_rate"),
        "recovery_readiness_score": _round(recovery.get("recovery_score")),
        "hr_resting": _round(recovery.get("resting_heart_rate"), low=1),
        "average_hrv": recovery.get("hrv_rmssd_milli"),
        "skin_temperature": recovery.get("skin_temp_celsius"),
    }


def convert_whoop_workouts(workouts: Iterable[Record]) -> list[dict[str, Any]]:
    """Convert workouts that were scored; zone 0 is below the five that we have."""
    found = []
    for each in workouts:
        if not is_whoop_scored(each):
            continue
        score = each["score"]
        zones = score.get("zone_durations") or {}
        spent = [_divide(zones.get(f"zone_{name}_milli"), 1000) for name in _ZONES]
        kilojoules = score.get("kilojoule")
        found.append(
            {
                "external_id": each["id"],
                "provider_id": each["id"],
                "time_start": _local(each, "start"),
                "time_end": _local(each, "end"),
                "timezone_offset": _offset(each),
                "average_hr": score.get("average_heart_rate") or None,
                "max_hr": score.get("max_heart_rate") or None,
                "distance": score.get("distance_meter"),
                "calories": round(kilojoules / _KILOJOULES, 1)
                if _is_number(kilojoules)
                else None,
                "total_elevation_gain": score.get("altitude_gain_meter"),
                "hr_zones": None if None in spent else spent,
                "sport": _sport(each.get("sport_name")),
            }
        )
    return found


def convert_whoop_profile(measured: Record) -> list[dict[str, Any]]:
    """Convert the height; weight has no date there, so that it makes no sample."""
    height = measured.get("height_meter")
    return [{"height": round(height * 100)}] if _is_number(height) and height else []


def is_whoop_scored(record: Record) -> bool:
    """Return whether a record has its times and values."""
    return (
        record.get("score_state") == SCORED
        and isinstance(record.get("score"), dict)
        and isinstance(record.get("id"), str)
        and _parse(record.get("start")) is not None
        and _parse(record.get("end")) is not None
    )


def _sport(name: object) -> dict[str, Any] | None:
    """Return WHOOP's name of a sport, whose number it gave up."""
    if not isinstance(name, str) or not name:
        return None
    slug = name.strip().lower().replace(" ", "_").replace("-", "_")
    return {"id": 0, "name": slug.replace("_", " ").capitalize(), "slug": slug}


def _local(record: Record, key: str) -> str:
    """Return a time with the offset of the record."""
    moment = _parse(record[key]) or datetime.min.replace(tzinfo=UTC)
    zone = timezone(timedelta(seconds=_offset(record)))
    return moment.astimezone(zone).isoformat(timespec="seconds")


def _offset(record: Record) -> int:
    """Return the offset of a record in seconds; Z and an unknown one are UTC."""
    found = _OFFSET.fullmatch(str(record.get("timezone_offset") or ""))
    if not found:
        return 0
    sign, hours, minutes = found.groups()
    return (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)


def _parse(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo else None


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _divide(value: Any, by: int) -> int | None:
    return round(value / by) if _is_number(value) else None


def _round(value: Any, low: int = 0) -> int | None:
    return round(value) if _is_number(value) and round(value) >= low else None
