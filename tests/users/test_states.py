from __future__ import annotations

from itertools import product

import pytest

from portal.lib.errors import DomainError
from portal.lib.transitions import move_status
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import held
from users.models import Connection
from users.operations.sources import connect_source
from users.states import CONNECTION_MOVES, ConnectionStatus

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
    before = held(alice_tenant)
    known = old in ConnectionStatus.values and new in ConnectionStatus.values

    if known and old != new:
        move_status(connection, moves=CONNECTION_MOVES, to=new)
        assert Connection.objects.for_tenant(alice_tenant).get().status == new
    else:
        with pytest.raises(DomainError):
            move_status(connection, moves=CONNECTION_MOVES, to=new)
        assert held(alice_tenant) == before
