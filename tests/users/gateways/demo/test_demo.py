from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from users.gateways.demo import (
    make_demo_menstrual_cycles,
    make_demo_sleep_cycles,
    make_demo_sync_times,
)
from users.states import SleepStage

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TODAY = NOON.date()


def nights(**wanted):
    return make_demo_sleep_cycles(
        **{
            "person": "a",
            "provider": "oura",
            "time_zone": "Europe/Lisbon",
            "now": NOON,
            "nights": 90,
            **wanted,
        }
    )


def minutes(night, stage):
    return sum(
        (end - start) / 60
        for code, start, end in zip(
            night["stage_type"],
            night["stage_start_offset_second"],
            night["stage_end_offset_second"],
            strict=True,
        )
        if code == stage
    )


def test_nights_are_the_same_whenever_they_are_made():
    later = nights(now=NOON + timedelta(days=1), nights=91)

    assert nights() == nights()
    assert [each for each in nights() if each not in later] == []
    assert nights(person="b") != nights()


def test_nights_end_before_now_and_have_some_missing():
    found = nights()

    assert 75 <= len(found) <= 90
    assert max(each["session_end"] for each in found) <= "2026-03-01T12:00:00"
    assert found == sorted(found, key=lambda each: each["session_start"])


def test_a_night_is_built_as_people_sleep():
    found = nights()

    number = len(found)
    for stage, low, high in (
        (SleepStage.DEEP, 60, 110),
        (SleepStage.REM, 85, 140),
        (SleepStage.LIGHT, 180, 300),
        (SleepStage.AWAKE, 10, 45),
    ):
        assert low < sum(minutes(each, stage) for each in found) / number < high
    for each in found:
        halves = {SleepStage.DEEP: [0, 0], SleepStage.REM: [0, 0]}
        middle = each["stage_end_offset_second"][-1] / 2
        for code, start in zip(
            each["stage_type"], each["stage_start_offset_second"], strict=True
        ):
            if code in halves:
                halves[code][start > middle] += 1
        assert halves[SleepStage.DEEP][0] >= halves[SleepStage.DEEP][1]


def test_a_night_without_zone_is_in_utc():
    assert "time_zone" not in nights(time_zone=None)[0]


@pytest.mark.parametrize("today", [TODAY + timedelta(days=n) for n in range(31)])
def test_cycles_follow_one_another_up_to_a_predicted_one(today):
    cycles = make_demo_menstrual_cycles(person="a", today=today, cycles=6)

    *past, running, predicted = cycles
    assert len(past) == 5
    assert predicted["is_predicted"] is True
    assert predicted["period_start"] > today.isoformat() >= running["period_start"]
    for before, after in pairwise(cycles):
        gap = date.fromisoformat(after["period_start"]) - date.fromisoformat(
            before["cycle_end"]
        )
        assert gap.days == 1


def test_nothing_is_logged_after_today():
    for cycle in make_demo_menstrual_cycles(person="a", today=TODAY, cycles=6):
        logged = [
            entry["date"]
            for entries in cycle.values()
            if isinstance(entries, list)
            for entry in entries
        ]
        assert max(logged, default="") <= TODAY.isoformat()


def syncs(**wanted):
    return make_demo_sync_times(
        **{
            "person": "a",
            "provider": "oura",
            "time_zone": "America/Phoenix",
            "since": NOON - timedelta(days=3),
            "now": NOON,
            **wanted,
        }
    )


def test_syncs_are_the_same_however_they_are_asked_for():
    cut = NOON - timedelta(hours=20)

    assert syncs(now=cut) + syncs(since=cut) == syncs()
    assert syncs(person="b") != syncs()


def test_a_source_sends_by_day_and_rests_at_night():
    zone = ZoneInfo("America/Phoenix")

    hours = [at.astimezone(zone).hour for at, _ in syncs()]

    assert 24 <= len(hours) <= 60
    assert set(hours) <= set(range(6, 24))
    assert all(1 <= again <= 4 for _, again in syncs())
