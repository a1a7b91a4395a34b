"""Convert Suunto's workouts and 24/7 samples.

As clients of others read and measured them, 2026-11-27 (open-wearables; a published MCP
server): a sample is {timestamp, entryData}, with the offset of the watch in its time.
Durations are seconds, energies of samples joules and of workouts kilocalories,
SpO2 and Balance shares of one. A sleep is listed once for each time that the watch
computed it, all with one SleepId: the longest is the last. Times of workouts are
milliseconds since 1970, with their offset in minutes apart.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any

from users.gateways.suunto.sports import find_suunto_sport
from users.states import SleepType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from users.gateways.suunto.client import Record

_JOULES = 4184
_OFFSET_MAX = 14 * 60
_TITLE_MAX = 1000
# Ours: watches sample recovery twice an hour.
_AT_WAKING = timedelta(hours=1)
# By field of ours, that of a workout.
_NUMBERS = {
    "distance": "totalDistance",
    "calories": "energyConsumption",
    "total_elevation_gain": "totalAscent",
    "elev_high": "maxAltitude",
    "elev_low": "minAltitude",
    "average_speed": "avgSpeed",
    "max_speed": "maxSpeed",
    "average_watts": "avgPower",
    "max_watts": "maxPower",
}
# By resource, the field of an activity sample, and by what it is multiplied.
_SAMPLED = {
    "heartrate": ("HR", 1),
    "hrv": ("HRV", 1),
    "blood_oxygen": ("SpO2", 100),
}
# Ours: no heart beats slower, so that a value below is in another unit.
_LOWEST_RATE = 20


def convert_suunto_workouts(workouts: Iterable[Record]) -> list[dict[str, Any]]:
    """Convert workouts that have a start and an end."""
    found = []
    for each in workouts:
        key, start = each.get("workoutKey"), _moment(each.get("startTime"))
        if start is None or not isinstance(key, str) or not key:
            continue
        lasted = _number(each.get("totalTime"))
        end = _moment(each.get("stopTime"))
        if end is None and lasted is not None:
            end = start + timedelta(seconds=lasted)
        if end is None or end <= start:
            continue
        minutes = _number(each.get("timeOffsetInMinutes")) or 0
        offset = round(minutes) if abs(minutes) <= _OFFSET_MAX else 0
        zone = timezone(timedelta(minutes=offset))
        rates, name = each.get("hrdata"), each.get("workoutName") or each.get("name")
        rates = rates if isinstance(rates, dict) else {}
        found.append(
            {
                "external_id": key,
                "provider_id": key,
                "time_start": start.astimezone(zone).isoformat(),
                "time_end": end.astimezone(zone).isoformat(),
                "timezone_offset": offset * 60,
                "title": name[:_TITLE_MAX] if isinstance(name, str) else None,
                "sport": find_suunto_sport(each.get("activityId")),
                "moving_time": _whole(lasted),
                "steps": _whole(each.get("stepCount")),
                # `max` is the most that the user ever had.
                "average_hr": _rate(rates.get("workoutAvgHR") or rates.get("avg")),
                "max_hr": _rate(rates.get("workoutMaxHR") or rates.get("hrmax")),
                **{ours: _number(each.get(told)) for ours, told in _NUMBERS.items()},
            }
        )
    return [_known(each) for each in found]


def convert_suunto_sleeps(
    sleeps: Iterable[Record], recoveries: Iterable[Record]
) -> list[dict[str, Any]]:
    """Convert sleeps, each with the recovery that the watch had at waking."""
    longest: dict[Any, Record] = {}
    for _at, entry in _entries(sleeps):
        id_ = entry.get("SleepId")
        kept = longest.get(id_, {})
        if type(id_) is int and _length(entry) >= _length(kept):
            longest[id_] = entry
    balances = [
        (at, balance)
        for at, entry in _entries(recoveries)
        if (balance := _number(entry.get("Balance"))) is not None and 0 <= balance <= 1
    ]
    return [
        _known(found)
        for entry in longest.values()
        if (found := _convert_sleep(entry, balances)) is not None
    ]


def _convert_sleep(
    entry: Record, balances: list[tuple[datetime, float]]
) -> dict[str, Any] | None:
    start, end = _parse(entry.get("BedtimeStart")), _parse(entry.get("BedtimeEnd"))
    if start is None or end is None or end <= start:
        return None
    deep, light, rem = (
        _whole(entry.get(f"{name}SleepDuration")) for name in ("Deep", "Light", "REM")
    )
    length = round((end - start).total_seconds())
    asleep = sum(each or 0 for each in (deep, light, rem))
    near = [(abs(at - end), balance) for at, balance in balances]
    apart, balance = min(near, default=(_AT_WAKING * 2, 0.0))
    hrv = _number(entry.get("AvgHRV"))
    is_nap = entry.get("IsNap") is True
    return {
        "external_id": str(entry["SleepId"]),
        "bedtime_start": start.isoformat(),
        "bedtime_stop": end.isoformat(),
        "timezone_offset": _offset(start),
        "type": str(SleepType.ACKNOWLEDGED_NAP if is_nap else SleepType.LONG_SLEEP),
        "duration": length,
        "total": asleep or None,
        "awake": max(0, length - asleep) if asleep else None,
        "deep": deep,
        "light": light,
        "rem": rem,
        # 0 says that there is none.
        "score": _whole(entry.get("SleepQualityScore")) or None,
        "latency": _whole(entry.get("SleepOnsetLatencyDuration")),
        "hr_average": _rate(entry.get("HRAvg")),
        "hr_lowest": _rate(entry.get("HRMin")),
        "average_hrv": hrv or None,
        "recovery_readiness_score": round(balance * 100)
        if apart <= _AT_WAKING and not is_nap
        else None,
    }


def convert_suunto_samples(
    resource: str, samples: Iterable[Record]
) -> list[dict[str, Any]]:
    """Convert one measure of activity samples; an absent or zero one is none."""
    field, factor = _SAMPLED[resource]
    found = {}
    for at, entry in _entries(samples):
        value = _number(entry.get(field))
        if not value or value < 0 or (field == "HR" and value < _LOWEST_RATE):
            continue
        # A sample may be listed twice.
        found[at] = {"timestamp": at.isoformat(), "value": value * factor}
    return list(found.values())


def convert_suunto_days(sums: Iterable[Record], zone: tzinfo) -> list[dict[str, Any]]:
    """Convert the day's sums of steps and energy; a day without any is none.

    A time without an offset is UTC. Of several watches the one with more counts, as
    both may have counted the same steps.
    """
    days: dict[str, dict[str, Any]] = {}
    for each in sums:
        name, sources = each.get("Name"), each.get("Sources")
        for source in sources if isinstance(sources, list) else ():
            samples = source.get("Samples") if isinstance(source, dict) else None
            for sample in samples if isinstance(samples, list) else ():
                at = _parse(sample.get("TimeISO8601"), naive=zone)
                value = _number(sample.get("Value"))
                if at is None or value is None:
                    continue
                day = days.setdefault(at.date().isoformat(), {})
                if name == "stepcount":
                    day["steps"] = max(day.get("steps", 0), round(value))
                elif name == "energyconsumption":
                    spent = round(value / _JOULES, 1)
                    day["calories_total"] = max(day.get("calories_total", 0), spent)
    return [
        {"external_id": day, "calendar_date": day, **found}
        for day, found in days.items()
        if found
    ]


def _entries(samples: Iterable[Record]) -> list[tuple[datetime, Record]]:
    return [
        (at, entry)
        for each in samples
        if (at := _parse(each.get("timestamp"))) is not None
        and isinstance(entry := each.get("entryData"), dict)
    ]


def _known(element: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in element.items() if value is not None}


def _length(entry: Record) -> float:
    return _number(entry.get("Duration")) or 0.0


def _moment(milliseconds: object) -> datetime | None:
    value = _number(milliseconds)
    try:
        return None if value is None else datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _parse(text: object, *, naive: tzinfo | None = None) -> datetime | None:
    """Parse a time with an offset; one without, in UTC, moves to `naive`."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if moment is None or moment.tzinfo or naive is None:
        return moment if moment is not None and moment.tzinfo else None
    return moment.replace(tzinfo=UTC).astimezone(naive)


def _offset(moment: datetime) -> int:
    offset = moment.utcoffset()
    return round(offset.total_seconds()) if offset is not None else 0


def _number(value: object) -> float | None:
    return value if type(value) in (int, float) else None  # type: ignore[return-value]  # one of the two


def _whole(value: object) -> int | None:
    number = _number(value)
    return None if number is None or number < 0 else round(number)


def _rate(value: object) -> int | None:
    number = _number(value)
    return None if number is None or number < _LOWEST_RATE else round(number)
