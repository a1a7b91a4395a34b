from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from portal.lib.errors import TooMany
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Connection, ConnectionEntry, Pull, Refresh
from users.operations.pulling import refresh
from users.operations.pulling.refresh import (
    RefreshOutcome,
    delete_old_refreshes,
    refresh_all_user_sources,
    wait_for_user_refresh,
)
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.pausing import pause_source
from users.operations.sources.pulls import end_data_pull, start_data_pull
from users.operations.sources.sources import connect_source
from users.states import ConnectionFault

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def user(alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    return make_user(tenant=alice_tenant)


@pytest.fixture
def _asked(monkeypatch):
    """Oura and Fitbit can be asked; each asking makes a pull of sleep and steps."""

    def schedule(*, connection):
        pulls = [
            Pull(
                tenant=connection.tenant,
                connection=connection,
                user=connection.user,
                provider=connection.provider,
                resource=resource,
                is_history=False,
            )
            for resource in ("sleep", "steps")
        ]
        return Pull.objects.for_tenant(connection.tenant).bulk_create(pulls)

    monkeypatch.setattr(
        refresh,
        "is_data_pulled_from_source",
        lambda source: source.provider in {"oura", "fitbit"},
    )
    monkeypatch.setattr(refresh, "schedule_cloud_source_refresh", schedule)


def pulls_of(tenant, provider):
    found = Pull.objects.for_tenant(tenant).filter(provider=provider)
    return list(found.order_by("id"))


@pytest.mark.usefixtures("_asked")
def test_each_source_that_can_be_asked_is_asked(user, alice_tenant):
    for provider in ("oura", "fitbit", "apple_health_kit"):
        connect_source(user=user, actor=ACTOR, provider=provider)
    pause_source(user=user, actor=ACTOR, provider="fitbit")

    started = refresh_all_user_sources(user=user, actor=ACTOR)

    keys = tuple(pull.pk for pull in pulls_of(alice_tenant, "oura"))
    line = ConnectionEntry.objects.for_tenant(alice_tenant).order_by("id").last()
    assert (started.refreshed, started.failed) == ((), ())
    assert started.running == {"oura": keys}
    assert (line.kind, line.connection.provider) == ("refreshed", "oura")


@pytest.mark.usefixtures("_asked")
@pytest.mark.parametrize(
    ("fault", "status", "is_asked"),
    [
        (ConnectionFault.UNKNOWN, "connected", True),
        (ConnectionFault.TOKEN_REFRESH_FAILED, "error", False),
    ],
)
def test_a_source_in_error_is_asked_unless_its_user_has_to_act(
    user, alice_tenant, fault, status, is_asked
):
    connection = connect_source(user=user, actor=ACTOR, provider="oura")
    mark_connection_failed(connection=connection, actor=ACTOR, fault=fault)

    started = refresh_all_user_sources(user=user, actor=ACTOR)

    assert Connection.objects.for_tenant(alice_tenant).get().status == status
    assert bool(started.running) == is_asked
    assert started.failed == (() if is_asked else ("oura",))


def test_the_ninth_refresh_within_an_hour_is_refused(user, alice_tenant, time_machine):
    for minute in range(8):
        time_machine.move_to(NOON + timedelta(minutes=minute), tick=False)
        refresh_all_user_sources(user=user, actor=ACTOR)
    before = stored_rows(alice_tenant)

    with pytest.raises(TooMany) as refusal:
        refresh_all_user_sources(user=user, actor=ACTOR)

    assert refusal.value.code == "too_many_refreshes"
    assert refusal.value.wait == timedelta(minutes=53)
    assert stored_rows(alice_tenant) == before

    time_machine.move_to(NOON + timedelta(hours=1), tick=False)
    refresh_all_user_sources(user=user, actor=ACTOR)

    assert delete_old_refreshes() == 1
    assert Refresh.objects.for_tenant(alice_tenant).count() == 8


@pytest.mark.usefixtures("_asked")
def test_waiting_ends_when_the_pulls_have(user, alice_tenant):
    for provider in ("oura", "fitbit"):
        connect_source(user=user, actor=ACTOR, provider=provider)
    started = refresh_all_user_sources(user=user, actor=ACTOR)
    looks = []

    def work(_seconds):
        looks.append(1)
        sleep, steps = pulls_of(alice_tenant, ("oura", "fitbit")[len(looks) - 1])
        for pull in (sleep, steps):
            start_data_pull(pull=pull)
        end_data_pull(pull=sleep, actor=ACTOR, error_type="http_503")
        failed = "" if sleep.provider == "oura" else "http_503"
        end_data_pull(pull=steps, actor=ACTOR, error_type=failed)

    outcome = wait_for_user_refresh(
        tenant=alice_tenant,
        started=started,
        timeout=5 * SECOND,
        pause=work,
        clock=lambda: 0.0,
    )

    assert outcome == RefreshOutcome(("oura",), (), ("fitbit",))
    assert len(looks) == 2


@pytest.mark.usefixtures("_asked")
def test_waiting_ends_when_its_time_is_over(user, alice_tenant):
    connect_source(user=user, actor=ACTOR, provider="oura")
    started = refresh_all_user_sources(user=user, actor=ACTOR)
    clock = iter([0.0, 4.9, 5.0])
    paused = []

    outcome = wait_for_user_refresh(
        tenant=alice_tenant,
        started=started,
        timeout=5 * SECOND,
        pause=paused.append,
        clock=clock.__next__,
    )

    assert outcome == RefreshOutcome((), ("oura",), ())
    assert len(paused) == 1


@pytest.mark.usefixtures("_asked")
def test_who_finds_no_place_to_wait_is_answered_at_once(
    user, alice_tenant, monkeypatch
):
    connect_source(user=user, actor=ACTOR, provider="oura")
    started = refresh_all_user_sources(user=user, actor=ACTOR)
    for _ in range(2):
        refresh._waiting.acquire()

    try:
        outcome = wait_for_user_refresh(
            tenant=alice_tenant,
            started=started,
            timeout=5 * SECOND,
            pause=lambda _seconds: pytest.fail("it waits"),
        )
    finally:
        refresh._waiting.release(2)

    assert outcome.in_progress == ("oura",)
