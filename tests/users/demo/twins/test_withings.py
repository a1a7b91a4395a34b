"""The twin of Withings, against a client that others wrote (aiowithings, unchanged)."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest
from aiohttp import ClientSession
from yarl import URL

from tests.users.gateways.withings.test_days import DAY, WORKOUT
from tests.users.gateways.withings.test_gateway import BACK
from users.gateways.sources import find_source_gateway

aiowithings = pytest.importorskip("aiowithings")
MORNING = datetime(2026, 3, 8, 6, tzinfo=UTC)


class TwinSession:
    """A session that leads to the twin what is meant for Withings."""

    def __init__(self, session, url):
        self.session, self.url = session, URL(url)

    def request(self, method, url, **options):
        return self.session.request(method, self.url.join(url.relative()), **options)


def ask(twin, question, token):
    async def run():
        async with ClientSession() as session:
            client = aiowithings.WithingsClient(TwinSession(session, twin.url))
            client.authenticate(token)
            return await question(client)

    return asyncio.run(run())


@pytest.fixture
def token(withings):
    grant = find_source_gateway("withings").connect(
        code=withings.issue_code(BACK), redirect_url=BACK, verifier="v"
    )
    moment = int(MORNING.timestamp())
    withings.add_measures(moment, {1: (72_500, -3), 6: (214, -1)})
    withings.add_measures(moment + 60, {9: (74, 0), 10: (118, 0)}, attrib=1)
    withings.add_night(
        moment - 8 * 3600,
        moment,
        "2026-03-08",
        total_sleep_time=26_100,
        sleep_score=81,
        hr_min=48,
    )
    return grant.access_token


def test_it_reads_measures_as_we_do(withings, token):
    groups = ask(
        withings,
        lambda client: client.get_measurement_in_period(
            MORNING - timedelta(days=1), MORNING + timedelta(days=1)
        ),
        token,
    )

    kinds = aiowithings.MeasurementType
    assert [
        {each.measurement_type: each.value for each in group.measurements}
        for group in groups
    ] == [
        {kinds.DIASTOLIC_BLOOD_PRESSURE: 74, kinds.SYSTOLIC_BLOOD_PRESSURE: 118},
        {kinds.WEIGHT: 72.5, kinds.FAT_RATIO: pytest.approx(21.4)},
    ]
    assert [group.attribution.name for group in groups] == [
        "DEVICE_ENTRY_FOR_USER_AMBIGUOUS",
        "DEVICE_ENTRY_FOR_USER",
    ]
    assert groups[1].taken_at == MORNING


def test_it_reads_nights_as_we_do(withings, token):
    (night,) = ask(
        withings,
        lambda client: client.get_sleep_summary_in_period(
            date(2026, 3, 8), date(2026, 3, 8)
        ),
        token,
    )

    assert night.date == date(2026, 3, 8)
    assert night.end_date == MORNING
    assert (night.total_sleep_time, night.sleep_score, night.min_heart_rate) == (
        26_100,
        81,
        48,
    )


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (401, "WithingsAuthenticationFailedError"),
        (601, "WithingsTooManyRequestsError"),
        (503, "WithingsInvalidParamsError"),
        (2555, "WithingsUnauthorizedError"),
    ],
)
def test_it_understands_faults_as_we_do(withings, token, status, name):
    withings.faults.append(status)

    with pytest.raises(getattr(aiowithings, name)):
        ask(withings, lambda client: client.get_measurement_since(MORNING), token)


def test_it_reads_days_workouts_and_stages_as_we_do(withings, token):
    withings.activities.append(DAY)
    withings.workouts.append(WORKOUT)
    withings.stages.append(
        {
            "startdate": int(MORNING.timestamp()) - 3600,
            "enddate": int(MORNING.timestamp()),
            "state": 3,
            "hash_deviceid": "a1c04e55",
        }
    )
    day = date(2026, 3, 8)

    (activity,) = ask(
        withings, lambda client: client.get_activities_in_period(day, day), token
    )
    (workout,) = ask(
        withings, lambda client: client.get_workouts_in_period(day, day), token
    )
    (stage,) = ask(
        withings,
        lambda client: client.get_sleep(MORNING - timedelta(hours=8), MORNING),
        token,
    )

    assert (activity.steps, activity.elevation, activity.max_heart_rate) == (
        6200,
        100,
        80,
    )
    assert (workout.category.name, workout.distance) == ("BICYCLING", 28_400)
    assert (stage.state.name, stage.end_date) == ("REM_SLEEP", MORNING)


def test_it_subscribes_lists_and_revokes_as_we_do(withings, token):
    url = "https://assay.example/push/withings/secret/"
    category = aiowithings.NotificationCategory.SLEEP

    ask(withings, lambda client: client.subscribe_notification(url, category), token)
    (kept,) = ask(
        withings, lambda client: client.list_notification_configurations(), token
    )
    ask(
        withings,
        lambda client: client.revoke_notification_configurations(url, category),
        token,
    )

    assert (kept.notification_category, kept.callback_url) == (category, url)
    assert withings.subscriptions == []
