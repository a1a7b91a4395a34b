"""Sources at their worst: killed workers, races for a refresh, storms of 429."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection as database

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.jobs import queued
from users import jobs
from users.gateways.base import SourceUnavailable
from users.gateways.withings.gateway import WithingsGateway
from users.models import Connection, Pull, SourceBudget, SourceGrant, Supply
from users.operations.pulling.pulling import run_connection_pulls
from users.operations.sources.cloud_sources import connect_cloud_source
from users.operations.sources.credentials import (
    find_connection_gateway,
    find_team_source_gateway,
)
from users.operations.sources.grants import CLAIM_TTL, renew_connection_tokens
from users.operations.sources.pulls import schedule_source_pulls
from users.states import ConnectionFault

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
BACK = "https://assay.example/connect/back/withings/"


class Killed(BaseException):
    """The worker is no more: nothing after it runs."""


def connected(tenant, twin):
    """A user's Withings, connected at its twin; its data is not asked for yet."""
    gateway = find_team_source_gateway(tenant=tenant, provider="withings")
    grant = gateway.connect(
        code=twin.issue_code(BACK), redirect_url=BACK, verifier="v" * 43
    )
    connection = connect_cloud_source(
        user=make_user(tenant=tenant), actor=ACTOR, provider="withings", grant=grant
    )
    Pull.objects.for_tenant(tenant).all().delete()
    return connection


def ask(connection, *resources):
    schedule_source_pulls(
        connection=connection,
        resources=resources or ("weight",),
        is_history=True,
        range_start=NOON - timedelta(days=180),
        range_end=NOON,
    )


def run(connection):
    return run_connection_pulls(
        tenant=connection.tenant, actor=ACTOR, connection_pk=connection.pk
    )


def weigh(twin, days=180):
    for day in range(days):
        moment = int((NOON - timedelta(days=day, hours=5)).timestamp())
        twin.add_measures(moment, {1: (72_500, -3)})


def sent(tenant):
    return dict(Supply.objects.for_tenant(tenant).values_list("resource", "sent_count"))


def ends_of(connection):
    mine = Pull.objects.for_tenant(connection.tenant).filter(connection=connection)
    return [(each.status, each.error_type) for each in mine]


@pytest.fixture
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_a_worker_killed_twice_loses_and_doubles_nothing(
    alice_tenant, withings, monkeypatch
):
    connection = connected(alice_tenant, withings)
    weigh(withings)
    ask(connection)
    honest = WithingsGateway.pull
    kills = [0, 1]

    def pull(*given, **asked):
        for number, page in enumerate(honest(*given, **asked)):
            if kills and number == kills[0]:
                kills.pop(0)
                raise Killed
            yield page

    monkeypatch.setattr(WithingsGateway, "pull", pull)
    for _kill in range(2):
        with pytest.raises(Killed):
            run(connection)
    wait = run(connection)

    assert wait is None
    assert ends_of(connection) == [("success", "")]
    assert sent(alice_tenant) == {"weight": 180}


@pytest.mark.django_db
@pytest.mark.parametrize("works_once", [True, False])
@pytest.mark.usefixtures("_noon")
def test_a_worker_killed_with_new_tokens_in_its_hand(
    alice_tenant, withings, monkeypatch, time_machine, works_once
):
    """Between the answer and the commit: who cannot be sure never sends twice."""
    monkeypatch.setattr(WithingsGateway, "reuses_refresh_tokens", not works_once)
    connection = connected(alice_tenant, withings)
    honest = WithingsGateway.refresh_tokens

    def trade_and_die(self, grant):
        honest(self, grant)
        raise Killed

    time_machine.move_to(NOON + timedelta(hours=3), tick=False)
    ask(connection)
    with monkeypatch.context() as dying:
        dying.setattr(WithingsGateway, "refresh_tokens", trade_and_die)
        with pytest.raises(Killed):
            run(connection)
    meanwhile = run(connection)
    trades = withings.trades
    time_machine.move_to(
        NOON + timedelta(hours=3) + CLAIM_TTL + timedelta(seconds=1), tick=False
    )
    run(connection)

    connection.refresh_from_db()
    assert meanwhile == timedelta(seconds=5)
    assert trades == 2
    if works_once:
        assert withings.trades == 2
        assert (connection.status, connection.error_type) == (
            "error",
            ConnectionFault.TOKEN_REFRESH_FAILED,
        )
    else:
        assert (withings.trades, withings.replays) == (3, 1)
        assert connection.status == "connected"
        assert ends_of(connection) == [("success", "")]


@pytest.mark.django_db(transaction=True)
def test_ten_workers_race_for_a_refresh_and_one_trades(alice_tenant, withings):
    connection = connected(alice_tenant, withings)
    spent = SourceGrant.objects.for_tenant(alice_tenant).get().rotation

    def race(_number):
        try:
            kept = renew_connection_tokens(
                connection=connection,
                gateway=find_connection_gateway(connection),
                spent=spent,
            )
        except SourceUnavailable as away:
            return away.reason
        else:
            return kept.grant.access_token
        finally:
            database.close()

    with ThreadPoolExecutor(10) as pool:
        got = set(pool.map(race, range(10)))

    assert withings.trades == 2
    assert withings.replays == 0
    assert got - {"tokens_claimed"} == {withings.tokens.access}


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_in_a_storm_of_429_one_call_goes_out_and_all_data_comes_after_it(
    alice_tenant, withings, time_machine
):
    connections = [connected(alice_tenant, withings)]
    withings.user_id = 364
    connections.append(connected(alice_tenant, withings))
    weigh(withings, days=3)
    for connection in connections:
        ask(connection)
    withings.faults.extend([601] * 50)
    asked = len(withings.log)

    waits = [run(connection) for connection in connections]
    in_storm = len(withings.log) - asked
    withings.faults.clear()
    time_machine.move_to(NOON + timedelta(minutes=1), tick=False)
    # The twin holds one person's tokens: the second to sign in has them.
    last = run(connections[1])

    assert in_storm == 1
    assert waits == [timedelta(minutes=1)] * 2
    assert last is None
    assert ends_of(connections[1]) == [("success", "")]


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_half_a_year_keeps_to_the_limit_of_the_source(
    alice_tenant, withings, time_machine, monkeypatch
):
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )
    withings.page_size = 1
    connection = connected(alice_tenant, withings)
    weigh(withings)
    ask(connection)

    wait = run(connection)

    assert wait is None
    assert len(withings.log) > 180
    assert 601 not in {status for _, _, status in withings.log}
    assert sent(alice_tenant) == {"weight": 180}
    assert ends_of(connection) == [("success", "")]
    assert SourceBudget.objects.get().used == len(withings.log)


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_what_the_user_revoked_there_is_to_be_connected_again(
    alice_tenant, withings, time_machine
):
    connection = connected(alice_tenant, withings)
    withings.is_revoked, withings.tokens = True, None
    ask(connection)

    jobs.pull_connection_data(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)

    connection = Connection.objects.for_tenant(alice_tenant).get()
    assert (connection.status, connection.error_type) == (
        "error",
        ConnectionFault.TOKEN_REFRESH_FAILED,
    )
    assert ends_of(connection) == [("failure", "token_refresh_failed")]
    assert sent(alice_tenant).get("weight", 0) == 0
    assert [job.name for job in queued()].count("users.pull") == 2
