"""Resources that Oura provides, their scopes and collections.

What Oura has and we have no resource for: contributors of scores, MET by the minute and
five-minute classes of `daily_activity`; `daily_stress` (seconds in high stress, no
level), `daily_resilience`, `daily_cardiovascular_age`, `sleep_time`, `rest_mode_period`
and `ring_battery_level`; weight and age of `personal_info`, which have no date. What
`tag` has is in `enhanced_tag`. Steps and active calories come by the day, in the
activity. Source: Oura API 2, document 1.37.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from users.gateways.oura import days, nights
from users.states import SourceType

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from users.gateways.oura.client import OuraClient
    from users.gateways.oura.values import Document


@dataclass(frozen=True, slots=True)
class Window:
    """A window of days to read, `first` and `last` inclusive.

    `scopes` are the names of what was granted, all where Oura did not say. `zone` is
    the user's fallback.
    """

    client: OuraClient
    first: date
    last: date
    scopes: frozenset[str]
    zone: tzinfo

    def fetch_days(self, name: str) -> list[Document]:
        """Return the documents of a dated collection in the window."""
        return self.client.fetch_days(name, self.first, self.last)


# Elements by what measured them.
Elements = dict[SourceType, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class OuraResource:
    """How a resource is read from Oura.

    Any one of the sets of scopes in `scopes` suffices. One that is not `is_dated` is
    read whole.
    """

    read: Callable[[Window], Elements]
    scopes: tuple[frozenset[str], ...]
    is_dated: bool = True

    def is_allowed(self, granted: frozenset[str]) -> bool:
        return any(granted >= needed for needed in self.scopes)


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
            window.fetch_days("sleep"),
            daily_sleep=window.fetch_days("daily_sleep"),
            daily_readiness=window.fetch_days("daily_readiness"),
        )
    )


def _read_sleep_cycle(window: Window) -> Elements:
    sleeps = window.fetch_days("sleep")
    return _worn(nights.convert_oura_sleep_stages(sleeps, fallback=window.zone))


def _read_activity(window: Window) -> Elements:
    return _worn(days.convert_oura_activity(window.fetch_days("daily_activity")))


def _read_workouts(window: Window) -> Elements:
    workouts = window.fetch_days("workout")
    return {
        SourceType.RING: days.convert_oura_workouts(workouts, by_hand=False),
        SourceType.APP: days.convert_oura_workouts(workouts, by_hand=True),
    }


def _read_heart_rate(window: Window) -> Elements:
    """Read heart rates of whole days if granted, else of the nights."""
    if "heartrate" in window.scopes:
        rows = window.client.fetch_moments("heartrate", window.first, window.last)
        return _worn(days.convert_oura_heart_rates(rows))
    return _worn(nights.convert_oura_sleep_heart_rates(window.fetch_days("sleep")))


def _read_hrv(window: Window) -> Elements:
    """Read variability of nights, and of sessions if granted."""
    found = nights.convert_oura_sleep_hrv(window.fetch_days("sleep"))
    if "session" in window.scopes:
        found += days.convert_oura_session_hrv(window.fetch_days("session"))
    return _worn(found)


def _read_blood_oxygen(window: Window) -> Elements:
    sleeps, spo2 = window.fetch_days("sleep"), window.fetch_days("daily_spo2")
    return _worn(nights.convert_oura_blood_oxygen(sleeps, spo2))


def _read_breathing(window: Window) -> Elements:
    sleeps, spo2 = window.fetch_days("sleep"), window.fetch_days("daily_spo2")
    return _worn(nights.convert_oura_breathing_disturbances(sleeps, spo2))


def _read_temperature(window: Window) -> Elements:
    return _worn(nights.convert_oura_temperature_deviations(window.fetch_days("sleep")))


def _read_vo2_max(window: Window) -> Elements:
    return _worn(days.convert_oura_vo2_max(window.fetch_days("vO2_max")))


def _read_mindfulness(window: Window) -> Elements:
    return _worn(days.convert_oura_mindfulness_minutes(window.fetch_days("session")))


def _read_notes(window: Window) -> Elements:
    return _typed(days.convert_oura_tags_to_notes(window.fetch_days("enhanced_tag")))


def _worn(elements: list[dict[str, Any]]) -> Elements:
    return {SourceType.RING: elements}


def _typed(elements: list[dict[str, Any]]) -> Elements:
    return {SourceType.APP: elements}


_DAILY = frozenset({"daily"})
_NIGHTLY_SPO2 = frozenset({"daily", "spo2"})

# By name of contract 3.4, in the order in which they are asked for.
RESOURCES = {
    "profile": OuraResource(_read_profile, (frozenset({"personal"}),), is_dated=False),
    "sleep": OuraResource(_read_sleep, (_DAILY,)),
    "sleep_cycle": OuraResource(_read_sleep_cycle, (_DAILY,)),
    "activity": OuraResource(_read_activity, (_DAILY,)),
    "workouts": OuraResource(_read_workouts, (frozenset({"workout"}),)),
    "heartrate": OuraResource(_read_heart_rate, (frozenset({"heartrate"}), _DAILY)),
    "hrv": OuraResource(_read_hrv, (_DAILY,)),
    "blood_oxygen": OuraResource(_read_blood_oxygen, (_NIGHTLY_SPO2,)),
    "sleep_breathing_disturbance": OuraResource(_read_breathing, (_NIGHTLY_SPO2,)),
    "body_temperature_delta": OuraResource(_read_temperature, (_DAILY,)),
    # Oura does not say which of them it needs.
    "vo2_max": OuraResource(_read_vo2_max, (_DAILY, frozenset({"heart_health"}))),
    "mindfulness_minutes": OuraResource(_read_mindfulness, (frozenset({"session"}),)),
    "note": OuraResource(_read_notes, (frozenset({"tag"}),)),
}
