from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from labs.models import (
    InboundMessage,
    Order,
    OrderTransaction,
    ResultVersion,
)
from labs.operations.inbound.review import reject_lab_report
from labs.operations.retention import (
    count_old_lab_messages,
    count_old_orders,
    delete_old_lab_messages,
    delete_old_orders,
)
from tests.factories.accounts import ACTOR
from tests.factories.inbound import make_unmatched
from tests.factories.labs import make_order
from tests.factories.results import make_order_awaiting_results, make_results

pytestmark = pytest.mark.django_db
BEFORE = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def test_orders_that_ended_long_ago_go_with_their_results(alice_tenant, charlie_tenant):
    orders = []
    for tenant in (alice_tenant, alice_tenant, charlie_tenant):
        order = make_order_awaiting_results(tenant=tenant)
        make_results(order=order)
        orders.append(order)
    open_ = make_order(tenant=alice_tenant)
    child = make_order(tenant=alice_tenant)
    Order.unscoped.filter(pk=child.pk).update(parent=orders[0])
    every = Order.unscoped.exclude(pk=orders[1].pk)
    every.update(updated_at=BEFORE - DAY)
    Order.unscoped.filter(pk=orders[1].pk).update(updated_at=BEFORE)

    aged = count_old_orders(alice_tenant, BEFORE)
    removed = list(delete_old_orders(alice_tenant, BEFORE))

    assert (aged.number, aged.oldest, removed) == (1, BEFORE - DAY, [1])
    kept = {orders[1].pk, orders[2].pk, open_.pk, child.pk}
    assert set(Order.unscoped.values_list("pk", flat=True)) == kept
    assert Order.unscoped.get(pk=child.pk).parent_id is None
    assert OrderTransaction.unscoped.filter(orders=None).count() == 0
    versions = ResultVersion.unscoped.values_list("order", flat=True)
    assert set(versions) == {orders[1].pk, orders[2].pk}


def test_messages_go_that_wait_for_nobody(alice_tenant, charlie_tenant):
    reports = [make_unmatched(tenant=alice_tenant) for _ in range(3)]
    reports.append(make_unmatched(tenant=charlie_tenant))
    for report in (*reports[:2], reports[3]):
        reject_lab_report(report=report, actor=ACTOR, why="Not ours")
    InboundMessage.unscoped.update(received_at=BEFORE - DAY)
    late = InboundMessage.unscoped.filter(pk=reports[1].message_id)
    late.update(received_at=BEFORE)

    aged = count_old_lab_messages(alice_tenant, BEFORE)
    removed = list(delete_old_lab_messages(alice_tenant, BEFORE))

    assert (aged.number, removed) == (1, [1])
    assert set(InboundMessage.unscoped.values_list("pk", flat=True)) == {
        report.message_id for report in reports[1:]
    }
