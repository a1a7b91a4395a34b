"""The twin of Google Health, against Google's own client of its discovery document."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.users.gateways.google_health.test_gateway import BACK, signed_in

discovery = pytest.importorskip("googleapiclient.discovery")
credentials = pytest.importorskip("google.oauth2.credentials")
WAKING = datetime(2026, 3, 9, 6, 30, tzinfo=UTC)
NIGHT = timedelta(hours=8)
DAY = timedelta(days=1)
_FILTER = (
    'sleep.interval.end_time >= "2026-01-01T00:00:00Z"'
    ' AND sleep.interval.end_time < "2026-04-01T00:00:00Z"'
)


@pytest.fixture
def service(google_health):
    grant = signed_in(google_health)
    allowed = credentials.Credentials(
        grant.access_token,
        refresh_token=grant.refresh_token,
        token_uri=f"{google_health.url}/token",
        client_id="twin-id",
        client_secret="twin-secret",
    )
    options = {"api_endpoint": google_health.url}
    with discovery.build(
        "health",
        "v4",
        credentials=allowed,
        client_options=options,
        static_discovery=True,
    ) as service:
        yield service


def test_it_reads_the_person_and_all_pages_as_we_do(google_health, service):
    for back in range(30):
        google_health.add_sleep(WAKING - back * DAY - NIGHT, WAKING - back * DAY)
    points = service.users().dataTypes().dataPoints()
    parent = "users/me/dataTypes/sleep"

    said = service.users().getIdentity(name="users/me/identity").execute()
    request = points.reconcile(parent=parent, filter=_FILTER, pageSize=25)
    found = []
    while request is not None:
        answer = request.execute()
        found += answer["dataPoints"]
        request = points.reconcile_next(request, answer)

    assert said["healthUserId"] == google_health.user_id
    assert len({each["dataPointName"] for each in found}) == 30
    assert found[0]["sleep"]["interval"]["endTime"] == "2026-03-09T06:30:00Z"


def test_it_sums_days_and_renews_tokens_as_we_do(google_health, service):
    google_health.add_interval("steps", WAKING, 60, 900)
    google_health.expires_at = 0.0
    day = {"date": {"year": 2026, "month": 3, "day": 9}}
    after = {"date": {"year": 2026, "month": 3, "day": 10}}
    points = service.users().dataTypes().dataPoints()

    answer = points.dailyRollUp(
        parent="users/me/dataTypes/steps",
        body={"range": {"start": day, "end": after}, "windowSizeDays": 1},
    ).execute()

    (total,) = answer["rollupDataPoints"]
    assert total["steps"] == {"countSum": "900"}
    assert google_health.trades == 2
    assert BACK
