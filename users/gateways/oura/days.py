"""Convert Oura's days, workouts, sessions and tags to resources.

Pure, as nights.
"""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from users.gateways.oura.values import (
    Document,
    build_samples_at_fixed_interval,
    is_json_number,
    parse_time_with_offset,
    parse_utc_offset,
    round_number_or_none,
)
from users.states import NoteTag, Sex

if TYPE_CHECKING:
    from collections.abc import Iterable

# Moments spent on the mind; naps and body checks are none.
_MINDFUL = frozenset({"breathing", "meditation", "relaxation", "rest"})
_SEXES = {"female": Sex.FEMALE, "male": Sex.MALE}
# Oura's words for what our tags of notes are about.
_FOOD_WORDS = ("meal", "snack", "food", "alcohol", "caffeine", "coffee", "fasting")
_EXERCISE_WORDS = ("exercise", "workout", "sports", "training")
# Ours, as timeseries.body: longer texts are no notes.
_NOTE_MAX_LENGTH = 2000


def convert_oura_profile(info: Document) -> list[dict[str, Any]]:
    """Convert the profile; Oura sends an age but no birth date, and meters."""
    height = info.get("height")
    sex = _SEXES.get(info.get("biological_sex") or "")
    profile = {
        "height": round_number_or_none(height * 100)
        if is_json_number(height) and height
        else None,
        "sex": str(sex) if sex else None,
    }
    return [profile] if any(profile.values()) else []


def convert_oura_activity(days: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert days of activity, which start at 04:00; durations are in seconds."""
    return [
        {
            "external_id": each.get("id"),
            "calendar_date": each["day"],
            "timezone_offset": parse_utc_offset(each.get("timestamp")),
            "calories_total": each.get("total_calories"),
            "calories_active": each.get("active_calories"),
            "steps": round_number_or_none(each.get("steps")),
            # Walking that would have taken the same energy: not a distance.
            "daily_movement": each.get("equivalent_walking_distance"),
            "low": _minutes(each.get("low_activity_time")),
            "medium": _minutes(each.get("medium_activity_time")),
            "high": _minutes(each.get("high_activity_time")),
        }
        for each in days
        if each.get("day")
    ]


def convert_oura_workouts(
    workouts: Iterable[Document], *, by_hand: bool
) -> list[dict[str, Any]]:
    """Convert workouts, entered by the user or detected by the ring."""
    return [
        {
            "external_id": each.get("id"),
            "provider_id": each.get("id"),
            "calendar_date": each.get("day"),
            "time_start": each["start_datetime"],
            "time_end": each["end_datetime"],
            "timezone_offset": parse_utc_offset(each["start_datetime"]),
            "title": each.get("label"),
            "calories": each.get("calories"),
            "distance": each.get("distance"),
            "sport": _sport(each.get("activity")),
        }
        for each in workouts
        if (each.get("source") == "manual") is by_hand
        and _is_session(each, "start_datetime", "end_datetime")
    ]


def _sport(activity: object) -> dict[str, Any] | None:
    """Return Oura's name of a sport, which has no number."""
    if not isinstance(activity, str) or not activity:
        return None
    slug = activity.strip().lower().replace(" ", "_").replace("-", "_")
    return {"id": 0, "name": slug.replace("_", " ").capitalize(), "slug": slug}


def convert_oura_heart_rates(rows: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert heart rates; they are in UTC, without the user's offset."""
    return [
        {
            # With a Z, which tells no offset (RFC 9557, 2).
            "timestamp": parse_time_with_offset(each["timestamp"])
            .astimezone(UTC)
            .isoformat()
            .replace("+00:00", "Z"),
            "value": each.get("bpm"),
        }
        for each in rows
        if parse_utc_offset(each.get("timestamp")) is not None
        and is_json_number(each.get("bpm"))
    ]


def convert_oura_mindfulness_minutes(
    sessions: Iterable[Document],
) -> list[dict[str, Any]]:
    """Convert minutes of breathing, meditation and rest."""
    return [
        {
            "start": each["start_datetime"],
            "end": each["end_datetime"],
            "timezone_offset": parse_utc_offset(each["start_datetime"]),
            "value": _length(each).total_seconds() / 60,
        }
        for each in sessions
        if each.get("type") in _MINDFUL
        and _is_session(each, "start_datetime", "end_datetime")
    ]


def convert_oura_session_hrv(sessions: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert heart rate variability in sessions."""
    return [
        sample
        for each in sessions
        for sample in build_samples_at_fixed_interval(
            each.get("heart_rate_variability")
        )
    ]


def convert_oura_vo2_max(estimates: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert estimates of VO2 max, each one second long."""
    return [
        {
            "start": each["timestamp"],
            "end": (
                parse_time_with_offset(each["timestamp"]) + timedelta(seconds=1)
            ).isoformat(),
            "timezone_offset": parse_utc_offset(each["timestamp"]),
            "value": each["vo2_max"],
        }
        for each in estimates
        if parse_utc_offset(each.get("timestamp")) is not None
        and is_json_number(each.get("vo2_max"))
    ]


def convert_oura_tags_to_notes(tags: Iterable[Document]) -> list[dict[str, Any]]:
    """Convert the user's tags: the comment, or the tag's name."""
    notes = []
    for each in tags:
        text = _note(each)
        offset = parse_utc_offset(each.get("start_time"))
        if text and offset is not None:
            start = each["start_time"]
            if _is_session(each, "start_time", "end_time"):
                end = each["end_time"]
            else:
                end = (parse_time_with_offset(start) + timedelta(seconds=1)).isoformat()
            notes.append(
                {
                    "start": start,
                    "end": end,
                    "timezone_offset": offset,
                    "value": text[:_NOTE_MAX_LENGTH],
                    "tags": [str(_note_tag(each))],
                }
            )
    return notes


def _note(tag: Document) -> str:
    parts = [_tag_name(tag), tag.get("comment")]
    return ": ".join(part for part in parts if isinstance(part, str) and part)


def _tag_name(tag: Document) -> str:
    code = tag.get("tag_type_code")
    if code == "custom":
        return str(tag.get("custom_name") or "")
    if not isinstance(code, str):
        return ""
    name = code.removeprefix("tag_").removeprefix("generic_").removeprefix("sleep_")
    return name.replace("_", " ").capitalize()


def _note_tag(tag: Document) -> NoteTag:
    code = str(tag.get("tag_type_code") or "").lower()
    if any(word in code for word in _FOOD_WORDS):
        return NoteTag.FOOD
    if any(word in code for word in _EXERCISE_WORDS):
        return NoteTag.EXERCISE
    return NoteTag.UNSPECIFIED


def _minutes(seconds: object) -> float | None:
    return seconds / 60 if isinstance(seconds, int | float) else None


def _is_session(document: Document, first: str, last: str) -> bool:
    has_both_times = (
        parse_utc_offset(document.get(first)) is not None
        and parse_utc_offset(document.get(last)) is not None
    )
    return has_both_times and parse_time_with_offset(
        document[first]
    ) < parse_time_with_offset(document[last])


def _length(session: Document) -> timedelta:
    return parse_time_with_offset(session["end_datetime"]) - parse_time_with_offset(
        session["start_datetime"]
    )
