"""The twin of Strava, against a client that others wrote (stravalib, unchanged)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from requests import Session
from requests.adapters import HTTPAdapter

from tests.users.gateways.strava.test_gateway import signed_in

stravalib = pytest.importorskip("stravalib")
RUN = datetime(2026, 3, 9, 3, 30, tzinfo=UTC)
HERE = "https://assay.example/push/strava/secret/"


@pytest.fixture
def session(strava):
    """A session whose calls to www.strava.com go to the twin."""

    class ToTwin(HTTPAdapter):
        def send(self, request, **options):
            parts = urlsplit(request.url)
            assert (parts.scheme, parts.netloc) == ("https", "www.strava.com")
            request.url = request.url.replace("https://www.strava.com", strava.url)
            return super().send(request, **options)

    with Session() as session:
        session.mount("https://", ToTwin())
        yield session


@pytest.fixture
def client(strava, session, time_machine):
    time_machine.move_to(RUN + timedelta(hours=9), tick=False)
    for number in range(250):
        strava.add_activity(RUN - timedelta(hours=12 * number), offset=1)
    return stravalib.Client(
        access_token=signed_in(strava).access_token,
        requests_session=session,
        rate_limit_requests=False,
    )


def test_it_reads_all_pages_as_we_do(client):
    found = list(client.get_activities(after=RUN - timedelta(days=200)))

    assert len({each.id for each in found}) == 250
    newest = max(found, key=lambda each: each.start_date)
    assert (newest.start_date, newest.sport_type.root) == (RUN, "TrailRun")
    assert (float(newest.distance), newest.average_heartrate) == (8012.4, 148.6)
    assert client.get_athlete().id == 10_129


def test_it_renews_and_gives_back_tokens_as_we_do(strava, session, client):
    grant = signed_in(strava)
    renewing = stravalib.Client(requests_session=session, rate_limit_requests=False)

    renewed = renewing.refresh_access_token(
        client_id="twin-id",
        client_secret="twin-secret",
        refresh_token=grant.refresh_token,
    )

    assert renewed["access_token"] == strava.access_token
    assert renewed["expires_at"] == int(strava.expires_at)
    renewing.deauthorize()
    assert strava.access_token == ""


def test_it_subscribes_and_reads_pushes_as_we_do(strava, client):
    asked = {"client_id": "twin-id", "client_secret": "twin-secret"}
    made = client.create_subscription(**asked, callback_url=HERE, verify_token="t")
    with pytest.raises(stravalib.exc.Fault):
        client.create_subscription(**asked, callback_url=HERE, verify_token="t")
    strava.announce("update", strava.user_id, authorized="false")

    (push,) = strava.sender.waiting
    update = client.handle_subscription_update(json.loads(push.body))
    assert made.id == 120_475
    assert (update.owner_id, update.updates) == (10_129, {"authorized": "false"})


def test_it_understands_refusals_as_we_do(strava, client):
    strava.revoke_consent()

    with pytest.raises(stravalib.exc.AccessUnauthorized):
        client.get_athlete()
