from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from labs.operations.order_status.status import advance_order
from labs.payloads.tracking import TrackingAnswer
from tests.factories.accounts import ACTOR
from tests.factories.results import make_reported_result, make_results
from tests.factories.shipments import make_kit, report_shipment
from tests.outbox import emitted, emitted_types

pytestmark = pytest.mark.django_db
KIND = "labtest.order_tracking.updated"
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
NOTHING = {"original_estimate": None, "current_estimate": None}


@pytest.fixture(autouse=True)
def _clock():
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def kit(alice_tenant):
    return make_kit(tenant=alice_tenant)


def tracking(api, order):
    reply = api.get(f"/v3/order/{order.pk}/tracking")
    assert reply.status_code == 200
    return reply.json()


def told(tenant):
    return [one["data"] for one in emitted(tenant) if one["event_type"] == KIND]


def test_of_a_new_order_nothing_is_made_up(alice_api, alice_tenant, kit):
    body = tracking(alice_api, kit)

    (marker,) = kit.lab_test.markers.all()
    assert set(body) == TrackingAnswer.__required_keys__
    assert body == {
        "order_id": str(kit.pk),
        "expected_at": {"final_results": NOTHING},
        "collected_at": None,
        "markers": [
            {
                "id": marker.pk,
                "name": marker.name,
                "slug": marker.slug,
                "provider_id": marker.provider_id,
                "status": "pending",
                "expected_at": NOTHING,
                "results": [],
            }
        ],
        "updates": [],
    }
    assert told(alice_tenant) == []


def test_estimates_count_from_the_arrival_and_each_change_is_told(
    alice_api, alice_tenant, kit
):
    report_shipment(kit, "transit_customer", "with_customer", "transit_lab", at=NOW)
    sent = tracking(alice_api, kit)
    report_shipment(kit, "delivered_to_lab", at=NOW)
    arrived = tracking(alice_api, kit)

    due = (NOW + timedelta(days=2)).isoformat()
    estimate = {"original_estimate": due, "current_estimate": due}
    assert sent["collected_at"] == {
        "collected_at": NOW.isoformat(),
        "is_inferred": True,
        "inferred_from": "dispatch_date",
    }
    assert sent["expected_at"] == {"final_results": NOTHING}
    assert arrived["expected_at"] == {"final_results": estimate}
    assert arrived["markers"][0]["expected_at"] == estimate
    assert told(alice_tenant) == [sent, arrived]


def test_what_the_lab_says_of_the_collection_stands(alice_api, alice_tenant, kit):
    report_shipment(kit, "transit_customer", "with_customer", at=NOW)
    collected = NOW - timedelta(hours=30)

    make_results(
        order=kit,
        results=(make_reported_result(),),
        collected_at=collected,
    )

    body = tracking(alice_api, kit)
    assert body["collected_at"] == {
        "collected_at": collected.isoformat(),
        "is_inferred": False,
        "inferred_from": None,
    }
    assert body["markers"][0]["status"] == "resulted"
    assert [one["name"] for one in body["markers"][0]["results"]] == ["Glucose"]
    assert told(alice_tenant)[-1]["collected_at"] == body["collected_at"]


def test_an_arrival_that_only_results_prove_gives_no_time_of_collection(alice_api, kit):
    make_results(order=kit)

    assert tracking(alice_api, kit)["collected_at"] is None


def test_estimates_are_given_up_with_the_order(alice_api, alice_tenant, kit):
    arrived = report_shipment(kit, "delivered_to_lab", at=NOW)
    due = (NOW + timedelta(days=2)).isoformat()

    advance_order(
        order=arrived, actor=ACTOR, to="sample_error", detail="sample_hemolyzed"
    )

    body = tracking(alice_api, kit)
    given_up = {"original_estimate": due, "current_estimate": None}
    assert body["expected_at"] == {"final_results": given_up}
    (update,) = body["updates"]
    assert (update["reason"], update["source"]) == ("sample_hemolyzed", "lab")
    assert update["revised_estimate"] is None
    assert datetime.fromisoformat(update["created_at"]) >= NOW
    (marker,) = kit.lab_test.markers.all()
    assert update["impacted_markers"] == [
        {
            "id": marker.pk,
            "name": marker.name,
            "provider_id": marker.provider_id,
            "estimates": given_up,
        }
    ]
    assert told(alice_tenant)[-1] == body


def test_partial_results_change_no_tracking_that_the_team_is_told_of(alice_tenant, kit):
    report_shipment(kit, "delivered_to_lab", at=NOW)
    before = len(emitted_types(alice_tenant))

    make_results(order=kit, status="partial", collected_at=NOW - timedelta(days=1))

    assert emitted_types(alice_tenant)[before:] == []


def test_another_teams_order_is_not_found(charlie_api, kit):
    reply = charlie_api.get(f"/v3/order/{kit.pk}/tracking")

    assert (reply.status_code, reply.json()["code"]) == (404, "order_not_found")
