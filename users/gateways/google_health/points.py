"""Convert Google Health's data points to resources.

As of google_health.client: times are UTC with the offset apart ("3600s"), whole numbers
are texts, distances millimeters, weights grams.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from users.states import SleepStage, SleepType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from users.gateways.google_health.client import Point

_STAGES = {
    "AWAKE": SleepStage.AWAKE,
    "RESTLESS": SleepStage.AWAKE,
    "REM": SleepStage.REM,
    "LIGHT": SleepStage.LIGHT,
    "DEEP": SleepStage.DEEP,
}


def convert_google_samples(
    points: Iterable[Point], key: str, field: str, scale: float = 1
) -> list[dict[str, Any]]:
    """Convert points of a moment; values are divided by `scale`."""
    found = []
    for each in _blocks(points, key):
        told = each.get("sampleTime")
        at = _time(told, "physicalTime", "utcOffset")
        value = _number(each.get(field))
        if at is not None and value is not None and value > 0:
            found.append({"timestamp": at.isoformat(), "value": value / scale})
    return found


def convert_google_intervals(
    points: Iterable[Point], key: str, field: str, scale: float = 1
) -> list[dict[str, Any]]:
    """Convert points of an interval."""
    found = []
    for each in _blocks(points, key):
        times, value = _interval(each), _number(each.get(field))
        if times is not None and value is not None and value >= 0:
            start, end = times
            found.append(
                {
                    "start": start.isoformat(),
                    "end": end.isoformat(),
                    "value": value / scale,
                }
            )
    return found


def convert_google_days(
    sums: Mapping[str, Iterable[Point]], resting: Iterable[Point]
) -> list[dict[str, Any]]:
    """Convert daily sums by data type, and resting heart rates, to days."""
    days: dict[str, dict[str, Any]] = {}
    fields = {
        "steps": ("steps", "countSum", "steps", 1),
        "distance": ("distance", "millimetersSum", "distance", 1000),
        "floors": ("floors", "countSum", "floors_climbed", 1),
        "active-energy-burned": ("activeEnergyBurned", "kcalSum", "calories_active", 1),
        "total-calories": ("totalCalories", "kcalSum", "calories_total", 1),
    }
    for kind, points in sums.items():
        key, field, name, scale = fields[kind]
        for each in points:
            day = _day((each.get("civilStartTime") or {}).get("date"))
            value = _number((each.get(key) or {}).get(field))
            if day is not None and value is not None:
                known = days.setdefault(day, {"calendar_date": day})
                whole = name in ("steps", "floors_climbed")
                known[name] = round(value) if whole else value / scale
    for block in _blocks(resting, "dailyRestingHeartRate"):
        day = _day(block.get("date"))
        rate = _number(block.get("beatsPerMinute"))
        if day is not None and rate:
            known = days.setdefault(day, {"calendar_date": day})
            known["heart_rate"] = {"resting_bpm": rate}
    return list(days.values())


def convert_google_sleeps(points: Iterable[Point]) -> list[dict[str, Any]]:
    """Convert sleeps that were processed."""
    found = []
    for point in points:
        sleep = _dict(point.get("sleep"))
        times = _interval(sleep)
        if times is None or not is_google_sleep_processed(point):
            continue
        start, end = times
        summary = _dict(sleep.get("summary"))
        stages = {
            str(each.get("type")): _seconds(each.get("minutes"))
            for each in summary.get("stagesSummary") or ()
            if isinstance(each, dict)
        }
        is_nap = _dict(sleep.get("metadata")).get("nap") is True
        found.append(
            {
                "external_id": _name(point),
                "bedtime_start": start.isoformat(),
                "bedtime_stop": end.isoformat(),
                "timezone_offset": _offset(start),
                "type": str(
                    SleepType.ACKNOWLEDGED_NAP if is_nap else SleepType.LONG_SLEEP
                ),
                "duration": int((end - start).total_seconds()),
                "total": _seconds(summary.get("minutesAsleep")),
                "awake": _seconds(summary.get("minutesAwake")) or 0,
                "latency": _seconds(summary.get("minutesToFallAsleep")),
                "light": stages.get("LIGHT") or 0,
                "rem": stages.get("REM") or 0,
                "deep": stages.get("DEEP") or 0,
            }
        )
    return found


def convert_google_stages(points: Iterable[Point]) -> list[dict[str, Any]]:
    """Convert the stages of sleeps, whose external_id is their sleep's."""
    cycles = []
    for point in points:
        sleep = _dict(point.get("sleep"))
        times = _interval(sleep)
        if times is None:
            continue
        start, end = times
        length, before = int((end - start).total_seconds()), 0
        stages = []
        for first, last, code in sorted(_stages(sleep, start)):
            begins, ends = max(first, before), min(last, length)
            if begins < ends:
                stages.append((code, begins, ends))
                before = ends
        if stages:
            cycles.append(
                {
                    "external_id": _name(point),
                    "session_start": start.isoformat(),
                    "session_end": end.isoformat(),
                    "stage_type": [code for code, _, _ in stages],
                    "stage_start_offset_second": [first for _, first, _ in stages],
                    "stage_end_offset_second": [last for _, _, last in stages],
                }
            )
    return cycles


def convert_google_exercises(points: Iterable[Point]) -> list[dict[str, Any]]:
    """Convert exercises."""
    found = []
    for point in points:
        exercise = _dict(point.get("exercise"))
        times = _interval(exercise)
        if times is None:
            continue
        start, end = times
        metrics = _dict(exercise.get("metricsSummary"))
        steps, active = (
            _number(metrics.get("steps")),
            _duration(exercise.get("activeDuration")),
        )
        rate = _number(metrics.get("averageHeartRateBeatsPerMinute"))
        found.append(
            {
                "external_id": _name(point),
                "provider_id": _name(point),
                "title": exercise.get("displayName"),
                "time_start": start.isoformat(),
                "time_end": end.isoformat(),
                "timezone_offset": _offset(start),
                "moving_time": None if active is None else round(active),
                "average_hr": round(rate) if rate else None,
                "distance": _scaled(metrics.get("distanceMillimeters")),
                "calories": _number(metrics.get("caloriesKcal")),
                "total_elevation_gain": _scaled(
                    metrics.get("elevationGainMillimeters")
                ),
                "average_speed": _scaled(
                    metrics.get("averageSpeedMillimetersPerSecond")
                ),
                "steps": None if steps is None else round(steps),
                "sport": _sport(exercise.get("exerciseType")),
            }
        )
    return found


def is_google_sleep_processed(point: Point) -> bool:
    """Return whether Google has finished with a sleep; it says so, or nothing."""
    metadata = _dict(_dict(point.get("sleep")).get("metadata"))
    return metadata.get("processed") is not False


def _blocks(points: Iterable[Point], key: str) -> Iterator[dict[str, Any]]:
    for each in points:
        block = each.get(key)
        if isinstance(block, dict):
            yield block


def _stages(sleep: dict[str, Any], start: datetime) -> Iterator[tuple[int, int, int]]:
    for each in sleep.get("stages") or ():
        begins, ends = (
            _time(each, "startTime", "startUtcOffset"),
            _time(each, "endTime", "endUtcOffset"),
        )
        if begins is not None and ends is not None:
            code = int(_STAGES.get(str(each.get("type")), SleepStage.UNKNOWN))
            first, last = (begins - start, ends - start)
            yield int(first.total_seconds()), int(last.total_seconds()), code


def _interval(block: dict[str, Any]) -> tuple[datetime, datetime] | None:
    told = block.get("interval")
    start = _time(told, "startTime", "startUtcOffset")
    end = _time(told, "endTime", "endUtcOffset")
    if start is None or end is None or end < start:
        return None
    return start, end


def _time(told: Any, key: str, offset_key: str) -> datetime | None:
    if not isinstance(told, dict):
        return None
    try:
        moment = datetime.fromisoformat(str(told.get(key)))
        offset = timezone(timedelta(seconds=_duration(told.get(offset_key)) or 0))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(offset)


def _duration(text: Any) -> float | None:
    """Parse a duration such as "3600s" or "-1.5s"."""
    if not isinstance(text, str) or not text.endswith("s"):
        return None
    return _number(text[:-1])


def _number(value: Any) -> float | None:
    """Return a number, or the text of one as Google writes whole numbers."""
    if type(value) is int or type(value) is float:
        return value
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _scaled(value: Any) -> float | None:
    number = _number(value)
    return None if number is None else number / 1000


def _seconds(minutes: Any) -> int | None:
    number = _number(minutes)
    return None if number is None else round(number * 60)


def _offset(moment: datetime) -> int:
    return int((moment.utcoffset() or timedelta(0)).total_seconds())


def _day(told: Any) -> str | None:
    try:
        return date(told["year"], told["month"], told["day"]).isoformat()
    except (TypeError, KeyError, ValueError):
        return None


def _name(point: Point) -> str | None:
    name = point.get("dataPointName")
    return name.rsplit("/", 1)[-1] if isinstance(name, str) and name else None


def _sport(kind: Any) -> dict[str, Any] | None:
    if not isinstance(kind, str) or not kind:
        return None
    slug = kind.lower()
    return {"id": 0, "name": slug.replace("_", " ").capitalize(), "slug": slug}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
