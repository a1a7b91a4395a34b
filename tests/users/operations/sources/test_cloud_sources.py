from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection as database

from portal.lib.errors import DomainError, NotFound
from tests.factories.accounts import ACTOR
from tests.factories.grants import make_grant, make_granted
from tests.factories.users import make_user
from tests.jobs import queued
from tests.outbox import emitted_types
from users.gateways.sources import find_source_gateway
from users.models import Connection, Pull, SourceGrant
from users.operations.sources.cloud_sources import (
    connect_cloud_source,
    schedule_cloud_source_refresh,
)
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.sources import connect_source, disconnect_source
from users.states import ConnectionFault, PullStatus

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HISTORY = timedelta(days=180)
OVERLAP = timedelta(days=3)


@pytest.fixture(autouse=True)
def _offered(settings, time_machine):
    settings.OURA_CLIENT_ID = settings.OURA_CLIENT_SECRET = "our"
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def connect(user, **wanted):
    return connect_cloud_source(
        user=user, actor=ACTOR, provider="oura", grant=make_grant(**wanted)
    )


def pulls(tenant):
    return list(Pull.objects.for_tenant(tenant).order_by("id"))


def end_all(tenant, *, status=PullStatus.SUCCESS, resources=None):
    """As though the open pulls had ended now."""
    mine = Pull.objects.for_tenant(tenant).open()
    if resources:
        mine = mine.filter(resource__in=resources)
    mine.update(status=status, ended_at=NOON)


def test_connecting_by_a_grant_asks_for_the_past(user, alice_tenant):
    connection = connect(
        user,
        scopes=("extapi:daily", "extapi:personal"),
        external_user_id="oura-user-1",
    )

    stored = Connection.objects.for_tenant(alice_tenant).get()
    available = {
        name
        for name, told in stored.resource_availability.items()
        if told["status"] == "available"
    }
    assert stored == connection
    assert stored.status == "connected"
    assert stored.external_user_id == "oura-user-1"
    assert available == {
        "profile",
        "sleep",
        "sleep_cycle",
        "activity",
        "heartrate",
        "hrv",
        "body_temperature_delta",
        "vo2_max",
    }
    assert stored.resource_availability["note"] == {"status": "unavailable"}
    assert [pull.resource for pull in pulls(alice_tenant)] == [
        name for name in find_source_gateway("oura").resources if name in available
    ]
    assert {
        (pull.is_history, pull.range_start, pull.range_end)
        for pull in pulls(alice_tenant)
    } == {(True, NOON - HISTORY, NOON)}
    assert [(job.name, job.lock) for job in queued()] == [
        ("users.pull", f"users.pull:{connection.pk}")
    ]
    assert emitted_types(alice_tenant) == ["provider.connection.created"]


def test_a_grant_of_nothing_connects_nothing(user, alice_tenant):
    with pytest.raises(DomainError) as refused:
        connect(user, scopes=("extapi:email",))

    assert refused.value.code == "required_scopes_not_granted"
    assert not Connection.objects.for_tenant(alice_tenant).exists()
    assert not SourceGrant.objects.for_tenant(alice_tenant).exists()
    assert emitted_types(alice_tenant) == []
    assert queued() == []


def test_a_source_that_is_not_offered_is_not_found(user, settings):
    settings.OURA_CLIENT_ID = ""

    with pytest.raises(NotFound) as refused:
        connect(user)

    assert refused.value.code == "source_not_offered"


def test_connecting_again_mends_and_takes_the_new_tokens(user, alice_tenant):
    first = connect(user, external_user_id="oura-user-1")
    end_all(alice_tenant)
    mark_connection_failed(
        connection=first, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )

    again = connect(user, external_user_id="oura-user-1", access_token="new")

    assert again == first
    assert again.status == "connected"
    assert SourceGrant.objects.for_tenant(alice_tenant).get().rotation == 2
    assert emitted_types(alice_tenant).count("provider.connection.created") == 1
    assert {pull.is_history for pull in pulls(alice_tenant) if not pull.ended_at} == {
        False
    }


def test_another_account_is_another_connection(user, alice_tenant):
    first = connect(user, external_user_id="oura-user-1")

    second = connect(user, external_user_id="oura-user-2")

    first.refresh_from_db()
    assert second != first
    assert first.disconnected_at == NOON
    assert second.disconnected_at is None
    assert {pull.connection for pull in pulls(alice_tenant) if not pull.ended_at} == {
        second
    }
    assert "users.revoke" in [job.name for job in queued()]


def test_a_refresh_asks_from_before_the_end_of_what_is_furthest_behind(
    user, alice_tenant, time_machine
):
    connection = connect(user)
    end_all(alice_tenant)
    Pull.objects.for_tenant(alice_tenant).filter(resource="note").update(
        range_end=NOON - timedelta(days=2)
    )
    later = NOON + timedelta(hours=5)
    time_machine.move_to(later, tick=False)

    scheduled = schedule_cloud_source_refresh(connection=connection)

    assert [pull.resource for pull in scheduled] == list(
        find_source_gateway("oura").resources
    )
    assert {
        (pull.is_history, pull.range_start, pull.range_end) for pull in scheduled
    } == {(False, NOON - timedelta(days=2) - OVERLAP, later)}


def test_a_resource_whose_past_never_came_is_asked_for_all_of_it(user, alice_tenant):
    connection = connect(user)
    end_all(alice_tenant, status=PullStatus.FAILURE, resources=["sleep"])
    end_all(alice_tenant)

    scheduled = schedule_cloud_source_refresh(connection=connection)

    past = [pull for pull in scheduled if pull.is_history]
    assert [pull.resource for pull in past] == ["sleep"]
    assert past[0].range_start == NOON - HISTORY


def test_what_was_refused_is_asked_for_once_a_day(user, alice_tenant, time_machine):
    connection = connect(user)
    end_all(alice_tenant)
    connection.resource_availability["note"] = {"status": "unavailable"}
    connection.save(update_fields=["resource_availability"])

    at_once = [
        pull.resource for pull in schedule_cloud_source_refresh(connection=connection)
    ]
    end_all(alice_tenant)
    time_machine.move_to(NOON + timedelta(hours=25), tick=False)
    next_day = [
        pull.resource for pull in schedule_cloud_source_refresh(connection=connection)
    ]

    assert "note" not in at_once
    assert "note" in next_day


def test_nothing_outside_of_the_ingestion_bounds_is_asked_for(alice_tenant):
    user = make_user(
        tenant=alice_tenant,
        ingestion_start=date(2026, 3, 1),
        ingestion_end=date(2026, 3, 4),
    )

    connect(user)

    assert {(pull.range_start, pull.range_end) for pull in pulls(alice_tenant)} == {
        (datetime(2026, 2, 28, tzinfo=UTC), datetime(2026, 3, 6, tzinfo=UTC))
    }


def test_ingestion_that_has_not_begun_asks_for_nothing(alice_tenant):
    user = make_user(tenant=alice_tenant, ingestion_start=date(2026, 4, 1))

    connect(user)

    assert pulls(alice_tenant) == []
    assert queued() == []


def test_a_source_that_only_pushes_is_not_asked(user, alice_tenant):
    connection = connect_source(user=user, actor=ACTOR, provider="apple_health_kit")

    assert schedule_cloud_source_refresh(connection=connection) == []
    assert pulls(alice_tenant) == []


def test_a_grant_without_scopes_is_taken_for_all(user, alice_tenant):
    make_granted(user)

    connect(user, scopes=())

    assert len(pulls(alice_tenant)) == len(find_source_gateway("oura").resources)


@pytest.mark.parametrize("is_demo", [False, True])
def test_a_source_that_nobody_granted_is_never_asked(user, alice_tenant, is_demo):
    pushed = connect_source(user=user, actor=ACTOR, provider="oura", is_demo=is_demo)

    assert schedule_cloud_source_refresh(connection=pushed) == []
    assert pulls(alice_tenant) == []


@pytest.mark.parametrize("wants_it", [True, False])
def test_an_account_belongs_to_one_user(user, alice_tenant, wants_it):
    alice_tenant.reject_duplicate_connection = wants_it
    alice_tenant.save(update_fields=["reject_duplicate_connection"])
    other = make_user(tenant=alice_tenant)
    connect(user, external_user_id="ring-1")
    before = emitted_types(alice_tenant)

    with pytest.raises(DomainError, match="duplicate_connection"):
        connect(other, external_user_id="ring-1")

    assert emitted_types(alice_tenant) == before
    live = Connection.objects.for_tenant(alice_tenant).live()
    assert [each.user_id for each in live] == [user.pk]
    assert connect(user, external_user_id="ring-1").pk == live.get().pk
    assert connect(other, external_user_id="ring-2").user == other
    # The account of who is gone is free.
    disconnect_source(user=user, actor=ACTOR, provider="oura")
    assert connect(other, external_user_id="ring-1").external_user_id == "ring-1"


def test_an_account_that_is_pushed_may_belong_to_several_users(user, alice_tenant):
    for each in (user, make_user(tenant=alice_tenant)):
        connect_source(
            user=each, actor=ACTOR, provider="oura", external_user_id="ring-1"
        )

    assert Connection.objects.for_tenant(alice_tenant).live().count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_users_who_connect_one_account_at_once_one_has_it(alice_tenant):
    users = [make_user(tenant=alice_tenant) for _ in range(6)]

    def race(user):
        try:
            return connect(user, external_user_id="ring-1").user_id
        except DomainError as refusal:
            return refusal.code
        finally:
            database.close()

    with ThreadPoolExecutor(6) as pool:
        ends = list(pool.map(race, users))

    live = Connection.objects.for_tenant(alice_tenant).live().get()
    assert sorted(map(str, ends)) == sorted(
        [str(live.user_id), *["duplicate_connection"] * 5]
    )
    assert SourceGrant.objects.for_tenant(alice_tenant).get().connection == live
    assert {each.user_id for each in pulls(alice_tenant)} == {live.user_id}
