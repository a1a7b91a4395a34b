"""Resources that Oura provides, their scopes and collections.

What Oura has and we have no resource for: contributors of scores, MET by the minute and
five-minute classes of `daily_activity`; `daily_stress` (seconds in high stress, no
level), `daily_resilience`, `daily_cardiovascular_age`, `sleep_time`, `rest_mode_period`
and `ring_battery_level`; weight and age of `personal_info`, which have no date. What
`tag` has is in `enhanced_tag`. Steps and active calories come by the day, in the
activity. Source: Oura API 2, document 1.37.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from users.gateways.cloud import CloudResource
from users.gateways.oura import days, nights
from users.states import SourceType

if TYPE_CHECKING:
    from users.gateways.cloud import Elements, Window
    from users.gateways.oura.client import OuraClient
    from users.gateways.oura.values import Document


ALL_SCOPES = frozenset(
    {
        "personal",
        "daily",
        "heartrate",
        "workout",
        "session",
        "tag",
        "spo2",
        "heart_health",
    }
)


def _read_profile(window: Window) -> Elements:
    return _typed(
        days.convert_oura_profile(window.client.fetch_document("personal_info"))
    )


def _read_sleep(window: Window) -> Elements:
    return _worn(
        nights.convert_oura_sleeps(
            _days(window, "sleep"),
            daily_sleep=_days(window, "daily_sleep"),
            daily_readiness=_days(window, "daily_readiness"),
        )
    )


def _read_sleep_cycle(window: Window) -> Elements:
    sleeps = _days(window, "sleep")
    return _worn(nights.convert_oura_sleep_stages(sleeps, fallback=window.zone))


def _read_activity(window: Window) -> Elements:
    return _worn(days.convert_oura_activity(_days(window, "daily_activity")))


def _read_workouts(window: Window) -> Elements:
    workouts = _days(window, "workout")
    return {
        SourceType.RING: days.convert_oura_workouts(workouts, by_hand=False),
        SourceType.APP: days.convert_oura_workouts(workouts, by_hand=True),
    }


def _read_heart_rate(window: Window) -> Elements:
    """Read heart rates of whole days if granted, else of the nights."""
    if "heartrate" in window.scopes:
        rows = window.client.fetch_moments("heartrate", window.first, window.last)
        return _worn(days.convert_oura_heart_rates(rows))
    return _worn(nights.convert_oura_sleep_heart_rates(_days(window, "sleep")))


def _read_hrv(window: Window) -> Elements:
    """Read variability of nights, and of sessions if granted."""
    found = nights.convert_oura_sleep_hrv(_days(window, "sleep"))
    if "session" in window.scopes:
        found += days.convert_oura_session_hrv(_days(window, "session"))
    return _worn(found)


def _read_blood_oxygen(window: Window) -> Elements:
    sleeps, spo2 = _days(window, "sleep"), _days(window, "daily_spo2")
    return _worn(nights.convert_oura_blood_oxygen(sleeps, spo2))


def _read_breathing(window: Window) -> Elements:
    sleeps, spo2 = _days(window, "sleep"), _days(window, "daily_spo2")
    return _worn(nights.convert_oura_breathing_disturbances(sleeps, spo2))


def _read_temperature(window: Window) -> Elements:
    return _worn(nights.convert_oura_temperature_deviations(_days(window, "sleep")))


def _read_vo2_max(window: Window) -> Elements:
    return _worn(days.convert_oura_vo2_max(_days(window, "vO2_max")))


def _read_mindfulness(window: Window) -> Elements:
    return _worn(days.convert_oura_mindfulness_minutes(_days(window, "session")))


def _read_notes(window: Window) -> Elements:
    return _typed(days.convert_oura_tags_to_notes(_days(window, "enhanced_tag")))


def _days(window: Window, name: str) -> list[Document]:
    """Return the documents of a dated collection in a window."""
    client: OuraClient = window.client
    return client.fetch_days(name, window.first, window.last)


def _worn(elements: list[dict[str, Any]]) -> Elements:
    return {SourceType.RING: elements}


def _typed(elements: list[dict[str, Any]]) -> Elements:
    return {SourceType.APP: elements}


_DAILY = frozenset({"daily"})
_NIGHTLY_SPO2 = frozenset({"daily", "spo2"})

# By name of contract 3.4, in the order in which they are asked for.
RESOURCES = {
    "profile": CloudResource(_read_profile, (frozenset({"personal"}),), is_dated=False),
    "sleep": CloudResource(_read_sleep, (_DAILY,), is_complete=True),
    "sleep_cycle": CloudResource(_read_sleep_cycle, (_DAILY,), is_complete=True),
    "activity": CloudResource(_read_activity, (_DAILY,), is_complete=True),
    "workouts": CloudResource(
        _read_workouts, (frozenset({"workout"}),), is_complete=True
    ),
    "heartrate": CloudResource(_read_heart_rate, (frozenset({"heartrate"}), _DAILY)),
    "hrv": CloudResource(_read_hrv, (_DAILY,)),
    "blood_oxygen": CloudResource(_read_blood_oxygen, (_NIGHTLY_SPO2,)),
    "sleep_breathing_disturbance": CloudResource(_read_breathing, (_NIGHTLY_SPO2,)),
    "body_temperature_delta": CloudResource(_read_temperature, (_DAILY,)),
    # Oura does not say which of them it needs.
    "vo2_max": CloudResource(_read_vo2_max, (_DAILY, frozenset({"heart_health"}))),
    "mindfulness_minutes": CloudResource(_read_mindfulness, (frozenset({"session"}),)),
    "note": CloudResource(_read_notes, (frozenset({"tag"}),)),
}
