from __future__ import annotations

import pytest
from jsonschema import validate

from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.models import Event
from portal.lib.errors import NotFound
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.users.holdings import stored_rows
from users.models import Connection, ConnectionEntry
from users.operations.sources.connections import (
    add_refresh_timeline_entry,
    mark_connection_failed,
    restore_failed_connection,
)
from users.operations.sources.pausing import pause_source
from users.operations.sources.sources import connect_source, disconnect_source
from users.operations.users.users import delete_user
from users.states import ConnectionFault

pytestmark = pytest.mark.django_db
FAULT = ConnectionFault.TOKEN_REFRESH_FAILED


@pytest.fixture
def connection(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    return connect_source(user=user, actor=ACTOR, provider="oura")


def test_a_source_that_fails_says_why_and_tells_of_it(connection, alice_tenant):
    broke = mark_connection_failed(
        connection=connection,
        actor=ACTOR,
        fault=FAULT,
        details="The token endpoint answered 400.",
    )

    stored = Connection.objects.for_tenant(alice_tenant).get()
    event = Event.objects.for_tenant(alice_tenant).order_by("id").last()
    line = ConnectionEntry.objects.for_tenant(alice_tenant).order_by("id").last()
    data = emitted(alice_tenant)[-1]["data"]
    assert broke
    assert (stored.status, stored.error_type) == ("error", "token_refresh_failed")
    assert stored.error_message == "The token endpoint answered 400."
    assert stored.errored_at is not None
    assert event.event_type == "provider.connection.error"
    assert data == {
        "user_id": str(connection.user.uuid),
        "provider": "oura",
        "message": "The source no longer accepts the user's permission.",
        "error_type": "token_refresh_failed",
        "error_details": "The token endpoint answered 400.",
    }
    validate(data, load_event_types()["provider.connection.error"].schema)
    assert (line.kind, line.detail) == ("failed", "token_refresh_failed")
    assert line.message_id == event.message_id
    assert audited(alice_tenant)[-1] == ("move_source", "source", "oura")


def test_what_is_broken_paused_or_gone_does_not_break_again(connection, alice_tenant):
    for hide in (None, pause_source, disconnect_source):
        if hide is None:
            mark_connection_failed(connection=connection, actor=ACTOR, fault=FAULT)
        else:
            hide(user=connection.user, actor=ACTOR, provider="oura")
        before = stored_rows(alice_tenant)

        assert not mark_connection_failed(
            connection=connection, actor=ACTOR, fault=FAULT
        )
        assert stored_rows(alice_tenant) == before


def test_the_source_of_a_deleted_user_does_not_break(connection, alice_tenant):
    delete_user(user=connection.user, actor=ACTOR)
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        mark_connection_failed(connection=connection, actor=ACTOR, fault=FAULT)

    assert stored_rows(alice_tenant) == before


def test_a_broken_source_is_mended_once(connection, alice_tenant):
    mark_connection_failed(connection=connection, actor=ACTOR, fault=FAULT)

    assert restore_failed_connection(connection=connection, actor=ACTOR)
    mended = stored_rows(alice_tenant)
    assert not restore_failed_connection(connection=connection, actor=ACTOR)

    stored = Connection.objects.for_tenant(alice_tenant).get()
    kinds = ConnectionEntry.objects.for_tenant(alice_tenant).order_by("id")
    assert (stored.status, stored.error_type) == ("connected", "")
    assert stored.errored_at is None
    assert list(kinds.values_list("kind", flat=True)) == [
        "connected",
        "failed",
        "mended",
    ]
    assert stored_rows(alice_tenant) == mended


def test_refreshes_in_a_row_are_one_line_that_counts(connection, alice_tenant):
    for _ in range(3):
        add_refresh_timeline_entry(connection=connection, actor=ACTOR)
    mark_connection_failed(connection=connection, actor=ACTOR, fault=FAULT)
    add_refresh_timeline_entry(connection=connection, actor=ACTOR)

    lines = ConnectionEntry.objects.for_tenant(alice_tenant).order_by("id")
    assert list(lines.values_list("kind", "detail")) == [
        ("connected", ""),
        ("refreshed", "3"),
        ("failed", "token_refresh_failed"),
        ("refreshed", "1"),
    ]
