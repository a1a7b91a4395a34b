"""WHOOP's records read as resources, against its twin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    Grant,
    SourceRefused,
    SourceUnavailable,
)
from users.gateways.sources import find_source_gateway
from users.models import User

BACK = "https://assay.example/connect/back/whoop_v2/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
NIGHT = datetime(2026, 3, 9, 3, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def gateway(credentials=None):
    return find_source_gateway("whoop_v2", credentials)


def signed_in(twin):
    return gateway().connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )


def pull(twin, resource, *, days=5, grant=None):
    """The pages of a pull of the last days."""
    return list(
        gateway().pull(
            User(),
            resource,
            NOON - timedelta(days=days),
            until=NOON,
            grant=grant or signed_in(twin),
        )
    )


def elements(pages):
    return [each for page in pages for batch in page.batches for each in batch.elements]


def test_people_sign_in_for_offline_access(whoop):
    url = gateway().authorise_url(state="s-1", redirect_url=BACK, challenge="c-1")

    assert url.startswith(f"{whoop.url}/oauth/oauth2/auth?")
    assert parse_qs(urlsplit(url).query)["scope"] == [
        "offline read:profile read:sleep read:recovery read:workout"
        " read:body_measurement"
    ]


def test_tokens_are_had_with_the_users_id_and_rotate(whoop, time_machine):
    first = signed_in(whoop)
    time_machine.move_to(NOON + HOUR + timedelta(seconds=1), tick=False)
    with pytest.raises(AccessExpired):
        pull(whoop, "sleep", grant=first)
    second = gateway().refresh_tokens(first)
    pull(whoop, "sleep", grant=second)
    with pytest.raises(SourceRefused):
        gateway().refresh_tokens(first)

    assert first.external_user_id == second.external_user_id == "10129"
    assert first.expires_at == NOON + HOUR
    assert second.refresh_token != first.refresh_token
    assert whoop.replays == 1


def test_a_sleep_is_read_with_its_recovery_and_the_offset_of_its_night(whoop):
    sleep_id = whoop.add_sleep(NIGHT, NIGHT + 8 * HOUR, offset="-05:00")

    (page,) = pull(whoop, "sleep")

    assert elements([page]) == [
        {
            "external_id": sleep_id,
            "bedtime_start": "2026-03-08T22:30:00-05:00",
            "bedtime_stop": "2026-03-09T06:30:00-05:00",
            "timezone_offset": -18_000,
            "type": "long_sleep",
            "duration": 28_800,
            "total": 25_920,
            "awake": 2880,
            "light": 14_400,
            "rem": 5760,
            "deep": 5760,
            "score": 88,
            "efficiency": 90.0,
            "respiratory_rate": 15.5,
            "recovery_readiness_score": 64,
            "hr_resting": 52,
            "average_hrv": 61.5,
            "skin_temperature": 33.7,
        }
    ]
    assert page.is_complete


def test_a_nap_is_one_and_what_has_no_score_is_not_read(whoop):
    whoop.add_sleep(NIGHT, NIGHT + HOUR, nap=True)
    whoop.add_sleep(NIGHT - 24 * HOUR, NIGHT - 20 * HOUR, score_state="UNSCORABLE")

    (page,) = pull(whoop, "sleep")

    assert [each["type"] for each in elements([page])] == ["acknowledged_nap"]
    assert page.is_complete


def test_while_a_score_is_computed_nothing_counts_as_removed(whoop):
    whoop.add_sleep(NIGHT, NIGHT + HOUR, score_state="PENDING_SCORE", score=None)

    (page,) = pull(whoop, "sleep")

    assert (elements([page]), page.is_complete) == ([], False)


def test_a_workout_is_read_in_our_units(whoop):
    workout_id = whoop.add_workout(NIGHT, NIGHT + HOUR, offset="+01:00")

    (workout,) = elements(pull(whoop, "workouts"))

    assert workout == {
        "external_id": workout_id,
        "provider_id": workout_id,
        "time_start": "2026-03-09T04:30:00+01:00",
        "time_end": "2026-03-09T05:30:00+01:00",
        "timezone_offset": 3600,
        "average_hr": 123,
        "max_hr": 146,
        "distance": 1772.7,
        "calories": 375.1,
        "total_elevation_gain": 46.6,
        "hr_zones": [600, 900, 900, 600, 300],
        "sport": {"id": 0, "name": "Running", "slug": "running"},
    }


def test_the_profile_is_the_height(whoop):
    assert elements(pull(whoop, "profile")) == [{"height": 183}]


def test_half_a_year_comes_by_pages_of_25(whoop):
    for day in range(180):
        start = NIGHT - timedelta(days=day)
        whoop.add_sleep(start, start + 8 * HOUR)

    found = elements(pull(whoop, "sleep", days=180))

    assert len({each["external_id"] for each in found}) == 180
    asked = [path for _, _, path, _ in whoop.log if path.endswith("activity/sleep")]
    assert len(asked) == 9


def test_a_grant_is_taken_back_also_after_its_access_token_ended(whoop, time_machine):
    grant = signed_in(whoop)
    time_machine.move_to(NOON + 2 * HOUR, tick=False)

    gateway().revoke(grant)

    assert whoop.access_token == ""
    assert [(method, status) for _, method, path, status in whoop.log][-3:] == [
        ("DELETE", 401),
        ("POST", 200),
        ("DELETE", 204),
    ]


def test_too_many_calls_wait_as_long_as_whoop_says(whoop):
    grant = signed_in(whoop)
    whoop._calls.extend([NOON.timestamp()] * 100)

    with pytest.raises(SourceUnavailable) as caught:
        pull(whoop, "sleep", grant=grant)

    assert caught.value.reason == "rate_limited"
    assert caught.value.retry_after == timedelta(seconds=61)


def test_credentials_are_tried_by_a_code_of_nobody(whoop):
    def works(secret):
        credentials = ClientCredentials("twin-id", secret)
        return gateway(credentials).check_credentials(redirect_url=BACK)

    assert works("twin-secret")
    assert not works("another")


def test_what_was_not_granted_is_not_offered(whoop):
    grant = Grant("a", scopes=("offline", "read:sleep"))

    assert gateway().granted_resources(grant) == {"sleep"}
