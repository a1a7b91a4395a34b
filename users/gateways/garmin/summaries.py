"""What Garmin's summary types hold, by resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.gateways.garmin.days import (
    convert_activity,
    convert_body,
    convert_epochs,
    convert_fat,
    convert_pressure,
    convert_samples,
    convert_skin,
    convert_vo2,
    convert_weight,
)
from users.gateways.garmin.sessions import (
    convert_recordings,
    convert_sleep,
    convert_stages,
    convert_workouts,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from users.gateways.garmin.values import Batches, Summary

# By resource, what it is made of. A summary type may be of several resources.
KINDS: dict[str, dict[str, Callable[[list[Summary], tzinfo], Batches]]] = {
    "workouts": {
        "activities": convert_workouts,
        "manuallyUpdatedActivities": convert_workouts,
    },
    "workout_stream": {"activityFiles": convert_recordings},
    "activity": {"dailies": convert_activity},
    "heartrate": {
        "dailies": convert_samples("heartrate", "timeOffsetHeartRateSamples")
    },
    "steps": {"epochs": convert_epochs("steps", "steps")},
    "distance": {"epochs": convert_epochs("distance", "distanceInMeters")},
    "calories_active": {
        "epochs": convert_epochs("calories_active", "activeKilocalories")
    },
    "sleep": {"sleeps": convert_sleep},
    "sleep_cycle": {"sleeps": convert_stages},
    "body": {"bodyComps": convert_body},
    "weight": {"bodyComps": convert_weight},
    "fat": {"bodyComps": convert_fat},
    "stress_level": {
        "stressDetails": convert_samples("stress_level", "timeOffsetStressLevelValues")
    },
    "hrv": {"hrv": convert_samples("hrv", "hrvValues")},
    "blood_oxygen": {
        "pulseox": convert_samples("blood_oxygen", "timeOffsetSpo2Values")
    },
    "respiratory_rate": {
        "allDayRespiration": convert_samples(
            "respiratory_rate", "timeOffsetEpochToBreaths"
        )
    },
    "vo2_max": {"userMetrics": convert_vo2},
    "blood_pressure": {"bloodPressures": convert_pressure},
    "body_temperature_delta": {"skinTemp": convert_skin},
}
# By summary type, the resources it is of.
RESOURCES: dict[str, tuple[str, ...]] = {}
for _resource, _kinds in KINDS.items():
    for _kind in _kinds:
        RESOURCES[_kind] = (*RESOURCES.get(_kind, ()), _resource)


def read_garmin_summaries(
    resource: str, kind: str, summaries: list[Summary], zone: tzinfo
) -> Batches:
    """Convert summaries of a type to a resource; `zone` is the user's fallback."""
    return KINDS[resource][kind](summaries, zone)
