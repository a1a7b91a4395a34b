"""Daily activity and body summaries, and the profile (contract 4.4, 4.6, 4.8)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from portal.lib.translation import gettext_lazy
from users.states import Gender, Sex
from users.wearables.readings import Field, Record
from users.wearables.resources import Place, SummaryResource
from users.wearables.summaries.places import (
    DATED,
    KCAL,
    METERS,
    OFFSET,
    PERCENT,
    fill_date_from_calendar_date,
    fill_missing_timezone_offset,
    midnight_utc,
)
from users.wearables.values import Choice, Day, Flag, Number, WholeNumber, Zone

if TYPE_CHECKING:
    from users.wearables.readings import Context

_COUNT = WholeNumber(0, 10**7)
_MINUTES = Number(0, 1500, "minutes")
_BPM = Number(0, 400, "beats per minute")
_KILOGRAMS = Number(0, 1000, "kg")


def _place_day(body: dict[str, Any], context: Context) -> Place:
    """Place a daily summary, identified by its calendar_date."""
    day = fill_date_from_calendar_date(body)
    if "timezone_offset" in body:
        fill_missing_timezone_offset(body, midnight_utc(day), context)
    return Place(body["calendar_date"], day, day, midnight_utc(day))


ACTIVITY = SummaryResource(
    slug="activity",
    name=gettext_lazy("Activity"),
    key="activity",
    record=Record(
        (
            DATED,
            Field("calendar_date", Day(), required=True),
            Field("calories_total", KCAL),
            Field("calories_active", KCAL),
            Field("steps", _COUNT),
            Field("daily_movement", METERS),
            Field("distance", METERS),
            Field("low", _MINUTES),
            Field("medium", _MINUTES),
            Field("high", _MINUTES),
            Field("floors_climbed", _COUNT),
            Field("time_zone", Zone()),
            OFFSET,
            Field(
                "heart_rate",
                Record(
                    (
                        Field("avg_bpm", _BPM),
                        Field("min_bpm", _BPM),
                        Field("max_bpm", _BPM),
                        Field("resting_bpm", _BPM),
                        Field("avg_walking_bpm", _BPM),
                    )
                ),
            ),
            Field("wheelchair_use", Flag(only_true=True)),
            Field("wheelchair_push", _COUNT),
        )
    ),
    place=_place_day,
)

BODY = SummaryResource(
    slug="body",
    name=gettext_lazy("Body"),
    key="body",
    record=Record(
        (
            DATED,
            Field("calendar_date", Day(), required=True),
            Field("weight", _KILOGRAMS),
            Field("fat", PERCENT),
            Field("water_percentage", PERCENT),
            Field("muscle_mass_percentage", PERCENT),
            Field("visceral_fat_index", Number(0, 1000)),
            Field("bone_mass_percentage", PERCENT),
            Field("body_mass_index", Number(0, 1000)),
            Field("lean_body_mass_kilogram", _KILOGRAMS),
            Field("waist_circumference_centimeter", Number(0, 1000, "cm")),
        )
    ),
    place=_place_day,
)


def _place_profile(_body: dict[str, Any], context: Context) -> Place:
    """Place a profile, one per source, dated the day of its arrival."""
    today = context.now.date()
    return Place("", today, today, midnight_utc(today))


PROFILE = SummaryResource(
    slug="profile",
    name=gettext_lazy("Profile"),
    key=None,
    record=Record(
        (
            Field("height", WholeNumber(0, 300, note="cm")),
            Field("birth_date", Day(ahead=timedelta(0))),
            Field("wheelchair_use", Flag(only_true=True)),
            Field("gender", Choice(Gender)),
            Field("sex", Choice(Sex)),
        )
    ),
    place=_place_profile,
)
