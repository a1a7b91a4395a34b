"""The twin of WHOOP, against a client that others wrote (whoop-client, unchanged)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.users.gateways.whoop.test_gateway import signed_in

whoop_client = pytest.importorskip("whoop_client")
NIGHT = datetime(2026, 3, 9, 3, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def client(whoop):
    for day in range(30):
        start = NIGHT - timedelta(days=day)
        whoop.add_sleep(start, start + 8 * HOUR)
    whoop.add_workout(NIGHT, NIGHT + HOUR)
    token = signed_in(whoop).access_token
    with whoop_client.WhoopClient(token, base_url=f"{whoop.url}/developer") as client:
        yield client


def test_it_reads_all_pages_as_we_do(client):
    sleeps = list(client.iter_sleeps(start=NIGHT - 40 * 24 * HOUR))

    assert len({each.id for each in sleeps}) == 30
    assert sleeps[0].start == NIGHT
    assert sleeps[0].score.stage_summary.total_rem_sleep_time_milli == 5_760_000


def test_it_reads_recoveries_workouts_and_the_person_as_we_do(client):
    (recovery, *_others) = client.get_recoveries(limit=25).records
    (workout,) = client.get_workouts().records

    assert (recovery.score.hrv_rmssd_milli, recovery.score.resting_heart_rate) == (
        61.5,
        52.0,
    )
    assert (workout.sport_name, workout.score.kilojoule) == ("running", 1569.3)
    assert client.get_body_measurement().height_meter == 1.8288
    assert client.get_profile().user_id == 10_129


def test_it_renews_tokens_as_we_do(whoop, time_machine):
    grant = signed_in(whoop)
    provider = whoop_client.OAuthTokenProvider(
        client_id="twin-id",
        client_secret="twin-secret",
        refresh_token=grant.refresh_token,
        token_url=f"{whoop.url}/oauth/oauth2/token",
    )

    assert provider.get_token() == whoop.access_token
    assert (whoop.trades, whoop.replays) == (2, 0)


def test_it_understands_refusals_as_we_do(whoop, client):
    whoop.revoke_consent()

    with pytest.raises(whoop_client.WhoopAuthenticationError):
        client.get_sleeps()
