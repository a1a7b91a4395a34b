"""Documents of Oura's collections, shaped as its interface documents them; made up."""

from __future__ import annotations

from typing import Any


def sleep_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    """An hour's night: deep, light, REM and awake for a quarter each."""
    return {
        "id": f"sleep-{day}",
        "day": day,
        "type": "long_sleep",
        "bedtime_start": f"{day}T01:00:00.000+01:00",
        "bedtime_end": f"{day}T02:00:00.000+01:00",
        "average_breath": 14.5,
        "average_heart_rate": 61.25,
        "average_hrv": 38,
        "awake_time": 900,
        "deep_sleep_duration": 900,
        "light_sleep_duration": 900,
        "rem_sleep_duration": 900,
        "total_sleep_duration": 2700,
        "time_in_bed": 3600,
        "efficiency": 75,
        "latency": 120,
        "lowest_heart_rate": 52,
        "low_battery_alert": False,
        "period": 0,
        "heart_rate": {
            "interval": 300.0,
            "items": [None, 60.0, 61.0],
            "timestamp": f"{day}T01:00:00.000+01:00",
        },
        "hrv": {
            "interval": 300.0,
            "items": [None, 40.0, 42.0],
            "timestamp": f"{day}T01:00:00.000+01:00",
        },
        "movement_30_sec": "1" * 120,
        "readiness": {
            "contributors": {"body_temperature": 90},
            "score": 81,
            "temperature_deviation": -0.25,
            "temperature_trend_deviation": 0.1,
        },
        "readiness_score_delta": None,
        "sleep_algorithm_version": "v2",
        "sleep_phase_30_sec": "1" * 30 + "2" * 30 + "3" * 30 + "4" * 30,
        "sleep_phase_5_min": "111222333444",
        "sleep_score_delta": None,
        **wanted,
    }


def daily_sleep_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    return {
        "id": f"daily-sleep-{day}",
        "day": day,
        "score": 77,
        "contributors": {"deep_sleep": 80},
        "timestamp": f"{day}T04:00:00+01:00",
        **wanted,
    }


def daily_readiness_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    return {
        "id": f"readiness-{day}",
        "day": day,
        "score": 83,
        "temperature_deviation": 0.5,
        "timestamp": f"{day}T04:00:00+01:00",
        **wanted,
    }


def daily_activity_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    return {
        "id": f"activity-{day}",
        "day": day,
        "timestamp": f"{day}T04:00:00+01:00",
        "active_calories": 512,
        "total_calories": 2410,
        "steps": 8123,
        "equivalent_walking_distance": 7300,
        "low_activity_time": 10_800,
        "medium_activity_time": 1800,
        "high_activity_time": 600,
        "met": {"interval": 60.0, "items": [0.9], "timestamp": f"{day}T04:00:00+01:00"},
        **wanted,
    }


def daily_spo2_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    return {
        "id": f"spo2-{day}",
        "day": day,
        "breathing_disturbance_index": 4,
        "spo2_percentage": {"average": 96.5},
        **wanted,
    }


def workout_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    return {
        "id": f"workout-{day}",
        "day": day,
        "activity": "cross_country_skiing",
        "calories": 301.5,
        "distance": 5200.0,
        "intensity": "moderate",
        "label": None,
        "source": "confirmed",
        "start_datetime": f"{day}T17:00:00+01:00",
        "end_datetime": f"{day}T17:45:00+01:00",
        **wanted,
    }


def session_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    return {
        "id": f"session-{day}",
        "day": day,
        "type": "meditation",
        "start_datetime": f"{day}T12:00:00+01:00",
        "end_datetime": f"{day}T12:10:00+01:00",
        "heart_rate": None,
        "heart_rate_variability": {
            "interval": 5.0,
            "items": [50.0],
            "timestamp": f"{day}T12:00:00.000+01:00",
        },
        "mood": "good",
        "motion_count": None,
        **wanted,
    }


def vo2_max_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    return {
        "id": f"vo2-{day}",
        "day": day,
        "timestamp": f"{day}T09:00:00+01:00",
        "vo2_max": 44,
        **wanted,
    }


def tag_document(day: str = "2026-03-10", **wanted: Any) -> dict[str, Any]:
    return {
        "id": f"tag-{day}",
        "tag_type_code": "tag_generic_alcohol",
        "custom_name": None,
        "comment": "two glasses",
        "start_day": day,
        "end_day": None,
        "start_time": f"{day}T20:00:00+01:00",
        "end_time": None,
        **wanted,
    }


def heart_rate_row(at: str, bpm: int = 70) -> dict[str, Any]:
    return {"timestamp": at, "timestamp_unix": 0, "bpm": bpm, "source": "awake"}


def ring_document(**wanted: Any) -> dict[str, Any]:
    return {
        "id": "ring-1",
        "color": "silver",
        "design": "horizon",
        "firmware_version": "2.10.4",
        "hardware_type": "gen4",
        "set_up_at": "2026-01-01T10:00:00+00:00",
        "size": 9,
        **wanted,
    }


PERSONAL_INFO = {
    "id": "oura-user-1",
    "age": 36,
    "weight": 61.5,
    "height": 1.68,
    "biological_sex": "female",
    "email": None,
}
