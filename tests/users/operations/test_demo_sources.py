from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accounts.states import Environment
from portal.lib.errors import DomainError, NotFound
from tests.factories.accounts import ACTOR, make_tenant
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from tests.packed import list_samples
from tests.users.holdings import stored_rows
from users.models import Connection, DemoUser, Summary, User, WorkoutStream
from users.operations.demo_sources import (
    DEMO_SOURCES,
    DEMO_TTL,
    connect_demo_source,
    enqueue_demo_user_expiries,
    expire_demo_user,
)
from users.operations.sources.sources import connect_source
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def user(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    return make_user(tenant=alice_tenant, fallback_time_zone="Europe/Lisbon")


def connect(user, provider):
    return connect_demo_source(user=user, actor=ACTOR, provider=provider)


def refused(user, provider="oura"):
    before = stored_rows(user.tenant)
    with pytest.raises(DomainError) as refusal:
        connect(user, provider)
    assert stored_rows(user.tenant) == before
    return refusal.value.code


def test_a_ring_brings_a_month_and_tells_of_it_once_for_each_resource(user):
    connection = connect(user, "oura")

    assert connection.is_demo is True
    assert emitted_types(user.tenant) == [
        "provider.connection.created",
        *(f"historical.data.{each}.created" for each in DEMO_SOURCES["oura"]),
    ]
    assert emitted(user.tenant)[1]["data"] == {
        "user_id": str(user.uuid),
        "start_date": "2026-01-31T00:00:00+00:00",
        "end_date": "2026-03-01T12:00:00+00:00",
        "provider": "oura",
    }
    days = Summary.objects.for_tenant(user.tenant).filter(kind="activity")
    assert days.count() == 30
    assert len(list_samples(user.pk)) > 10_000
    workouts = Summary.objects.for_tenant(user.tenant).filter(kind="workouts")
    streams = WorkoutStream.objects.for_tenant(user.tenant)
    assert {each.pk for each in workouts} == {each.workout_id for each in streams}


def test_several_demo_sources_of_one_user_and_the_first_says_when_it_ends(
    user, time_machine
):
    connect(user, "freestyle_libre")
    time_machine.move_to(NOON + timedelta(days=1), tick=False)
    connect(user, "fitbit")

    demo = DemoUser.objects.for_tenant(user.tenant).get()
    assert demo.expires_at == NOON + DEMO_TTL
    assert Connection.objects.for_tenant(user.tenant).live().count() == 2


def test_connecting_again_changes_nothing_the_same_moment(user):
    connect(user, "freestyle_libre")
    before = stored_rows(user.tenant)

    connect(user, "freestyle_libre")

    after = stored_rows(user.tenant)
    for table in ("Connection", "Summary", "Sample", "Event"):
        assert after[table] == before[table]


def test_connecting_again_later_brings_what_came_since_as_news(user, time_machine):
    connect(user, "freestyle_libre")
    told = len(emitted_types(user.tenant))
    before = len(list_samples(user.pk))
    time_machine.move_to(NOON + timedelta(days=3), tick=False)

    connect(user, "freestyle_libre")

    assert len(list_samples(user.pk)) == before + 3 * 96
    assert emitted_types(user.tenant)[told:] == ["daily.data.glucose.created"]


def test_production_has_no_demo_sources(time_machine):
    time_machine.move_to(NOON, tick=False)
    user = make_user(tenant=make_tenant(environment=Environment.PRODUCTION))

    assert refused(user) == "sandbox_only"


def test_only_four_sources_can_be_made_up(user):
    assert refused(user, "garmin") == "demo_source_unknown"


def test_a_user_with_a_real_source_gets_no_made_up_one(user):
    connect_source(user=user, actor=ACTOR, provider="garmin")

    assert refused(user) == "real_source_connected"


def test_a_deleted_user_gets_none(user):
    delete_user(user=user, actor=ACTOR)

    with pytest.raises(NotFound):
        connect(user, "oura")
    assert not DemoUser.objects.for_tenant(user.tenant).exists()


def expire(user):
    return expire_demo_user(tenant=user.tenant, actor=ACTOR, user_uuid=user.uuid)


def test_a_demo_user_goes_after_seven_days(user, time_machine):
    connect(user, "freestyle_libre")
    time_machine.move_to(NOON + DEMO_TTL - timedelta(seconds=1), tick=False)
    assert enqueue_demo_user_expiries() == 0
    assert expire(user) is False

    time_machine.move_to(NOON + DEMO_TTL, tick=False)
    assert enqueue_demo_user_expiries() == 1
    assert expire(user) is True

    assert not User.objects.for_tenant(user.tenant).live().exists()
    assert enqueue_demo_user_expiries() == 0


def test_who_has_a_real_source_by_then_stays(user, time_machine):
    connect(user, "freestyle_libre")
    connect_source(user=user, actor=ACTOR, provider="garmin")
    time_machine.move_to(NOON + DEMO_TTL, tick=False)

    assert expire(user) is False

    assert User.objects.for_tenant(user.tenant).live().get() == user
    assert enqueue_demo_user_expiries() == 0
