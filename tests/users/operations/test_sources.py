from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from jsonschema import validate
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.webhooks.catalogue import EVENT_TYPES
from portal.lib.errors import DomainError, NotFound
from portal.lib.transitions import move_status
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from tests.users.holdings import held
from users.models import Connection
from users.operations.sources import (
    connect_source,
    disconnect_source,
    enqueue_due_pauses,
    pause_sources,
)
from users.operations.users import UserChanges, change_user, delete_user
from users.states import CONNECTION_MOVES, ConnectionFault, ConnectionStatus

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
# Seven days after this day are over on the day of NOON.
ENDED = date(2026, 3, 1)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="u-1")


def test_connect_keeps_the_connection_and_tells_of_it(user, alice_tenant, settings):
    settings.PUBLIC_URL = "https://assay.example"

    connection = connect_source(
        user=user, actor=ACTOR, provider="ultrahuman", external_user_id="uh-7"
    )

    stored = Connection.objects.for_tenant(alice_tenant).get()
    badge = {
        "name": "Ultrahuman",
        "slug": "ultrahuman",
        "logo": "https://assay.example/logos/ultrahuman.svg",
    }
    available = {"status": "available", "scope_requirements": None}
    assert stored == connection
    assert stored.user == user
    assert stored.provider == "ultrahuman"
    assert stored.status == "connected"
    assert stored.external_user_id == "uh-7"
    assert stored.disconnected_at is None
    assert emitted(alice_tenant) == [
        {
            "event_type": "provider.connection.created",
            "team_id": str(alice_tenant.team_id),
            "user_id": str(user.uuid),
            "client_user_id": "u-1",
            "data": {
                "user_id": str(user.uuid),
                "provider": badge,
                "source": badge,
                "resource_availability": {
                    "sleep": available,
                    "glucose": available,
                    "heartrate": available,
                },
                "external_user_id": "uh-7",
            },
        }
    ]
    assert audited(alice_tenant)[-1] == ("connect_source", "source", "ultrahuman")


def test_the_event_is_as_the_catalogue_says(user, alice_tenant):
    connect_source(user=user, actor=ACTOR, provider="apple_health_kit")

    (envelope,) = emitted(alice_tenant)
    validate(envelope["data"], EVENT_TYPES["provider.connection.created"].schema)
    assert envelope["data"]["external_user_id"] is None


def test_connecting_again_changes_nothing(user, alice_tenant):
    first = connect_source(user=user, actor=ACTOR, provider="oura")
    before = held(alice_tenant)

    second = connect_source(user=user, actor=ACTOR, provider="oura")

    assert second == first
    assert held(alice_tenant) == before


def test_connecting_again_mends_a_broken_connection_without_an_event(
    user, alice_tenant
):
    connection = connect_source(user=user, actor=ACTOR, provider="oura")
    move_status(
        connection,
        moves=CONNECTION_MOVES,
        to=ConnectionStatus.ERROR,
        error_type=ConnectionFault.TOKEN_REFRESH_FAILED,
        error_message="The token has expired.",
        errored_at=NOON,
    )

    connect_source(user=user, actor=ACTOR, provider="oura")

    stored = Connection.objects.for_tenant(alice_tenant).get()
    assert stored.status == "connected"
    assert (stored.error_type, stored.error_message) == ("", "")
    assert stored.errored_at is None
    assert emitted_types(alice_tenant) == ["provider.connection.created"]
    assert audited(alice_tenant)[-1] == ("move_source", "source", "oura")


def test_connecting_after_disconnecting_is_a_new_connection(user, alice_tenant):
    first = connect_source(user=user, actor=ACTOR, provider="oura")
    disconnect_source(user=user, actor=ACTOR, provider="oura")

    second = connect_source(user=user, actor=ACTOR, provider="oura")

    assert second != first
    assert list(Connection.objects.for_tenant(alice_tenant).live()) == [second]
    assert emitted_types(alice_tenant) == ["provider.connection.created"] * 2


@pytest.mark.parametrize("provider", ["nobody", "", "whoop", "\0"])
def test_connect_refuses_a_source_that_can_not_be_connected(
    user, alice_tenant, provider
):
    before = held(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        connect_source(user=user, actor=ACTOR, provider=provider)

    assert refusal.value.code == "provider_unknown"
    assert held(alice_tenant) == before


def test_connect_refuses_a_deleted_user(user, alice_tenant):
    delete_user(user=user, actor=ACTOR)
    before = held(alice_tenant)

    with pytest.raises(NotFound):
        connect_source(user=user, actor=ACTOR, provider="oura")

    assert held(alice_tenant) == before


def test_disconnect_ends_one_source_and_keeps_its_row(user, alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    connect_source(user=user, actor=ACTOR, provider="oura")
    fitbit = connect_source(user=user, actor=ACTOR, provider="fitbit")

    ended = disconnect_source(user=user, actor=ACTOR, provider="oura")

    assert ended.disconnected_at == NOON
    assert Connection.objects.for_tenant(alice_tenant).count() == 2
    assert list(Connection.objects.for_tenant(alice_tenant).live()) == [fitbit]
    assert audited(alice_tenant)[-1] == ("disconnect_source", "source", "oura")


@pytest.mark.parametrize("provider", ["fitbit", "nobody", "oura"])
def test_disconnect_refuses_what_is_not_connected(user, alice_tenant, provider):
    connect_source(user=user, actor=ACTOR, provider="oura")
    disconnect_source(user=user, actor=ACTOR, provider="oura")
    before = held(alice_tenant)

    with pytest.raises(NotFound) as refusal:
        disconnect_source(user=user, actor=ACTOR, provider=provider)

    assert refusal.value.code == "source_not_connected"
    assert held(alice_tenant) == before


@pytest.fixture
def ended(user, time_machine):
    """A user with one connected and one broken source, whose ingestion is over."""
    time_machine.move_to(NOON, tick=False)
    connect_source(user=user, actor=ACTOR, provider="oura")
    broken = connect_source(user=user, actor=ACTOR, provider="fitbit")
    move_status(
        broken,
        moves=CONNECTION_MOVES,
        to=ConnectionStatus.ERROR,
        error_type=ConnectionFault.UNKNOWN,
    )
    return change_user(user=user, actor=ACTOR, changes=UserChanges(ingestion_end=ENDED))


def statuses(tenant):
    rows = Connection.objects.for_tenant(tenant).order_by("id")
    return list(rows.values_list("status", flat=True))


def test_sources_pause_when_seven_days_after_the_end_are_over(ended, alice_tenant):
    paused = pause_sources(tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid)

    assert paused == 2
    assert statuses(alice_tenant) == ["paused", "paused"]
    assert audited(alice_tenant)[-2:] == [
        ("move_source", "source", "oura"),
        ("move_source", "source", "fitbit"),
    ]


def test_sources_run_through_the_seventh_day_after_the_end(
    ended, alice_tenant, time_machine
):
    time_machine.move_to(datetime(2026, 3, 8, 23, 59, tzinfo=UTC), tick=False)
    before = held(alice_tenant)

    paused = pause_sources(tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid)

    assert paused == 0
    assert enqueue_due_pauses() == 0
    assert held(alice_tenant) == before


def test_pausing_twice_changes_nothing(ended, alice_tenant):
    pause_sources(tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid)
    before = held(alice_tenant)

    again = pause_sources(tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid)

    assert again == 0
    assert enqueue_due_pauses() == 0
    assert held(alice_tenant) == before


def test_pausing_leaves_strangers_and_the_deleted_alone(
    ended, alice_tenant, charlie_tenant
):
    stranger = pause_sources(tenant=charlie_tenant, actor=ACTOR, user_uuid=ended.uuid)
    delete_user(user=ended, actor=ACTOR)
    deleted = pause_sources(tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid)

    assert (stranger, deleted) == (0, 0)
    assert enqueue_due_pauses() == 0
    assert statuses(alice_tenant) == ["connected", "error"]


@pytest.mark.parametrize("end", [None, date(2026, 3, 2)])
def test_a_later_end_resumes_what_was_paused(ended, alice_tenant, end):
    pause_sources(tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid)

    change_user(user=ended, actor=ACTOR, changes=UserChanges(ingestion_end=end))

    assert statuses(alice_tenant) == ["connected", "connected"]


def test_an_end_that_is_over_too_resumes_nothing(ended, alice_tenant):
    pause_sources(tenant=alice_tenant, actor=ACTOR, user_uuid=ended.uuid)

    change_user(
        user=ended, actor=ACTOR, changes=UserChanges(ingestion_end=date(2026, 2, 1))
    )

    assert statuses(alice_tenant) == ["paused", "paused"]


def test_the_sweep_enqueues_one_pause_for_each_user(ended, alice_tenant):
    number = enqueue_due_pauses()

    job = ProcrastinateJob.objects.get(task_name="users.pause")
    assert number == 1
    assert job.args == {"tenant_pk": alice_tenant.pk, "user_id": str(ended.uuid)}
