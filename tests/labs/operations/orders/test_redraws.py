from __future__ import annotations

import pytest

from labs.models import Order, OrderTransaction
from labs.operations.order_status.status import advance_order
from labs.operations.orders.redraws import place_redraw_order
from labs.payloads import build_order
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_test, make_order
from tests.labs.holdings import refused
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


def make_drawn(tenant, **wanted):
    order = make_order(tenant=tenant, **wanted)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    return order


def test_a_redraw_joins_the_transaction(alice_tenant):
    order = make_drawn(alice_tenant, comments="Left arm")

    redraw = place_redraw_order(order=order, actor=ACTOR)

    first, second = Order.objects.for_tenant(alice_tenant).order_by("created_at", "pk")
    assert {first.pk, second.pk} == {order.pk, redraw.pk}
    assert (redraw.origin, redraw.parent_id) == ("redraw", order.pk)
    assert (redraw.transaction_id, redraw.comments) == (
        order.transaction_id,
        "Left arm",
    )
    assert OrderTransaction.objects.for_tenant(alice_tenant).count() == 1
    assert emitted_types(alice_tenant)[-2:] == [
        "labtest.order.updated",
        "labtest.order.created",
    ]
    shown = build_order(get_order_with_details(tenant=alice_tenant, order_id=order.pk))
    assert shown["order_transaction"]["status"] == "active"


def test_there_is_one_redraw_and_it_has_none_itself(alice_tenant):
    order = make_drawn(alice_tenant)
    redraw = place_redraw_order(order=order, actor=ACTOR)
    advance_order(order=redraw, actor=ACTOR, to="requisition_created")

    with refused(alice_tenant, "redraw_used"):
        place_redraw_order(order=redraw, actor=ACTOR)


def test_a_transaction_is_done_when_its_redraw_is(alice_tenant):
    order = make_drawn(alice_tenant)
    redraw = place_redraw_order(order=order, actor=ACTOR)
    for step in ("requisition_created", "completed"):
        advance_order(order=redraw, actor=ACTOR, to=step)

    shown = build_order(get_order_with_details(tenant=alice_tenant, order_id=order.pk))

    assert shown["order_transaction"]["status"] == "completed"
    assert [o["origin"] for o in shown["order_transaction"]["orders"]] == [
        "initial",
        "redraw",
    ]


@pytest.mark.parametrize(
    "method", [m for m in CollectionMethod if m != CollectionMethod.WALK_IN_TEST]
)
def test_only_a_walk_in_is_redrawn(alice_tenant, method):
    panel = make_lab_test(tenant=alice_tenant, method=method)
    order = make_drawn(alice_tenant, lab_test=panel)

    with refused(alice_tenant, "transition_not_allowed"):
        place_redraw_order(order=order, actor=ACTOR)
