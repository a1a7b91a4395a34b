"""The twin of Polar, against a client that others wrote (polar-flow-api, unchanged)."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.users.gateways.polar.test_gateway import signed_in

polar_flow = pytest.importorskip("polar_flow")
NIGHT = datetime(2026, 3, 8, 22, 39, 7, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(datetime(2026, 3, 9, 12, tzinfo=UTC), tick=False)


@pytest.fixture
def token(polar):
    polar.add_night(NIGHT, NIGHT + timedelta(hours=8))
    polar.add_exercise(NIGHT - timedelta(hours=6))
    polar.add_day(date(2026, 3, 8))
    return signed_in(polar).access_token


def ask(twin, token, question):
    async def run():
        async with polar_flow.PolarFlow(token, base_url=twin.url) as client:
            return await question(client)

    return asyncio.run(run())


def test_it_reads_nights_and_exercises_as_we_do(polar, token):
    (night,) = ask(polar, token, lambda client: client.sleep.list(days=7))
    (exercise,) = ask(polar, token, lambda client: client.exercises.list())

    assert (night.date, night.sleep_start_time) == (date(2026, 3, 9), NIGHT)
    assert (night.deep_sleep, night.sleep_score) == (5760, 80)
    assert night.hypnogram == {"22:39": 3, "02:39": 4}
    assert (exercise.sport, exercise.start_time_utc_offset) == ("RUNNING", 0)
    assert exercise.heart_rate == {"average": 129, "maximum": 147}


def test_it_reads_days_recharges_and_heart_rates_as_we_do(polar, token):
    polar.add_heart_rates(date(2026, 3, 8), {"08:00:00": 62})

    (day,) = ask(
        polar, token, lambda client: client.activity.list("2026-03-01", "2026-03-09")
    )
    (recharge,) = ask(polar, token, lambda client: client.recharge.list())

    assert (day.steps, day.active_duration_seconds) == (8823, 11_460)
    assert (recharge.heart_rate_variability_avg, recharge.breathing_rate_avg) == (
        44,
        14.1,
    )
    assert recharge.hrv_samples == {"22:39": 41, "02:39": 47}


def test_it_registers_and_ends_as_we_do(polar, token):
    user = ask(polar, token, lambda client: client.users.get(10_129))
    ask(polar, token, lambda client: client.users.delete(10_129))

    assert (user.polar_user_id, user.member_id) == (10_129, "10129")
    assert not polar.is_registered


@pytest.mark.parametrize(
    ("status", "name"), [(401, "AuthenticationError"), (429, "RateLimitError")]
)
def test_it_understands_refusals_as_we_do(polar, token, status, name):
    polar.faults.append(status)

    with pytest.raises(getattr(polar_flow, name)):
        ask(polar, token, lambda client: client.sleep.list())
