from __future__ import annotations

from datetime import timedelta

import pytest

from labs.gateways.results import ReportedGap
from labs.models import Order, Result, ResultVersion
from labs.operations.results import store_results
from labs.queries.orders import full_order
from labs.queries.results import current_version, result_changes, rows_of
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_test, make_order
from tests.factories.results import (
    REPORTED_AT,
    delivery,
    make_ready_order,
    make_results,
    reported,
)
from tests.labs.holdings import refused
from tests.outbox import emitted, emitted_types

pytestmark = pytest.mark.django_db
LATER = REPORTED_AT + timedelta(hours=2)


def lows(order):
    kept = full_order(tenant=order.tenant, order_id=order.pk)
    return [event.status.split(".")[2] for event in kept.events.order_by("pk")]


def texts(order):
    version = current_version(order=order)
    return {row.name: row.result for row in rows_of(version)}


def test_final_results_complete_an_order_and_say_how_they_lie(alice_tenant):
    order = make_ready_order(tenant=alice_tenant)

    version = make_results(order=order, results=(reported(), reported("Sodium", "180")))

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert kept.status == "completed.walk_in_test.completed"
    assert (kept.interpretation, kept.has_missing_results) == ("abnormal", False)
    assert (version.number, version.status) == (1, "final")
    assert not version.is_correction
    assert version.laboratory == order.lab.name
    row = Result.objects.for_tenant(alice_tenant).get(name="Sodium")
    assert (row.type, row.value, row.interpretation) == ("numeric", 180.0, "abnormal")
    assert (row.is_above_max_range, row.is_below_min_range) == (True, False)
    assert emitted(alice_tenant)[-1]["data"]["interpretation"] == "abnormal"
    assert changes_of(alice_tenant, "store_results") == {"version": [None, 1]}
