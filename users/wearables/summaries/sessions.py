"""Workouts, meals and electrocardiograms (contract 4.7, 4.8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from users.states import EcgClassification, EcgInconclusiveCause, EnergyUnit
from users.wearables.providers import find_provider
from users.wearables.readings import Field, ListOf, MapOf, Record
from users.wearables.resources import Place, SummaryResource
from users.wearables.summaries.places import (
    BPM,
    KCAL,
    METERS,
    OFFSET,
    SECONDS,
    check_session_times,
    fill_missing_timezone_offset,
    get_local_date,
)
from users.wearables.values import (
    Choice,
    Day,
    FreeObject,
    Moment,
    Number,
    Text,
    WholeNumber,
    Zone,
)

if TYPE_CHECKING:
    from users.wearables.readings import Context

_SPEED = Number(0, 1000, "m/s")
_WATTS = Number(0, 10_000, "W")
_HEIGHT = Number(-1000, 10_000, "m")
_POLYLINE = Text(max_length=200_000)
_AMOUNT = Number(0, 1e6)
_HEART_RATE_ZONES = 5


def _place_workout(body: dict[str, Any], context: Context) -> Place:
    """Place a workout by the date of its start; its ID defaults to the start."""
    start, end = check_session_times(body, "time_start", "time_end")
    fill_missing_timezone_offset(body, start, context)
    day = get_local_date(start, body["timezone_offset"])
    body["calendar_date"] = body["calendar_date"] or day.isoformat()
    body["provider_id"] = body["provider_id"] or body["time_start"]
    day = date.fromisoformat(body["calendar_date"])
    return Place(body["time_start"], day, day, start, end)


WORKOUTS = SummaryResource(
    slug="workouts",
    name=gettext_lazy("Workouts"),
    key="workouts",
    record=Record(
        (
            Field("calendar_date", Day(), filled=True),
            Field("time_start", Moment(), required=True),
            Field("time_end", Moment(), required=True),
            Field("provider_id", Text(), filled=True),
            Field("title", Text(max_length=1000)),
            OFFSET,
            Field("average_hr", BPM),
            Field("max_hr", BPM),
            Field("distance", METERS),
            Field("calories", KCAL),
            Field(
                "sport",
                Record(
                    (
                        Field("id", WholeNumber(), required=True),
                        Field("name", Text(), required=True),
                        Field("slug", Text(), required=True),
                    )
                ),
            ),
            Field("hr_zones", ListOf(SECONDS, length=_HEART_RATE_ZONES)),
            Field("moving_time", SECONDS),
            Field("total_elevation_gain", Number(0, 1e5, "m")),
            Field("elev_high", _HEIGHT),
            Field("elev_low", _HEIGHT),
            Field("average_speed", _SPEED),
            Field("max_speed", _SPEED),
            Field("average_watts", _WATTS),
            Field("device_watts", _WATTS),
            Field("max_watts", _WATTS),
            Field("weighted_average_watts", _WATTS),
            Field("steps", WholeNumber()),
            Field(
                "map",
                Record(
                    (
                        Field("polyline", _POLYLINE),
                        Field("summary_polyline", _POLYLINE),
                    )
                ),
            ),
        )
    ),
    place=_place_workout,
)


_NUTRIENTS = (
    Field(
        "energy",
        Record(
            (
                Field("unit", Choice(EnergyUnit), default=EnergyUnit.KCAL.value),
                Field("value", KCAL, required=True),
            )
        ),
    ),
    Field(
        "macros",
        Record(
            (
                Field("carbs", _AMOUNT),
                Field("protein", _AMOUNT),
                Field(
                    "fats",
                    Record(
                        (
                            Field("saturated", _AMOUNT),
                            Field("monounsaturated", _AMOUNT),
                            Field("polyunsaturated", _AMOUNT),
                            Field("omega3", _AMOUNT),
                            Field("omega6", _AMOUNT),
                            Field("total", _AMOUNT),
                        )
                    ),
                ),
                Field("alcohol", _AMOUNT),
                Field("water", _AMOUNT),
                Field("fibre", _AMOUNT),
                Field("sugar", _AMOUNT),
                Field("cholesterol", _AMOUNT),
            )
        ),
    ),
    Field(
        "micros",
        Record(
            (
                Field("minerals", MapOf(_AMOUNT)),
                Field("trace_elements", MapOf(_AMOUNT)),
                Field("vitamins", MapOf(_AMOUNT)),
            )
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Food:
    """The foods of a meal: nutrients, and the source's own keys."""

    def read(self, value: Any, context: Context, /) -> dict[str, Any]:
        return {
            **FreeObject().read(value, context),
            **Record(_NUTRIENTS).read(value, context),
        }

    @property
    def schema(self) -> dict[str, Any]:
        return {**Record(_NUTRIENTS).schema, "additionalProperties": True}


def _place_meal(body: dict[str, Any], context: Context) -> Place:
    """Place a meal by its date.

    Its moment and name tell it from others: apps log a whole table at one moment.
    """
    at = datetime.fromisoformat(body["timestamp"])
    key = f"{body['timestamp']}/{body['name']}"
    day = at.astimezone(context.zone).date()
    body["calendar_date"] = body["calendar_date"] or day.isoformat()
    body["provider_id"] = body["provider_id"] or key
    # Ours: no team ranks its sources yet, so the rank is the source's number.
    body["source_id"] = body["priority_id"] = find_provider(context.provider).id
    day = date.fromisoformat(body["calendar_date"])
    return Place(key, day, day, at)


MEAL = SummaryResource(
    slug="meal",
    name=gettext_lazy("Meal"),
    key="meals",
    record=Record(
        (
            Field("priority_id", WholeNumber(), ours=True),
            Field("source_id", WholeNumber(), ours=True),
            Field("provider_id", Text(max_length=1000), filled=True),
            Field("timestamp", Moment(), required=True),
            Field("calendar_date", Day(), filled=True),
            Field("name", Text(), required=True),
            *_NUTRIENTS,
            Field("data", MapOf(_Food(), nulls=False)),
        )
    ),
    place=_place_meal,
    twins=(("source_app_id", "app_id"), ("source_device_id", "device_id")),
)


def _place_electrocardiogram(body: dict[str, Any], context: Context) -> Place:
    """Place an electrocardiogram by the date of its end in its zone (contract 1.5)."""
    start, end = check_session_times(body, "session_start", "session_end")
    body["time_zone"] = body["time_zone"] or context.time_zone
    day = end.astimezone(find_time_zone_by_name(body["time_zone"])).date()
    return Place(body["session_start"], day, day, start, end)


ELECTROCARDIOGRAM = SummaryResource(
    slug="electrocardiogram",
    name=gettext_lazy("Electrocardiogram"),
    key="electrocardiogram",
    record=Record(
        (
            Field("session_start", Moment(), required=True),
            Field("session_end", Moment(), required=True),
            Field("voltage_sample_count", WholeNumber(), required=True),
            Field("heart_rate_mean", BPM),
            Field("sampling_frequency_hz", Number(0, 1e5, "Hz")),
            Field("classification", Choice(EcgClassification)),
            Field("inconclusive_cause", Choice(EcgInconclusiveCause)),
            Field("algorithm_version", Text()),
            Field("time_zone", Zone()),
            Field("source_device_model", Text()),
        )
    ),
    place=_place_electrocardiogram,
    twins=(
        ("source_provider", "provider"),
        ("source_type", "type"),
        ("source_app_id", "app_id"),
        ("source_device_id", "device_id"),
    ),
)
