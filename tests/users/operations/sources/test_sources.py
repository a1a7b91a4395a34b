from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotFound
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from tests.users.holdings import stored_rows
from users.models import Connection, Supply
from users.operations.sources.sources import (
    connect_source,
    disconnect_source,
    record_data_arrival,
)
from users.operations.users.users import delete_user
from users.states import CONNECTION_MOVES, ConnectionFault, ConnectionStatus

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


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
    validate(envelope["data"], load_event_types()["provider.connection.created"].schema)
    assert envelope["data"]["external_user_id"] is None


def test_connecting_again_changes_nothing(user, alice_tenant):
    first = connect_source(user=user, actor=ACTOR, provider="oura")
    before = stored_rows(alice_tenant)

    second = connect_source(user=user, actor=ACTOR, provider="oura")

    assert second == first
    assert stored_rows(alice_tenant) == before


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
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refusal:
        connect_source(user=user, actor=ACTOR, provider=provider)

    assert refusal.value.code == "provider_unknown"
    assert stored_rows(alice_tenant) == before


def test_connect_refuses_a_deleted_user(user, alice_tenant):
    delete_user(user=user, actor=ACTOR)
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        connect_source(user=user, actor=ACTOR, provider="oura")

    assert stored_rows(alice_tenant) == before


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
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound) as refusal:
        disconnect_source(user=user, actor=ACTOR, provider=provider)

    assert refusal.value.code == "source_not_connected"
    assert stored_rows(alice_tenant) == before


def test_what_a_source_has_given_is_kept_with_every_batch(
    user, alice_tenant, time_machine
):
    time_machine.move_to(NOON, tick=False)
    connect_source(user=user, actor=ACTOR, provider="oura")
    batch = {
        "user": user,
        "provider": "oura",
        "resource": "heartrate",
        "updated": 0,
        "dropped": 0,
    }
    early, late = NOON - timedelta(days=2), NOON - timedelta(hours=1)
    record_data_arrival(
        **batch, at=NOON, received=9, created=7, oldest=early, newest=early
    )
    record_data_arrival(
        **batch, at=NOON, received=2, created=2, oldest=late, newest=late
    )
    later = NOON + timedelta(minutes=5)

    record_data_arrival(**batch, at=later, received=1, created=0)

    supply = Supply.objects.for_tenant(alice_tenant).get()
    assert (supply.provider, supply.resource) == ("oura", "heartrate")
    assert (supply.oldest_data, supply.newest_data) == (early, late)
    assert supply.sent_count == 9
    assert (supply.received_at, supply.attempted_at) == (later, later)
    assert supply.attempt_failed is False
