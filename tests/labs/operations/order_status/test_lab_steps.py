from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from labs.operations.order_status.lab_steps import record_lab_step
from tests.factories.accounts import ACTOR
from tests.factories.shipments import make_kit, report_shipment
from tests.labs.holdings import refused

pytestmark = pytest.mark.django_db


def record(order, step, **fields):
    return record_lab_step(
        **{"order": order, "actor": ACTOR, "step": step, "occurred_at": timezone.now()}
        | fields
    )


def test_a_lab_that_is_blocked_says_why_and_when(alice_production):
    kit = make_kit(tenant=alice_production)
    moment = timezone.now() - timedelta(hours=1)
    report_shipment(kit, "delivered_to_lab", at=moment - timedelta(hours=1))

    record(
        kit,
        "lab_processing_blocked",
        occurred_at=moment,
        detail="date_of_collection_unspecified",
        why="Called",
    )

    event = kit.events.order_by("pk").last()
    assert event.status == "sample_with_lab.testkit.lab_processing_blocked"
    assert (event.status_detail, event.why, event.occurred_at) == (
        "date_of_collection_unspecified",
        "Called",
        moment,
    )


@pytest.mark.parametrize(
    ("step", "fields", "code"),
    [
        ("completed", {}, "not_a_lab_step"),
        ("delivered_to_lab", {}, "not_a_lab_step"),
        ("sample_error", {}, "transition_not_allowed"),
        ("do_not_process", {"detail": "sample_hemolyzed"}, "status_detail_invalid"),
    ],
)
def test_what_a_lab_cannot_say_now_is_refused(alice_production, step, fields, code):
    kit = make_kit(tenant=alice_production)

    with refused(alice_production, code):
        record(kit, step, **fields)
    with refused(alice_production, "occurred_in_future"):
        record(kit, "do_not_process", occurred_at=timezone.now() + timedelta(minutes=6))
