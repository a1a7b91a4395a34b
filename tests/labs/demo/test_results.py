from __future__ import annotations

from datetime import timedelta

import pytest

from labs.demo.results import backdate_demo_results
from labs.models import CriticalAlert, OrderEvent
from labs.queries.results.results import list_result_versions, list_results_of_version
from tests.factories.results import (
    REPORTED_AT,
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)

pytestmark = pytest.mark.django_db
PLACED = REPORTED_AT - timedelta(days=30)
DAY = timedelta(days=1)


def dated(order, days):
    """The steps of an order, so many days after it was placed."""
    events = OrderEvent.objects.for_tenant(order.tenant).filter(order=order)
    found = list(events.order_by("pk"))
    for event, after in zip(found, days, strict=True):
        event.created_at = PLACED + after * DAY
    return found


def test_results_become_as_old_as_the_steps_they_took(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    low = make_reported_result("Potassium", "1", flag="LL")
    make_results(order=order, status="partial", results=(low,))
    later = REPORTED_AT + timedelta(minutes=1)
    make_results(order=order, results=(make_reported_result(),), reported_at=later)

    backdate_demo_results(order=order, events=dated(order, [0, 0, 3, 4]))

    final, partial = list_result_versions(order=order)
    assert partial.created_at == partial.reported_at == PLACED + 3 * DAY
    assert final.created_at == final.reported_at == PLACED + 4 * DAY
    drawn = PLACED + 3 * DAY - timedelta(hours=20)
    assert (final.collected_at, final.received_at) == (
        drawn,
        drawn + timedelta(hours=10),
    )
    assert [
        (row.reported_at, row.observed_at) for row in list_results_of_version(final)
    ] == [
        (partial.reported_at, drawn),
        (final.reported_at, drawn),
    ]
    alert = CriticalAlert.objects.for_tenant(alice_tenant).get()
    assert abs(alert.opened_at - partial.created_at) < timedelta(seconds=5)
    assert alert.due_at - alert.opened_at == alert.escalate_at - alert.opened_at


def test_a_sample_is_never_drawn_before_the_step_that_precedes_its_results(
    alice_tenant,
):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(order=order)

    backdate_demo_results(order=order, events=dated(order, [0, 2, 2.5]))

    (version,) = list_result_versions(order=order)
    assert version.collected_at == PLACED + 2 * DAY
