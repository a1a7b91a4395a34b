"""How elements of Open Wearables become those of Assay.

Source: the-momentum/open-wearables 0.6, backend/app/schemas and its series types.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from users.gateways.moving.base import MovedPage, MovedPart, join_parts
from users.states import SleepStage, SourceType

if TYPE_CHECKING:
    from collections.abc import Callable

PROVIDERS = {
    "apple": "apple_health_kit",
    "samsung": "samsung_health",
    "google": "google_health",
    "whoop": "whoop_v2",
    # What came without a connection, or was computed there.
    "unknown": "manual",
    "internal": "manual",
    "sensorbio": "manual",
}
_SOURCE_TYPES = {
    **dict.fromkeys(("watch", "band"), SourceType.WATCH),
    "ring": SourceType.RING,
    "phone": SourceType.PHONE,
    "scale": SourceType.SCALE,
}


@dataclass(frozen=True, slots=True)
class Series:
    """Where samples of a series type go; theirs times `factor` is ours."""

    resource: str
    factor: float = 1.0
    is_sum: bool = False
    is_interval: bool = False


SERIES = {
    "heart_rate": Series("heartrate"),
    "heart_rate_variability_rmssd": Series("hrv"),
    "oxygen_saturation": Series("blood_oxygen"),
    "respiratory_rate": Series("respiratory_rate"),
    # mg/dL in mmol/L, by the molar mass of glucose (180.156 g/mol).
    "blood_glucose": Series("glucose", factor=10 / 180.156),
    "weight": Series("body_weight"),
    "body_fat_percentage": Series("body_fat"),
    "body_mass_index": Series("body_mass_index", is_interval=True),
    "lean_body_mass": Series("lean_body_mass", is_interval=True),
    "waist_circumference": Series("waist_circumference", is_interval=True),
    "body_temperature": Series("body_temperature", is_interval=True),
    "skin_temperature_deviation": Series("body_temperature_delta", is_interval=True),
    "heart_rate_recovery_one_minute": Series(
        "heart_rate_recovery_one_minute", is_interval=True
    ),
    "forced_vital_capacity": Series("forced_vital_capacity", is_interval=True),
    "forced_expiratory_volume_1": Series(
        "forced_expiratory_volume_1", is_interval=True
    ),
    "peak_expiratory_flow_rate": Series("peak_expiratory_flow_rate", is_interval=True),
    "inhaler_usage": Series("inhaler_usage", is_sum=True, is_interval=True),
    "sleeping_breathing_disturbances": Series(
        "sleep_breathing_disturbance", is_interval=True
    ),
    "push_count": Series("wheelchair_push", is_sum=True, is_interval=True),
    "swimming_stroke_count": Series(
        "workout_swimming_stroke", is_sum=True, is_interval=True
    ),
    "number_of_times_fallen": Series("fall", is_sum=True, is_interval=True),
    "uv_exposure": Series("uv_exposure", is_interval=True),
    "vo2_max": Series("vo2_max", is_interval=True),
    "steps": Series("steps", is_sum=True, is_interval=True),
    "energy": Series("calories_active", is_sum=True, is_interval=True),
    "basal_energy": Series("calories_basal", is_sum=True),
    "flights_climbed": Series("floors_climbed", is_sum=True),
    "distance_walking_running": Series("distance", is_sum=True, is_interval=True),
    "stand_time": Series("stand_duration", is_sum=True, is_interval=True),
    "time_in_daylight": Series("daylight_exposure", is_sum=True, is_interval=True),
    "garmin_stress_level": Series("stress_level"),
    "hydration": Series("water", is_sum=True),
}
_PRESSURE = ("blood_pressure_systolic", "blood_pressure_diastolic")
_STAGES = {
    "deep": SleepStage.DEEP,
    "light": SleepStage.LIGHT,
    "rem": SleepStage.REM,
    "awake": SleepStage.AWAKE,
}
NO_RESOURCE = "series_without_resource"
DAILY_TOTAL = "daily_total"
HALF_PRESSURE = "half_of_a_blood_pressure"
SCORE = "score_of_the_platform"
ONE_SECOND = "one_second_interval"
OTHER_UNIT = "other_unit"


def name_provider(theirs: str | None) -> str:
    """Return our slug of a provider there."""
    return PROVIDERS.get(theirs or "unknown", theirs or "unknown")


def read_samples(items: list[dict[str, Any]]) -> MovedPage:
    """Read a page of samples."""
    page = MovedPage([])
    pressures: dict[tuple[str, str, str], dict[str, Any]] = {}
    for item in items:
        provider, source_type = _read_origin(item)
        kind, at = item["type"], item["timestamp"]
        if kind in _PRESSURE:
            key = (provider, source_type, at)
            pressures.setdefault(key, _timed(item))[kind[15:]] = item["value"]
            continue
        series = SERIES.get(kind)
        if series is None:
            page.skipped[NO_RESOURCE] += 1
            continue
        if series.is_sum and item["is_daily_total"]:
            page.skipped[DAILY_TOTAL] += 1
            continue
        element = _timed(item) | {"value": item["value"] * series.factor}
        if series.factor != 1:
            page.converted[series.resource, OTHER_UNIT] += 1
        if series.is_interval:
            element |= {"start": at, "end": _add_second(at)}
            page.converted[series.resource, ONE_SECOND] += 1
        page.parts.append(
            MovedPart(series.resource, provider, [element], True, source_type)
        )
    for (provider, source_type, _at), element in pressures.items():
        if "systolic" in element and "diastolic" in element:
            page.parts.append(
                MovedPart("blood_pressure", provider, [element], True, source_type)
            )
        else:
            page.skipped[HALF_PRESSURE] += 1
    page.parts = join_parts(page.parts)
    return page


def split_last_moment(
    items: list[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Split off blood pressures of a page's last moment."""
    last = items[-1]["timestamp"] if items else ""
    held = [
        each
        for each in items
        if each["timestamp"] == last and each["type"] in _PRESSURE
    ]
    return [each for each in items if each not in held], held


def read_workouts(items: list[dict[str, Any]]) -> MovedPage:
    """Read a page of workouts; `external_id` is the platform's ID."""
    return _page(
        "workouts",
        items,
        lambda item: {
            "external_id": item["id"],
            "provider_id": item["id"],
            "time_start": item["start_time"],
            "time_end": item["end_time"],
            "timezone_offset": _read_offset(item),
            "title": item["name"] or item["type"].replace("_", " ").capitalize(),
            "calories": item["calories_kcal"],
            "distance": item["distance_meters"],
            "average_hr": item["avg_heart_rate_bpm"],
            "max_hr": item["max_heart_rate_bpm"],
            "total_elevation_gain": item["elevation_gain_meters"],
        },
    )


def read_sleep(items: list[dict[str, Any]]) -> MovedPage:
    """Read a page of sleep sessions, each a sleep and, with stages, a sleep cycle."""
    page = _page("sleep", items, _build_sleep)
    staged = [item for item in items if item["sleep_stage_intervals"]]
    page.parts += _page("sleep_cycle", staged, _build_cycle).parts
    return page


def read_cycles(items: list[dict[str, Any]]) -> MovedPage:
    """Read a page of menstrual cycles: their days; phases are predictions of a day."""
    return _page("menstrual_cycle", items, _build_menstrual_cycle)


def read_scores(items: list[dict[str, Any]]) -> MovedPage:
    """Count scores: Assay keeps measurements, and no platform's judgments of them."""
    return MovedPage([], skipped=Counter({SCORE: len(items)} if items else {}))


def read_activity(items: list[dict[str, Any]]) -> MovedPage:
    """Read a page of daily activity, by its date."""
    return _page("activity", items, _build_activity)


def _build_sleep(item: dict[str, Any]) -> dict[str, Any]:
    stages = item["stages"] or {}
    minutes = {
        name: (stages.get(f"{name}_minutes") or 0) * 60
        for name in ("awake", "light", "deep", "rem")
    }
    return {
        "external_id": item["id"],
        "bedtime_start": item["start_time"],
        "bedtime_stop": item["end_time"],
        "timezone_offset": _read_offset(item),
        "type": "short_sleep" if item["is_nap"] else "long_sleep",
        "duration": item["duration_seconds"],
        "total": item["sleep_duration_seconds"],
        "efficiency": item["efficiency_percent"],
        **minutes,
    }


def _build_cycle(item: dict[str, Any]) -> dict[str, Any]:
    start = datetime.fromisoformat(item["start_time"])

    def count(moment: str) -> int:
        return round((datetime.fromisoformat(moment) - start).total_seconds())

    stages = [
        (count(each["start_time"]), count(each["end_time"]), _STAGES[each["stage"]])
        for each in item["sleep_stage_intervals"]
        if each["stage"] in _STAGES and each["end_time"] > each["start_time"]
    ]
    return {
        "external_id": item["id"],
        "session_start": item["start_time"],
        "session_end": item["end_time"],
        "stage_start_offset_second": [first for first, _, _ in stages],
        "stage_end_offset_second": [last for _, last, _ in stages],
        "stage_type": [int(stage.value) for _, _, stage in stages],
    }


def _build_menstrual_cycle(item: dict[str, Any]) -> dict[str, Any]:
    shift = timedelta(seconds=_read_offset(item) or 0)
    start = (datetime.fromisoformat(item["start_time"]) + shift).date()

    def last_day(days: int | None) -> str | None:
        return (start + timedelta(days=days - 1)).isoformat() if days else None

    return {
        "period_start": start.isoformat(),
        "period_end": last_day(item["period_length"]),
        "cycle_end": last_day(item["cycle_length"] or item["predicted_cycle_length"]),
        "is_predicted": bool(item["is_predicted_cycle"]),
    }


def _build_activity(item: dict[str, Any]) -> dict[str, Any]:
    heart = item["heart_rate"] or {}
    intensity = item["intensity_minutes"] or {}
    return {
        "calendar_date": item["date"],
        "steps": item["steps"],
        "distance": item["distance_meters"],
        "floors_climbed": item["floors_climbed"],
        "calories_active": item["active_calories_kcal"],
        "calories_total": item["total_calories_kcal"],
        "low": intensity.get("light"),
        "medium": intensity.get("moderate"),
        "high": intensity.get("vigorous"),
        "heart_rate": {
            name: heart.get(name) for name in ("avg_bpm", "min_bpm", "max_bpm")
        },
    }


def _page(
    resource: str,
    items: list[dict[str, Any]],
    build: Callable[[dict[str, Any]], dict[str, Any]],
) -> MovedPage:
    parts = []
    for item in items:
        provider, source_type = _read_origin(item)
        element = {k: v for k, v in build(item).items() if v is not None}
        parts.append(MovedPart(resource, provider, [element], source_type=source_type))
    return MovedPage(join_parts(parts))


def _timed(item: dict[str, Any]) -> dict[str, Any]:
    offset = _read_offset(item)
    timed = {"timestamp": item["timestamp"]}
    return timed if offset is None else timed | {"timezone_offset": offset}


def _add_second(moment: str) -> str:
    """Return the end of the shortest interval: theirs have no length."""
    return (datetime.fromisoformat(moment) + timedelta(seconds=1)).isoformat()


def _read_origin(item: dict[str, Any]) -> tuple[str, str]:
    source = item["source"] or {}
    kind = _SOURCE_TYPES.get(source.get("device_type") or "", SourceType.UNKNOWN)
    return name_provider(source.get("provider")), str(kind)


def _read_offset(item: dict[str, Any]) -> int | None:
    """Return the seconds of an offset such as `+02:00`."""
    text = item.get("zone_offset")
    if not text:
        return None
    shift = datetime.fromisoformat(f"2000-01-01T00:00:00{text}").utcoffset()
    return int((shift or timedelta(0)).total_seconds())
