from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine

from labs.models import Order
from labs.operations.order_status.status import advance_order
from labs.states.catalogue import CollectionMethod
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab, make_lab_test, make_marker, make_order
from tests.outbox import emitted

pytestmark = pytest.mark.django_db
DRAWN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def drawn_order(tenant, *days):
    """An order of markers with these usual and worst days, drawn on 2 March."""
    lab = make_lab()
    markers = tuple(
        make_marker(lab=lab, common_tat_days=usual, worst_case_tat_days=worst)
        for usual, worst in days
    )
    panel = make_lab_test(
        tenant=tenant,
        lab=lab,
        markers=markers,
        method=CollectionMethod.ON_SITE_COLLECTION,
    )
    order = make_order(tenant=tenant, lab_test=panel)
    with time_machine.travel(DRAWN, tick=False):
        advance_order(order=order, actor=ACTOR, to="requisition_created")
        assert order.due_by is None
        advance_order(order=order, actor=ACTOR, to="draw_completed")
    return order


def test_results_are_expected_by_the_slowest_marker_from_the_draw_on(alice_tenant):
    order = drawn_order(alice_tenant, (2, 5), (4, 4))

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert (kept.due_by, kept.worst_case_due_by) == (date(2026, 3, 6), date(2026, 3, 7))
    told, tracking = (one["data"] for one in emitted(alice_tenant)[-2:])
    assert told["id"] == str(order.pk)
    assert told["expected_result_by_date"] == "2026-03-06"
    assert told["worst_case_result_by_date"] == "2026-03-07"
    assert tracking["expected_at"]["final_results"] == {
        "original_estimate": "2026-03-06T09:00:00+00:00",
        "current_estimate": "2026-03-06T09:00:00+00:00",
    }


def test_later_steps_leave_the_days_as_they_were_told(alice_tenant):
    order = drawn_order(alice_tenant, (2, 5))

    with time_machine.travel(DRAWN + timedelta(days=3), tick=False):
        advance_order(order=order, actor=ACTOR, to="partial_results")

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert (kept.due_by, kept.worst_case_due_by) == (date(2026, 3, 4), date(2026, 3, 7))


def test_markers_that_name_no_days_promise_none(alice_tenant):
    order = drawn_order(alice_tenant, (None, None))

    assert (order.due_by, order.worst_case_due_by) == (None, None)
