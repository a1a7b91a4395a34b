"""Convert Withings' days and workouts (Measure v2 - Getactivity and Getworkouts).

Verified in its OpenAPI document 2.0 on 2026-11-23: distances are meters, `elevation` is
floors climbed, durations are seconds, energies kcal; an average heart rate of 0 says
that none was measured. What a user typed in has fields of its own, `manual_`.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

from portal.lib.periods import find_time_zone_by_name
from users.gateways.withings.measures import BY_HAND, OURS
from users.gateways.withings.sports import NO_ACTIVITY, get_withings_sport
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Iterable

ACTIVITY_FIELDS = (
    "steps",
    "distance",
    "elevation",
    "soft",
    "moderate",
    "intense",
    "calories",
    "totalcalories",
    "hr_average",
    "hr_min",
    "hr_max",
)
WORKOUT_FIELDS = (
    "calories",
    "manual_calories",
    "distance",
    "manual_distance",
    "steps",
    "hr_average",
    "hr_max",
)
_WITHINGS = 1
# `model` of a workout that an app of the phone recorded.
_PHONES = range(1051, 1063)


def convert_withings_activity(
    documents: Iterable[tuple[dict[str, Any], dict[str, Any]]],
) -> dict[SourceType, list[dict[str, Any]]]:
    """Convert days by what counted them; a day may have one of each."""
    found = defaultdict(list)
    for day, _body in documents:
        if not isinstance(day.get("date"), str):
            continue
        source = SourceType.PHONE
        if day.get("is_tracker"):
            source = SourceType.WATCH
        elif day.get("brand") != _WITHINGS:
            source = SourceType.UNKNOWN
        average = day.get("hr_average")
        found[source].append(
            {
                "external_id": f"{day['date']}:{source}",
                "calendar_date": day["date"],
                "steps": day.get("steps"),
                "distance": day.get("distance"),
                "floors_climbed": _whole(day.get("elevation")),
                "low": _minutes(day.get("soft")),
                "medium": _minutes(day.get("moderate")),
                "high": _minutes(day.get("intense")),
                "calories_active": day.get("calories"),
                "calories_total": day.get("totalcalories"),
                "heart_rate": {
                    "avg_bpm": average,
                    "min_bpm": day.get("hr_min"),
                    "max_bpm": day.get("hr_max"),
                }
                if average
                else None,
                "time_zone": day.get("timezone") or None,
            }
        )
    return dict(found)


def convert_withings_workouts(
    documents: Iterable[tuple[dict[str, Any], dict[str, Any]]], *, fallback: tzinfo
) -> dict[SourceType, list[dict[str, Any]]]:
    """Convert workouts of the user, in the zone where each was done."""
    found = defaultdict(list)
    for workout, _body in documents:
        start, end = workout.get("startdate"), workout.get("enddate")
        data = workout.get("data")
        if (
            type(start) is not int
            or type(end) is not int
            or end <= start
            or workout.get("attrib", 0) not in OURS
            or workout.get("category") == NO_ACTIVITY
        ):
            continue
        data = data if isinstance(data, dict) else {}
        name = workout.get("timezone")
        zone = find_time_zone_by_name(name) if isinstance(name, str) else fallback
        begins = datetime.fromtimestamp(start, UTC).astimezone(zone)
        offset = begins.utcoffset()
        found[_find_source(workout)].append(
            {
                "external_id": str(workout["id"]) if workout.get("id") else None,
                "provider_id": str(workout.get("id") or start),
                "calendar_date": workout.get("date") or begins.date().isoformat(),
                "time_start": begins.isoformat(),
                "time_end": datetime.fromtimestamp(end, UTC)
                .astimezone(zone)
                .isoformat(),
                "timezone_offset": int(offset.total_seconds()) if offset else 0,
                "calories": data.get("manual_calories") or data.get("calories"),
                "distance": data.get("manual_distance") or data.get("distance"),
                "steps": data.get("steps"),
                "average_hr": data.get("hr_average") or None,
                "max_hr": data.get("hr_max") or None,
                "sport": get_withings_sport(workout.get("category")),
            }
        )
    return dict(found)


def _find_source(workout: dict[str, Any]) -> SourceType:
    if workout.get("attrib") == BY_HAND:
        return SourceType.APP
    return SourceType.PHONE if workout.get("model") in _PHONES else SourceType.WATCH


def _minutes(seconds: object) -> float | None:
    return seconds / 60 if type(seconds) in (int, float) else None  # type: ignore[operator]  # one of the two


def _whole(number: object) -> int | None:
    return round(number) if type(number) in (int, float) else None  # type: ignore[call-overload]  # as above
