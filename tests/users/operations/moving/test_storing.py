from __future__ import annotations

import pytest

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted, emitted_types
from users.gateways.moving import open_wearables_shapes
from users.gateways.moving.base import MovedConnection, MovedPart
from users.models import Connection, MovedUser
from users.operations.moving.storing import (
    end_held_sources,
    store_moved_connections,
    store_moved_part,
)
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.sources import connect_source
from users.states import ConnectionFault
from users.wearables.timeseries import TIMESERIES

pytestmark = pytest.mark.django_db


@pytest.fixture
def moved(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    moved = MovedUser(
        tenant=alice_tenant, user=user, platform="original", external_id="t-1"
    )
    moved.save(force_insert=True)
    return moved


def hearts(provider, *values):
    return MovedPart(
        "heartrate",
        provider,
        [
            {"timestamp": f"2026-03-01T08:{minute:02}:00Z", "value": value}
            for minute, value in enumerate(values)
        ],
        is_samples=True,
    )


def statuses(tenant):
    rows = Connection.objects.for_tenant(tenant).order_by("provider")
    return [(row.provider, row.status, row.disconnected_at is None) for row in rows]


def test_sources_here_stay_as_they_are_and_those_of_data_alone_end(moved, alice_tenant):
    here = connect_source(user=moved.user, actor=ACTOR, provider="fitbit")
    mark_connection_failed(
        connection=here, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )
    before = emitted_types(alice_tenant)

    store_moved_connections(
        moved=moved,
        actor=ACTOR,
        connections=[
            MovedConnection("fitbit", is_live=True),
            MovedConnection("oura", is_live=True),
            MovedConnection("polar", is_live=False),
            MovedConnection("a_source_of_tomorrow", is_live=True),
        ],
    )
    for provider in ("fitbit", "oura", "garmin", "whoop_v2"):
        store_moved_part(moved=moved, actor=ACTOR, part=hearts(provider, 60))
    connect_source(user=moved.user, actor=ACTOR, provider="whoop_v2")
    end_held_sources(moved=moved, actor=ACTOR)

    here.refresh_from_db()
    assert here.error_type == "token_refresh_failed"
    assert statuses(alice_tenant) == [
        ("fitbit", "error", True),
        ("garmin", "error", False),
        ("oura", "error", True),
        ("whoop_v2", "connected", True),
    ]
    assert emitted_types(alice_tenant) == before


def test_what_breaks_a_rule_is_left_out_alone_and_counted(moved, alice_tenant):
    kept = store_moved_part(
        moved=moved, actor=ACTOR, part=hearts("oura", 60, -1, 61, 5000)
    )
    unknown = store_moved_part(
        moved=moved, actor=ACTOR, part=hearts("a_source_of_tomorrow", 60, 61)
    )

    assert (kept.stored, dict(kept.skipped)) == (2, {"invalid_element": 2})
    assert (unknown.stored, dict(unknown.skipped)) == (0, {"unknown_provider": 2})
    assert statuses(alice_tenant) == [("oura", "error", True)]
    assert emitted(alice_tenant) == []


def test_series_go_to_resources_of_their_kind():
    intervals = {
        each.resource: each.is_interval
        for each in open_wearables_shapes.SERIES.values()
    }

    assert intervals == {slug: TIMESERIES[slug].is_interval for slug in intervals}
