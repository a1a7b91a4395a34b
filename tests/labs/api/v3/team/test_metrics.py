from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_order
from tests.factories.users import make_user
from tests.statements import count_statements
from users.models import Connection
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.sources import connect_source, disconnect_source
from users.operations.users.users import delete_user
from users.states import ConnectionFault

pytestmark = pytest.mark.django_db
METRICS = "/v2/user/metrics"


def test_a_team_s_figures_are_of_its_live_users_by_week(
    alice_api, alice_tenant, charlie_tenant, time_machine
):
    time_machine.move_to(datetime(2026, 3, 4, 12, tzinfo=UTC), tick=False)
    user, gone = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    for provider in ("oura", "fitbit", "withings"):
        connect_source(user=user, actor=ACTOR, provider=provider)
    connect_source(user=gone, actor=ACTOR, provider="oura")
    connect_source(user=make_user(tenant=charlie_tenant), actor=ACTOR, provider="oura")
    broken = Connection.unscoped.get(provider="fitbit")
    broken.created_on = datetime(2026, 2, 24, tzinfo=UTC)
    broken.save(update_fields=["created_on"])
    mark_connection_failed(
        connection=broken, actor=ACTOR, fault=ConnectionFault.UNKNOWN
    )
    disconnect_source(user=user, actor=ACTOR, provider="withings")
    make_order(tenant=alice_tenant, user=user)
    delete_user(user=gone, actor=ACTOR)

    alice_api.get(METRICS)  # finds the key
    with count_statements() as sent:
        reply = alice_api.get(METRICS)

    check_answer(reply, "get", METRICS)
    told = reply.json()
    weeks = told.pop("number_of_connected_sources_by_week")
    assert told == {
        "team_id": str(alice_tenant.team_id),
        "number_of_users": 1,
        "number_of_connected_sources": 1,
        "number_of_errored_connected_sources": 1,
        "number_of_ordered_tests": 1,
    }
    assert [week["date"] for week in weeks[-2:]] == [
        "2026-02-23T00:00:00+00:00",
        "2026-03-02T00:00:00+00:00",
    ]
    assert [(week["value"], week["all"]) for week in weeks[-3:]] == [
        (0, 0),
        (1, 1),
        (3, 2),
    ]
    assert len(weeks) == 13
    assert len([one for one in sent if "FROM" in one]) == 4
