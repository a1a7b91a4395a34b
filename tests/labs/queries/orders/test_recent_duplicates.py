from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine

from labs.operations.orders.placing import cancel_order
from labs.queries.orders.recent_duplicates import list_recent_duplicate_orders
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab, make_lab_test, make_marker, make_order
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db


def twins(user, markers):
    return list_recent_duplicate_orders(
        tenant=user.tenant,
        user_id=user.uuid,
        marker_ids=[marker.pk for marker in markers],
    )


def test_the_same_set_for_the_same_user_is_a_twin_for_24_hours(
    alice_tenant, django_assert_num_queries
):
    lab = make_lab()
    one, two = (make_marker(lab=lab) for _ in range(2))
    panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=(one, two))
    alike = make_lab_test(tenant=alice_tenant, lab=lab, markers=(two, one))
    less = make_lab_test(tenant=alice_tenant, lab=lab, markers=(one,))
    user = make_user(tenant=alice_tenant)
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        first = make_order(tenant=alice_tenant, user=user, lab_test=panel)
        make_order(tenant=alice_tenant, user=user, lab_test=less)
        make_order(tenant=alice_tenant, lab_test=panel)
        clock.shift(timedelta(hours=1))
        second = make_order(tenant=alice_tenant, user=user, lab_test=alike)

        with django_assert_num_queries(4):
            both = twins(user, (one, two))
        clock.shift(timedelta(hours=23))
        later = twins(user, (one, two))

    assert both == [second, first]
    assert later == [second]


def test_a_cancelled_order_is_no_twin(alice_tenant):
    order = make_order(tenant=alice_tenant)
    markers = order.lab_test.markers.all()
    order.user.tenant = alice_tenant
    before = twins(order.user, markers)

    cancel_order(order=order, actor=ACTOR)

    assert before == [order]
    assert twins(order.user, markers) == []
