"""Samples as sources push them; nobody's in truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.factories.accounts import ACTOR
from users.operations.data.samples import RecordedSamples, SampleBatch, record_samples
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from users.models import User

MOMENT = "2026-02-28T10:00:00+00:00"
WORKOUT = "5b1f4c7e-54c8-4b36-9d2e-aa13c7b0f001"
# What samples need besides moment and value.
_NEEDED: dict[str, dict[str, Any]] = {
    "blood_pressure": {"systolic": 121.5, "diastolic": 79},
    "cholesterol": {"type": "ldl"},
    "electrocardiogram_voltage": {"type": "I"},
    "heart_rate_alert": {"type": "irregular_rhythm", "value": 1},
    "ige": {"type": "Birch pollen"},
    "igg": {"type": "Milk"},
    "insulin_injection": {"type": "rapid_acting"},
    "note": {"value": "Porridge, then a run"},
    "stand_hour": {"type": "stood"},
    "workout_distance": {"workout_id": WORKOUT, "sport": "running"},
    "workout_swimming_stroke": {"workout_id": WORKOUT, "sport": "swimming"},
}
# What samples may have, as it is answered.
MOST: dict[str, dict[str, Any]] = {
    "body_temperature": {"sensor_location": "eardrum"},
    "body_temperature_delta": {"sensor_location": "wrist"},
    "insulin_injection": {
        "delivery_mode": "bolus",
        "delivery_form": "extended",
        "bolus_purpose": "correction",
    },
    "note": {"tags": ["food", "exercise"]},
    "sleep_breathing_disturbance": {"type": "not_elevated"},
    "workout_duration": {"intensity": "high"},
}


def sample(slug: str, **wanted: Any) -> dict[str, Any]:
    """The least valid sample of a resource; an interval is of ten minutes."""
    moment: dict[str, Any] = {"timestamp": MOMENT}
    if TIMESERIES[slug].is_interval:
        moment = {"start": MOMENT, "end": "2026-02-28T10:10:00+00:00"}
    value = {} if slug == "blood_pressure" else {"value": 12.5}
    return {**moment, **value, **_NEEDED.get(slug, {}), **wanted}


def minute(number: int) -> str:
    """So many minutes after MOMENT, on its day."""
    hours, minutes = divmod(10 * 60 + number, 60)
    return f"2026-02-28T{hours:02}:{minutes:02}:00+00:00"


def push_samples(
    user: User,
    slug: str,
    *samples: dict[str, Any],
    provider: str = "oura",
    **wanted: Any,
) -> RecordedSamples:
    """Store a batch, by default of the least valid sample."""
    return record_samples(
        user=user,
        actor=ACTOR,
        resource=TIMESERIES[slug],
        batch=SampleBatch(
            provider=provider, elements=samples or (sample(slug),), **wanted
        ),
    )
