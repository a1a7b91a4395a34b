from __future__ import annotations

from itertools import product

import pytest

from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Connection
from users.operations.sources.sources import connect_source
from users.states import (
    CONNECTION_MOVES,
    PULL_MOVES,
    ConnectionFault,
    ConnectionStatus,
    PauseCause,
    PullStatus,
    explain_connection_status,
)

STATUSES = [*ConnectionStatus.values, "hibernating"]


@pytest.mark.parametrize(("old", "new"), [*product(STATUSES, STATUSES)])
@pytest.mark.django_db
def test_each_permitted_move_succeeds_and_every_other_is_refused(
    alice_tenant, old, new
):
    user = make_user(tenant=alice_tenant)
    connection = connect_source(user=user, actor=ACTOR, provider="oura")
    connection.status = old
    connection.save(update_fields=["status"])
    before = stored_rows(alice_tenant)
    known = old in ConnectionStatus.values and new in ConnectionStatus.values

    if known and old != new:
        move_status(connection, moves=CONNECTION_MOVES, to=new)
        assert Connection.objects.for_tenant(alice_tenant).get().status == new
    else:
        with pytest.raises(DomainError):
            move_status(connection, moves=CONNECTION_MOVES, to=new)
        assert stored_rows(alice_tenant) == before


def test_a_pull_ends_once_and_may_be_put_back_until_then():
    assert {old for old, _ in PULL_MOVES} == set(PullStatus)
    assert [PULL_MOVES.is_terminal(status) for status in PullStatus] == [
        False,
        False,
        True,
        True,
    ]
    assert PULL_MOVES.allows("started", "scheduled")
    assert not PULL_MOVES.allows("scheduled", "success")


def test_each_fault_and_cause_has_words_of_its_own_and_a_next_step():
    items = [
        explain_connection_status("error", error_type=fault)
        for fault in ConnectionFault
    ]
    items += [
        explain_connection_status("paused", pause_cause=cause) for cause in PauseCause
    ]

    assert len({each.sentence for each in items}) == len(items)
    assert all(each.next_step for each in items)


def test_what_we_do_not_know_has_words_too():
    unknown = explain_connection_status("error", error_type=ConnectionFault.UNKNOWN)

    assert explain_connection_status("error", error_type="out_of_luck") == unknown
    assert explain_connection_status("hibernating").next_step
