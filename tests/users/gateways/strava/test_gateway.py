"""Strava's activities read as workouts, and its pushes, against its twin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    ResourceRefused,
    SourceRefused,
    SourceUnavailable,
)
from users.gateways.pushes import PushRejected, PushRequest
from users.gateways.sources import find_source_gateway
from users.gateways.strava.records import convert_strava_activities
from users.models import User

BACK = "https://assay.example/connect/back/strava/"
HERE = "https://assay.example/push/strava/secret/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
RUN = datetime(2026, 3, 9, 3, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Keys:
    """A PushKeys in memory."""

    kept = ""

    def read(self):
        return self.kept

    def store(self, key, *, asked_at):
        self.kept = key


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def gateway(credentials=None):
    return find_source_gateway("strava", credentials)


def signed_in(twin):
    return gateway().connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )


def pull(twin, *, days=5, grant=None):
    """The pages of a pull of the last days."""
    return list(
        gateway().pull(
            User(),
            "workouts",
            NOON - timedelta(days=days),
            until=NOON,
            grant=grant or signed_in(twin),
        )
    )


def elements(pages):
    return [each for page in pages for batch in page.batches for each in batch.elements]


def pushes(keys):
    found = find_source_gateway(
        "strava", ClientCredentials("twin-id", "twin-secret"), keys=keys
    )
    return found.pushes


def request_of(push):
    return PushRequest(token="t", query={}, headers={}, body=push.body)


def test_people_sign_in_for_all_their_activities(strava):
    url = gateway().authorise_url(state="s-1", redirect_url=BACK, challenge="c-1")

    assert url.startswith(f"{strava.url}/oauth/authorize?")
    assert parse_qs(urlsplit(url).query)["scope"] == ["read,activity:read_all"]


def test_tokens_are_had_with_the_athletes_id_and_rotate(strava, time_machine):
    first = signed_in(strava)
    time_machine.move_to(NOON + 6 * HOUR + timedelta(seconds=1), tick=False)
    with pytest.raises(AccessExpired):
        pull(strava, grant=first)
    second = gateway().refresh_tokens(first)
    pull(strava, grant=second)
    with pytest.raises(SourceRefused):
        gateway().refresh_tokens(first)

    assert first.external_user_id == second.external_user_id == "10129"
    assert first.expires_at == NOON + 6 * HOUR
    assert strava.replays == 1


def test_an_activity_is_read_with_its_offset(strava):
    activity = strava.add_activity(RUN, minutes=40, offset=-5)

    (page,) = pull(strava)

    assert elements([page]) == [
        {
            "external_id": str(activity),
            "provider_id": str(activity),
            "time_start": "2026-03-08T22:30:00-05:00",
            "time_end": "2026-03-08T23:10:00-05:00",
            "timezone_offset": -18_000,
            "title": "Morning Run",
            "sport": {"id": 0, "name": "Trail run", "slug": "trail_run"},
            "distance": 8012.4,
            "total_elevation_gain": 96.0,
            "elev_high": 140.2,
            "elev_low": 88.0,
            "average_speed": 3.42,
            "max_speed": 5.1,
            "average_hr": 149,
            "max_hr": 171,
            "moving_time": 2340,
        }
    ]
    assert page.is_complete


@pytest.mark.parametrize(
    "changes",
    [
        {"start_date": "soon"},
        {"start_date": "2026-03-09T03:30:00"},
        {"elapsed_time": 0},
        {"elapsed_time": None},
        {"id": "7"},
    ],
)
def test_what_has_no_times_is_not_read(changes):
    whole = {"id": 7, "start_date": "2026-03-09T03:30:00Z", "elapsed_time": 60}

    assert convert_strava_activities([whole | changes]) == []
    (bare,) = convert_strava_activities([whole | {"utc_offset": "1", "name": 7}])
    assert set(bare) == {
        *("external_id", "provider_id", "time_start", "time_end", "timezone_offset")
    }


def test_half_a_year_comes_by_pages_of_200_until_one_is_empty(strava):
    for half_day in range(360):
        strava.add_activity(RUN - timedelta(hours=12 * half_day))

    found = elements(pull(strava, days=180))

    assert len({each["external_id"] for each in found}) == 360
    asked = [path for _, _, path, _ in strava.log if path.endswith("activities")]
    assert len(asked) == 6


def test_a_grant_is_taken_back_also_after_its_access_token_ended(strava, time_machine):
    grant = signed_in(strava)
    time_machine.move_to(NOON + 7 * HOUR, tick=False)

    gateway().revoke(grant)

    assert strava.access_token == ""
    assert [(path, status) for _, _, path, status in strava.log][-3:] == [
        ("/oauth/deauthorize", 401),
        ("/oauth/token", 200),
        ("/oauth/deauthorize", 200),
    ]


def test_too_many_calls_wait(strava):
    grant = signed_in(strava)
    strava._calls.extend([NOON.timestamp()] * 100)

    with pytest.raises(SourceUnavailable) as caught:
        pull(strava, grant=grant)

    assert caught.value.reason == "rate_limited"


def test_credentials_are_tried_by_a_code_of_nobody(strava):
    def works(secret):
        credentials = ClientCredentials("twin-id", secret)
        return gateway(credentials).check_credentials(redirect_url=BACK)

    assert works("twin-secret")
    assert not works("another")


def test_the_subscription_is_made_once_and_anothers_is_left_alone(strava):
    keys, checked = Keys(), []

    def answer(method, push):
        checked.append((method, push.url))
        return 200

    strava.sender.send = answer
    grant = signed_in(strava)

    for _ in range(2):
        pushes(keys).subscribe(url=HERE, token="t-1", grant=grant)
    with pytest.raises(ResourceRefused) as refused:
        pushes(Keys()).subscribe(url=HERE, token="t-2", grant=grant)

    ((method, url),) = checked
    query = {name: each[0] for name, each in parse_qs(urlsplit(url).query).items()}
    answer = pushes(keys).answer_check(PushRequest("t-1", query, {}, b""))
    assert (method, answer) == ("GET", {"hub.challenge": query["hub.challenge"]})
    with pytest.raises(PushRejected):
        pushes(keys).answer_check(PushRequest("t-2", query, {}, b""))
    assert (keys.kept, refused.value.reason) == ("120475", "webhook_taken")
    assert "twin-secret" not in str(strava.log)


def test_a_push_names_the_athlete_also_one_who_took_access_back(strava):
    keys = Keys()
    pushes(keys).subscribe(url=HERE, token="t", grant=signed_in(strava))
    strava.announce("create", strava.add_activity(RUN))
    strava.announce("update", strava.user_id, authorized="false")

    found = [
        pushes(keys).read(request_of(each), at=NOON) for each in strava.sender.waiting
    ]

    for (announced,) in found:
        assert announced.external_user_id == "10129"
        assert announced.resources == ("workouts",)
        assert (announced.first, announced.last) == (NOON - 3 * 24 * HOUR, NOON)


@pytest.mark.parametrize(
    "changes",
    [
        {"subscription_id": 7},
        {"subscription_id": None},
        {"event_time": int(NOON.timestamp()) - 4 * 3600},
        {"event_time": int(NOON.timestamp()) + 600},
        {"event_time": "now"},
        {"owner_id": ...},
    ],
)
def test_a_push_that_is_not_of_our_subscription_is_rejected(strava, changes):
    keys = Keys()
    pushes(keys).subscribe(url=HERE, token="t", grant=signed_in(strava))
    strava.announce("create", 7)
    (push,) = strava.sender.waiting
    said = {
        name: each
        for name, each in (orjson.loads(push.body) | changes).items()
        if each is not ...
    }
    forged = PushRequest("t", {}, {}, orjson.dumps(said))

    with pytest.raises(PushRejected):
        pushes(keys).read(forged, at=NOON)
    with pytest.raises(PushRejected):
        pushes(Keys()).read(request_of(push), at=NOON)
