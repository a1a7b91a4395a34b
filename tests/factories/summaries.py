"""Elements of summaries as sources send them, and stored ones; nobody's in truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.factories.accounts import ACTOR
from users.operations.data.summaries import Recorded, SummaryBatch, record_summaries
from users.wearables.summaries import SUMMARIES

if TYPE_CHECKING:
    from users.models import User


def cycle_element(**wanted: Any) -> dict[str, Any]:
    """The least valid element of a menstrual cycle."""
    return {
        "period_start": "2026-02-02",
        "period_end": "2026-02-06",
        "cycle_end": "2026-03-01",
        **wanted,
    }


def night_element(**wanted: Any) -> dict[str, Any]:
    """A short night of three stages, slept in Berlin."""
    return {
        "session_start": "2026-02-28T22:00:00",
        "session_end": "2026-03-01T00:00:00",
        "stage_start_offset_second": [0, 1800, 5400],
        "stage_end_offset_second": [1800, 5400, 7200],
        "stage_type": [2, 1, 3],
        "time_zone": "Europe/Berlin",
        **wanted,
    }


# The least that each kind needs.
LEAST: dict[str, dict[str, Any]] = {
    "menstrual_cycle": cycle_element(),
    "sleep_cycle": night_element(),
    "activity": {"calendar_date": "2026-02-28"},
    "sleep": {
        "bedtime_start": "2026-02-28T22:00:00+00:00",
        "bedtime_stop": "2026-03-01T06:00:00+00:00",
    },
    "body": {"calendar_date": "2026-02-28"},
    "workouts": {
        "time_start": "2026-02-28T17:00:00+00:00",
        "time_end": "2026-02-28T18:00:00+00:00",
    },
    "meal": {"timestamp": "2026-02-28T08:00:00+00:00", "name": "Porridge"},
    "electrocardiogram": {
        "session_start": "2026-02-28T09:00:00+00:00",
        "session_end": "2026-02-28T09:00:30+00:00",
        "voltage_sample_count": 15360,
    },
    "profile": {},
}
# All that each kind takes, as it is answered.
MOST: dict[str, dict[str, Any]] = {
    "menstrual_cycle": cycle_element(
        is_predicted=True,
        menstrual_flow=[{"date": "2026-02-02", "flow": "light"}],
        cervical_mucus=[{"date": "2026-02-03", "quality": "egg_white"}],
        intermenstrual_bleeding=[{"date": "2026-02-04"}],
        contraceptive=[{"date": "2026-02-05", "type": "iud"}],
        detected_deviations=[
            {"date": "2026-02-06", "deviation": "irregular_menstrual_cycles"}
        ],
        ovulation_test=[{"date": "2026-02-07", "test_result": "estrogen_surge"}],
        home_pregnancy_test=[{"date": "2026-02-08", "test_result": "negative"}],
        home_progesterone_test=[{"date": "2026-02-09", "test_result": "positive"}],
        sexual_activity=[{"date": "2026-02-10", "protection_used": False}],
        basal_body_temperature=[{"date": "2026-02-11", "value": 36.5}],
    ),
    "sleep_cycle": night_element(),
    "activity": {
        "calendar_date": "2026-02-28",
        "calories_total": 2100.5,
        "calories_active": 500,
        "steps": 9000,
        "daily_movement": 7000,
        "distance": 6500.5,
        "low": 120,
        "medium": 45,
        "high": 12.5,
        "floors_climbed": 9,
        "time_zone": "Asia/Kolkata",
        "timezone_offset": 19800,
        "heart_rate": {
            "avg_bpm": 70,
            "min_bpm": 48,
            "max_bpm": 150,
            "resting_bpm": 55.5,
            "avg_walking_bpm": 95,
        },
        "wheelchair_use": True,
        "wheelchair_push": 300,
    },
    "sleep": {
        "calendar_date": "2026-03-01",
        "bedtime_start": "2026-02-28T22:00:00+00:00",
        "bedtime_stop": "2026-03-01T06:00:00+00:00",
        "type": "long_sleep",
        "timezone_offset": 3600,
        "duration": 28800,
        "total": 27000,
        "awake": 1800,
        "light": 15000,
        "rem": 6000,
        "deep": 6000,
        "score": 81,
        "recovery_readiness_score": 74,
        "hr_lowest": 44,
        "hr_average": 51,
        "hr_resting": 48,
        "efficiency": 93.5,
        "latency": 600,
        "temperature_delta": -0.2,
        "skin_temperature": 34.4,
        "hr_dip": 14.5,
        "state": "confirmed",
        "average_hrv": 61.5,
        "respiratory_rate": 14.2,
    },
    "body": {
        "calendar_date": "2026-02-28",
        "weight": 71.4,
        "fat": 21.5,
        "water_percentage": 56,
        "muscle_mass_percentage": 41,
        "visceral_fat_index": 7,
        "bone_mass_percentage": 4.1,
        "body_mass_index": 22.9,
        "lean_body_mass_kilogram": 56.1,
        "waist_circumference_centimeter": 79,
    },
    "workouts": {
        "calendar_date": "2026-02-28",
        "time_start": "2026-02-28T17:00:00+00:00",
        "time_end": "2026-02-28T18:00:00+00:00",
        "provider_id": "run-7",
        "title": "Evening run",
        "timezone_offset": -18000,
        "average_hr": 141,
        "max_hr": 172,
        "distance": 9800.5,
        "calories": 640,
        "sport": {"id": 108, "name": "Running", "slug": "running"},
        "hr_zones": [300, 900, 1500, 600, 300],
        "moving_time": 3500,
        "total_elevation_gain": 88.5,
        "elev_high": 120,
        "elev_low": -3.5,
        "average_speed": 2.8,
        "max_speed": 4.9,
        "average_watts": 230,
        "device_watts": 231,
        "max_watts": 410,
        "weighted_average_watts": 240,
        "steps": 9600,
        "map": {"polyline": "_p~iF~ps|U", "summary_polyline": "_p~iF"},
    },
    "meal": {
        "provider_id": "meal-7",
        "timestamp": "2026-02-28T08:00:00+00:00",
        "calendar_date": "2026-02-28",
        "name": "Porridge",
        "energy": {"unit": "kcal", "value": 410},
        "macros": {
            "carbs": 60,
            "protein": 14.5,
            "fats": {
                "saturated": 2,
                "monounsaturated": 3,
                "polyunsaturated": 2,
                "omega3": 0.1,
                "omega6": 1.5,
                "total": 7.5,
            },
            "alcohol": 0,
            "water": 240,
            "fibre": 8,
            "sugar": 11,
            "cholesterol": 10,
        },
        "micros": {
            "minerals": {"iron": 3.5, "zinc": None},
            "trace_elements": {"selenium": 0.01},
            "vitamins": {"b12": 0.5},
        },
        "data": {
            "oats": {
                "name": "Oats",
                "energy": {"unit": "kcal", "value": 228},
                "macros": None,
                "micros": None,
            }
        },
    },
    "electrocardiogram": {
        "session_start": "2026-02-28T09:00:00+00:00",
        "session_end": "2026-02-28T09:00:30+00:00",
        "voltage_sample_count": 15360,
        "heart_rate_mean": 64,
        "sampling_frequency_hz": 512,
        "classification": "sinus_rhythm",
        "inconclusive_cause": "poor_reading",
        "algorithm_version": "2",
        "time_zone": "Europe/Lisbon",
        "source_device_model": "Watch 9",
    },
    "profile": {
        "height": 171,
        "birth_date": "1990-05-17",
        "wheelchair_use": True,
        "gender": "female",
        "sex": "female",
    },
}


def record(
    user: User,
    slug: str,
    *elements: dict[str, Any],
    provider: str = "oura",
    **wanted: Any,
) -> Recorded:
    """Store a batch, by default the least valid one."""
    return record_summaries(
        user=user,
        actor=ACTOR,
        resource=SUMMARIES[slug],
        batch=SummaryBatch(
            provider=provider, elements=elements or (LEAST[slug],), **wanted
        ),
    )
