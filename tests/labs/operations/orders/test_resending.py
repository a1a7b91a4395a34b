from __future__ import annotations

from datetime import UTC, datetime

import pytest
import time_machine

from labs.operations.order_status.status import advance_order
from labs.operations.orders.resending import resend_last_order_events
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_order
from tests.outbox import emitted, emitted_types

pytestmark = pytest.mark.django_db


def at(day):
    return datetime(2026, 3, day, 12, tzinfo=UTC)


def resend(tenant, *orders, start=None, end=None):
    return resend_last_order_events(
        tenant=tenant,
        actor=ACTOR,
        order_ids=[order.pk for order in orders],
        start_at=start,
        end_at=end or at(28),
    )


def test_orders_are_told_again_as_they_stand(alice_tenant):
    waiting, moved = make_order(tenant=alice_tenant), make_order(tenant=alice_tenant)
    advance_order(order=moved, actor=ACTOR, to="requisition_created")

    ids = resend(alice_tenant, waiting, moved)

    assert set(ids) == {waiting.pk, moved.pk}
    assert emitted_types(alice_tenant)[-2:] == [
        "labtest.order.created",
        "labtest.order.updated",
    ]
    assert emitted(alice_tenant)[-1]["data"]["id"] == str(moved.pk)
    assert audited(alice_tenant)[-1] == ("resend_order_events", "order", "2")


def test_a_window_has_both_its_ends(alice_tenant):
    orders = []
    for day in (1, 2, 3, 4):
        with time_machine.travel(at(day), tick=False):
            orders.append(make_order(tenant=alice_tenant))

    ids = resend(alice_tenant, start=at(2), end=at(3))

    assert ids == [orders[1].pk, orders[2].pk]


def test_strangers_and_deleted_users_are_left_out(alice_tenant, charlie_tenant):
    hers, gone = make_order(tenant=charlie_tenant), make_order(tenant=alice_tenant)
    gone.user.deleted_at = at(1)
    gone.user.save(update_fields=["deleted_at"])
    before = len(emitted(charlie_tenant))

    assert resend(alice_tenant, hers, gone) == []
    assert len(emitted(charlie_tenant)) == before
