from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import Notice
from portal.lib.tenancy import across_tenants
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.operations.sources.connections import (
    mark_connection_failed,
    restore_failed_connection,
)
from users.operations.sources.failure_notices import post_failed_source_notices
from users.operations.sources.sources import connect_source, disconnect_source
from users.states import ConnectionFault

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def fail(tenant, provider="oura"):
    connection = connect_source(
        user=make_user(tenant=tenant), actor=ACTOR, provider=provider
    )
    mark_connection_failed(
        connection=connection, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )
    return connection


def notify(time_machine, at):
    time_machine.move_to(at, tick=False)
    with across_tenants(why="a test"):
        return post_failed_source_notices(at=at)


def words(tenant):
    rows = Notice.objects.for_tenant(tenant).order_by("at", "key")
    return [(each.at, each.words) for each in rows]


def test_failures_are_named_once_and_a_source_once_a_day(
    alice_tenant, charlie_tenant, time_machine
):
    time_machine.move_to(NOON - HOUR, tick=False)
    for _ in range(2):
        fail(alice_tenant)
    fail(alice_tenant, "withings")
    connect_source(user=make_user(tenant=charlie_tenant), actor=ACTOR, provider="oura")

    first = [notify(time_machine, NOON), notify(time_machine, NOON)]
    time_machine.move_to(NOON + HOUR, tick=False)
    fail(alice_tenant)
    later = [notify(time_machine, NOON + hours * HOUR) for hours in (2, 24, 48)]

    assert (first, later) == ([2, 0], [0, 1, 0])
    assert words(alice_tenant) == [
        (NOON, "Oura failed for 2 users. Send them links to connect it again."),
        (NOON, "Withings failed for 1 user. Send a link to connect it again."),
        (
            NOON + 24 * HOUR,
            "Oura failed for 1 user. Send a link to connect it again.",
        ),
    ]
    row = Notice.objects.for_tenant(alice_tenant).order_by("key").first()
    assert row.path == "/t/alice-health/sandbox/users/?source=oura&status=error"
    assert words(charlie_tenant) == []


def test_what_works_again_or_is_disconnected_is_not_named(alice_tenant, time_machine):
    time_machine.move_to(NOON - HOUR, tick=False)
    restore_failed_connection(connection=fail(alice_tenant), actor=ACTOR)
    gone = fail(alice_tenant)
    disconnect_source(user=gone.user, actor=ACTOR, provider="oura")

    assert notify(time_machine, NOON) == 0
    assert words(alice_tenant) == []
