"""Convert Polar's nights, recharges, days, exercises and heart rates to resources.

Verified in its swagger.yaml (v3) on 2026-11-24:
- Nights have an offset; the clock times of their samples are of the same clock.
- An exercise starts at a local time with the offset apart, in minutes; its duration is
  ISO 8601.
- Days and continuous heart rates are by the clock of the device, whose zone is given
  nowhere: they are read in the user's own. So on a journey they are off by what it
  crosses.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any

from portal.lib.periods import SkippedTime, convert_local_time_to_utc
from users.states import SleepStage, SleepType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from users.gateways.polar.client import Document

_DAY = timedelta(days=1)
# By number of a hypnogram.
_STAGES = {
    0: SleepStage.AWAKE,
    1: SleepStage.REM,
    2: SleepStage.LIGHT,
    3: SleepStage.LIGHT,
    4: SleepStage.DEEP,
}
_DURATION = re.compile(
    r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII
)


def convert_polar_sleeps(
    nights: Iterable[Document], recharges: Iterable[Document]
) -> list[dict[str, Any]]:
    """Convert nights, of which Polar has one a day, each with its recharge."""
    by_day = {each.get("date"): each for each in recharges}
    found = []
    for night in nights:
        times = _night_times(night)
        if times is None:
            continue
        start, end = times
        stages = [_count(night.get(f"{name}_sleep")) for name in ("light", "rem")]
        stages.append(_count(night.get("deep_sleep")))
        light, rem, deep = (each or 0 for each in stages)
        recharge = by_day.get(night["date"], {})
        found.append(
            {
                "external_id": night["date"],
                "calendar_date": night["date"],
                "bedtime_start": start.isoformat(),
                "bedtime_stop": end.isoformat(),
                "timezone_offset": _offset(start),
                "type": str(SleepType.LONG_SLEEP),
                "duration": int((end - start).total_seconds()),
                "total": light
                + rem
                + deep
                + (_count(night.get("unrecognized_sleep_stage")) or 0),
                "awake": _count(night.get("total_interruption_duration")) or 0,
                "light": light,
                "rem": rem,
                "deep": deep,
                # 0 says that there is none.
                "score": _count(night.get("sleep_score")) or None,
                "hr_average": _count(recharge.get("heart_rate_avg")) or None,
                "average_hrv": _count(recharge.get("heart_rate_variability_avg"))
                or None,
                "respiratory_rate": recharge.get("breathing_rate_avg") or None,
            }
        )
    return found


def convert_polar_stages(nights: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert the stages of nights; a stage lasts until the next begins.

    Its external_id is its sleep's.
    """
    cycles = []
    for night in nights:
        times = _night_times(night)
        if times is None:
            continue
        start, end = times
        length = int((end - start).total_seconds())
        begins = [
            (max(int((moment - start).total_seconds()), 0), value)
            for moment, value in _sampled(night.get("hypnogram"), start)
        ]
        begins = [each for each in begins if each[0] < length]
        stages = [
            (int(_STAGES.get(int(value), SleepStage.UNKNOWN)), at, until)
            for (at, value), until in zip(
                begins, [each[0] for each in begins[1:]] + [length], strict=False
            )
            if at < until
        ]
        if stages:
            cycles.append(
                {
                    "external_id": night["date"],
                    "session_start": start.isoformat(),
                    "session_end": end.isoformat(),
                    "stage_type": [code for code, _, _ in stages],
                    "stage_start_offset_second": [at for _, at, _ in stages],
                    "stage_end_offset_second": [until for _, _, until in stages],
                }
            )
    return cycles


def convert_polar_hrv(
    recharges: Iterable[Document], nights: Iterable[Document]
) -> list[dict[str, Any]]:
    """Convert five-minute samples of recharges (RMSSD), which name clock times alone.

    The night of its date says when and with which offset they are.
    """
    by_day = {each.get("date"): _night_times(each) for each in nights}
    found = []
    for each in recharges:
        times = by_day.get(each.get("date"))
        if times is not None:
            found += [
                {"timestamp": moment.isoformat(), "value": value}
                for moment, value in _sampled(each.get("hrv_samples"), times[0])
                if value > 0
            ]
    return found


def convert_polar_activity(days: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert days; the day is that of the samples, or of the start."""
    found = []
    for each in days:
        samples = each.get("samples")
        told = samples.get("date") if isinstance(samples, dict) else None
        day = _parse_day(told or str(each.get("start_time") or "")[:10])
        if day is None:
            continue
        found.append(
            {
                "external_id": day.isoformat(),
                "calendar_date": day.isoformat(),
                "steps": _count(each.get("steps")),
                "distance": each.get("distance_from_steps"),
                "calories_total": each.get("calories"),
                "calories_active": each.get("active_calories"),
            }
        )
    return found


def convert_polar_exercises(exercises: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert exercises, with the offset at which each began."""
    found = []
    for each in exercises:
        start = _parse_local(each.get("start_time"))
        length = parse_iso_duration(each.get("duration"))
        offset = each.get("start_time_utc_offset")
        if start is None or not length or type(offset) is not int or not each.get("id"):
            continue
        begins = start.replace(tzinfo=timezone(timedelta(minutes=offset)))
        heart_rate = each.get("heart_rate")
        heart_rate = heart_rate if isinstance(heart_rate, dict) else {}
        found.append(
            {
                "external_id": str(each["id"]),
                "provider_id": str(each["id"]),
                "calendar_date": begins.date().isoformat(),
                "time_start": begins.isoformat(),
                "time_end": (begins + length).isoformat(),
                "timezone_offset": offset * 60,
                "calories": each.get("calories"),
                "distance": each.get("distance"),
                "average_hr": heart_rate.get("average") or None,
                "max_hr": heart_rate.get("maximum") or None,
                "sport": _sport(each),
            }
        )
    return found


def convert_polar_heart_rates(
    days: Iterable[Document], *, zone: tzinfo
) -> list[dict[str, Any]]:
    """Convert continuous heart rates, by the user's clock.

    A time that a clock skips in spring is left out; of an hour that comes twice the
    first is taken, as nothing distinguishes them.
    """
    found: dict[str, dict[str, Any]] = {}
    for each in days:
        day = _parse_day(each.get("date"))
        for sample in each.get("heart_rate_samples") or ():
            at = _parse_clock(sample.get("sample_time"))
            rate = sample.get("heart_rate")
            if day is None or at is None or type(rate) is not int or rate <= 0:
                continue
            try:
                moment = convert_local_time_to_utc(datetime.combine(day, at), zone)
            except SkippedTime:
                continue
            written = moment.astimezone(zone).isoformat()
            found.setdefault(written, {"timestamp": written, "value": rate})
    return list(found.values())


def parse_iso_duration(text: object) -> timedelta:
    """Parse a duration of days or less (ISO 8601); 0 if it is none."""
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return timedelta(0)
    days, hours, minutes, seconds = (float(each or 0) for each in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def _sampled(
    samples: object, start: datetime
) -> Iterator[tuple[datetime, int | float]]:
    """Yield samples by clock time in the order of their moments.

    The first is at or after `start`, and none a day later.
    """
    if not isinstance(samples, dict):
        return
    clocked = []
    for text, value in samples.items():
        at = _parse_clock(text)
        if at is None or type(value) not in (int, float):
            continue
        moment = datetime.combine(start.date(), at, start.tzinfo)
        # Clock times have no seconds, the start does.
        if moment < start.replace(second=0, microsecond=0):
            moment += _DAY
        clocked.append((moment, value))
    yield from sorted(clocked, key=lambda each: each[0])


def _night_times(night: Document) -> tuple[datetime, datetime] | None:
    try:
        start = datetime.fromisoformat(night["sleep_start_time"])
        end = datetime.fromisoformat(night["sleep_end_time"])
    except (KeyError, TypeError, ValueError):
        return None
    is_night = start.tzinfo and end.tzinfo and _parse_day(night.get("date"))
    return (start, end) if is_night and start < end else None


def _sport(exercise: Document) -> dict[str, Any] | None:
    """Return Polar's name of a sport, the finer of the two; it has no number."""
    name = exercise.get("detailed_sport_info") or exercise.get("sport")
    if not isinstance(name, str) or not name:
        return None
    slug = name.strip().lower().replace(" ", "_").replace("-", "_")
    return {"id": 0, "name": slug.replace("_", " ").capitalize(), "slug": slug}


def _offset(moment: datetime) -> int:
    return int((moment.utcoffset() or timedelta(0)).total_seconds())


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _parse_day(text: object) -> date | None:
    try:
        return date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _parse_clock(text: object) -> time | None:
    try:
        return time.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _parse_local(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment.replace(tzinfo=None) if moment else None
