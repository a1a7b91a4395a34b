from __future__ import annotations

import pytest

from labs.operations.orders import cancel_order
from labs.queries import full_order
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    make_lab_account,
    make_lab_test,
    make_order,
)
from tests.outbox import emitted, emitted_types

pytestmark = pytest.mark.django_db


def test_a_placed_order_stands_at_ordered_and_is_told_of(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=panel.lab)

    order = make_order(tenant=alice_tenant, lab_test=panel)

    assert order.status == "received.walk_in_test.ordered"
    assert (order.lab_account, order.account_reason) == (account, "only_active")
    assert emitted_types(alice_tenant) == ["labtest.order.created"]


def test_a_cancelled_order_cannot_be_cancelled_again(alice_tenant):
    order = make_order(tenant=alice_tenant)
    cancel_order(order=order, actor=ACTOR)
    before = len(emitted(alice_tenant))

    with pytest.raises(DomainError) as refused:
        cancel_order(order=order, actor=ACTOR)

    assert refused.value.code == "order_not_cancellable"
    assert len(emitted(alice_tenant)) == before
    kept = full_order(tenant=alice_tenant, order_id=order.pk)
    assert [e.status for e in kept.events.all()] == [
        "received.walk_in_test.ordered",
        "cancelled.walk_in_test.cancelled",
    ]
