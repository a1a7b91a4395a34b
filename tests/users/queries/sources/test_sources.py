from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories.accounts import ACTOR
from tests.factories.users import make_batch_arrival, make_user
from tests.statements import count_statements
from users.operations.sources.sources import connect_source
from users.queries import (
    count_received_elements_by_hour,
    find_last_data_time_by_source,
    find_last_data_time_by_user,
    list_connections_by_user,
)

pytestmark = pytest.mark.django_db


def test_sources_are_fenced(alice_tenant, charlie_tenant):
    user = make_user(tenant=alice_tenant)
    connect_source(user=user, actor=ACTOR, provider="oura")

    mine = list_connections_by_user(tenant=alice_tenant, user_ids=[user.pk])
    theirs = list_connections_by_user(tenant=charlie_tenant, user_ids=[user.pk])

    assert [source.provider for source in mine[user.pk]] == ["oura"]
    assert theirs == {user.pk: []}


def test_arrivals_are_summed_by_provider_and_hour(alice_tenant, charlie_tenant):
    user = make_user(tenant=alice_tenant)
    hour = datetime(2026, 3, 1, 10, tzinfo=UTC)
    make_batch_arrival(user, "oura", hour - timedelta(microseconds=1))
    make_batch_arrival(user, "oura", hour, received=3)
    make_batch_arrival(user, "oura", hour + timedelta(minutes=59), received=4)
    make_batch_arrival(user, "oura", hour + timedelta(hours=2))
    make_batch_arrival(user, "fitbit", hour)
    make_batch_arrival(make_user(tenant=charlie_tenant), "oura", hour)

    with count_statements() as sent:
        found = count_received_elements_by_hour(tenant=alice_tenant, since=hour)

    assert found == {
        "fitbit": {hour: 1},
        "oura": {hour: 7, hour + timedelta(hours=2): 1},
    }
    assert len(sent) == 1


def test_the_last_data_is_told_by_user_and_by_source(alice_tenant, charlie_tenant):
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    user, silent = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    for provider, ago in (("oura", 5), ("oura", 2), ("fitbit", 9)):
        make_batch_arrival(user, provider, noon - timedelta(hours=ago))
    keys = [user.pk, silent.pk]

    with count_statements() as sent:
        found = find_last_data_time_by_user(tenant=alice_tenant, user_ids=keys)

    assert found == {user.pk: noon - timedelta(hours=2)}
    assert len(sent) == 1
    assert find_last_data_time_by_user(tenant=charlie_tenant, user_ids=keys) == {}
    assert find_last_data_time_by_user(tenant=alice_tenant, user_ids=[]) == {}
    assert find_last_data_time_by_source(user=user) == {
        "oura": noon - timedelta(hours=2),
        "fitbit": noon - timedelta(hours=9),
    }
