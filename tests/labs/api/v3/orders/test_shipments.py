from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from labs.models import Order, OrderEvent, Shipment, ShipmentEvent
from labs.operations.order_status.status import advance_order
from labs.operations.orders.placing import cancel_order
from tests.audit import changes_of
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_order
from tests.factories.shipments import make_kit, report_shipment
from tests.labs.holdings import holdings
from tests.outbox import emitted

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SENT = (NOW - timedelta(hours=20)).isoformat()


def path_of(order):
    return f"/v3/order/{order.pk}/shipment_events"


def post(api, order, status="transit_customer", at=SENT, **body):
    return api.post(path_of(order), {"status": status, "occurred_at": at, **body})


def code(reply):
    return reply.status_code, reply.json().get("code")


def held(order):
    rows = ShipmentEvent.objects.for_tenant(order.tenant).filter(order=order)
    return [*holdings(order.tenant), *rows.values_list("status", "occurred_at")]


@pytest.fixture(autouse=True)
def _clock():
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def kit(alice_tenant):
    return make_kit(tenant=alice_tenant)


def test_a_step_of_the_way_advances_the_order_and_says_when_it_happened(
    alice_api, alice_tenant, kit
):
    reply = post(alice_api, kit, tracking_number="OUT-1", note="Left the warehouse")

    assert reply.status_code == 200
    assert set(reply.json()) == {"order", "status", "message"}
    order = reply.json()["order"]
    assert order["last_event"]["status"] == "collecting_sample.testkit.transit_customer"
    shipment = order["details"]["data"]["shipment"]
    assert shipment["outbound_tracking_number"] == "OUT-1"
    assert shipment["inbound_tracking_number"] is None
    row = ShipmentEvent.objects.for_tenant(alice_tenant).get()
    assert (row.status, row.direction) == ("transit_customer", "outbound")
    assert row.occurred_at.isoformat() == SENT
    assert row.created_at >= NOW
    assert (row.tracking_number, row.note) == ("OUT-1", "Left the warehouse")
    assert (row.reporter, row.actor_kind) == ("api", "api_key")
    assert row.event.pk == order["last_event"]["id"]
    assert row.event.why == "Left the warehouse"
    assert emitted(alice_tenant)[-1]["event_type"] == "labtest.order.updated"
    assert emitted(alice_tenant)[-1]["data"] == order
    assert changes_of(alice_tenant, "record_shipment") == {
        "status": [
            "received.testkit.requisition_created",
            "collecting_sample.testkit.transit_customer",
        ]
    }


def test_a_kit_reaches_its_lab_in_production(alice_production_api, alice_production):
    kit = make_kit(tenant=alice_production)
    steps = (
        *("transit_customer", "out_for_delivery", "with_customer", "transit_lab"),
        *("problem_in_transit_lab", "delivered_to_lab"),
    )

    for hours, status in enumerate(steps):
        at = (NOW - timedelta(hours=20 - hours)).isoformat()
        number = "IN-1" if status == "transit_lab" else None
        reply = post(alice_production_api, kit, status, at, tracking_number=number)
        assert reply.status_code == 200, reply.json()

    order = reply.json()["order"]
    assert [one["status"].split(".")[2] for one in order["events"]] == [
        *("ordered", "requisition_created", *steps)
    ]
    assert order["details"]["data"]["shipment"]["inbound_tracking_number"] == "IN-1"
    assert order["expected_result_by_date"] is not None


@pytest.mark.parametrize(
    ("before", "direction"),
    [
        (["transit_customer"], "outbound"),
        (["transit_customer", "with_customer", "transit_lab"], "inbound"),
    ],
)
def test_a_kit_is_lost_on_the_way_it_was_on(alice_api, kit, before, direction):
    report_shipment(kit, *before, at=NOW - timedelta(hours=1))

    reply = post(alice_api, kit, "lost", NOW.isoformat(), tracking_number="T-9")

    order = reply.json()["order"]
    assert order["last_event"]["status"] == "failed.testkit.lost"
    shipment = order["details"]["data"]["shipment"]
    assert shipment[f"{direction}_tracking_number"] == "T-9"
    assert sorted(filter(None, shipment.values())) == sorted([shipment["id"], "T-9"])


def test_a_repeated_event_is_answered_and_writes_nothing(alice_api, kit):
    first = post(alice_api, kit, tracking_number="OUT-1")
    before = held(kit)

    again = post(alice_api, kit, tracking_number="OTHER", note="Again")

    assert again.status_code == 200
    assert again.json()["order"] == first.json()["order"]
    assert held(kit) == before


def test_an_idempotency_key_repeats_the_first_answer(alice_api, kit):
    key = {"x-idempotency-key": "s-1"}
    body = {"status": "transit_customer", "occurred_at": SENT}
    first = alice_api.post(path_of(kit), body, headers=key)
    report_shipment(kit, "with_customer")
    again = alice_api.post(path_of(kit), body, headers=key)

    assert again.content == first.content


@pytest.mark.parametrize(
    ("status", "at", "refusal"),
    [
        ("with_customer", NOW, "transition_not_allowed"),
        ("out_for_delivery", NOW, "transition_not_allowed"),
        ("transit_lab", NOW, "transition_not_allowed"),
        ("lost", NOW, "transition_not_allowed"),
        ("transit_customer", NOW + timedelta(minutes=6), "occurred_in_future"),
        ("transit_customer", NOW - timedelta(days=4), "occurred_before_order"),
        ("transit_customer", datetime(1026, 3, 4, tzinfo=UTC), "occurred_too_early"),
    ],
)
def test_a_step_that_cannot_be_is_refused(alice_api, kit, status, at, refusal):
    before = held(kit)

    reply = post(alice_api, kit, status, at.isoformat(), tracking_number="T")

    assert code(reply) == (400, refusal)
    assert held(kit) == before
    assert not Shipment.objects.for_tenant(kit.tenant).exists()


def test_a_step_before_the_one_recorded_last_is_refused(alice_api, kit):
    report_shipment(kit, "transit_customer", at=NOW - timedelta(hours=2))
    before = held(kit)

    reply = post(
        alice_api, kit, "with_customer", (NOW - timedelta(hours=3)).isoformat()
    )

    assert code(reply) == (400, "shipment_event_out_of_order")
    assert held(kit) == before


@pytest.mark.parametrize("status", ["lost", "delivered_to_lab"])
def test_an_order_that_has_ended_takes_no_step(alice_api, kit, status):
    cancel_order(order=kit, actor=ACTOR)
    before = held(kit)

    reply = post(alice_api, kit, status)

    assert code(reply) == (400, "order_ended")
    assert held(kit) == before


def test_a_completed_kit_takes_no_late_scan(alice_api, kit):
    advance_order(order=kit, actor=ACTOR, to="delivered_to_lab")
    advance_order(order=kit, actor=ACTOR, to="completed")

    assert code(post(alice_api, kit, "delivered_to_lab")) == (400, "order_ended")


def test_an_order_that_is_no_kit_has_no_shipment(alice_api, alice_tenant):
    order = make_order(tenant=alice_tenant)
    before = held(order)

    assert code(post(alice_api, order)) == (400, "not_a_kit")
    assert held(order) == before


def test_another_teams_order_is_not_found(charlie_api, alice_production_api, kit):
    before = held(kit)

    assert code(post(charlie_api, kit)) == (404, "order_not_found")
    assert code(post(alice_production_api, kit)) == (404, "order_not_found")
    nobodys = charlie_api.post(
        f"/v3/order/{uuid.uuid4()}/shipment_events", {"status": "lost"}
    )
    assert code(nobodys) == (404, "order_not_found")
    assert held(kit) == before


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        ({"status": "completed", "occurred_at": SENT}, "status", "enum"),
        ({"occurred_at": SENT}, "status", "missing"),
        ({"status": "lost"}, "occurred_at", "missing"),
        (
            {"status": "lost", "occurred_at": "yesterday"},
            "occurred_at",
            "datetime_parsing",
        ),
        (
            {"status": "lost", "occurred_at": SENT, "note": "x" * 201},
            "note",
            "string_too_long",
        ),
        (
            {"status": "lost", "occurred_at": SENT, "tracking_number": "x" * 101},
            "tracking_number",
            "string_too_long",
        ),
    ],
)
def test_a_body_that_cannot_be_read_says_where(alice_api, kit, body, loc, kind):
    before = held(kit)

    reply = alice_api.post(path_of(kit), body)

    (line,) = reply.json()["detail"]
    assert (reply.status_code, line["loc"], line["type"]) == (422, ["body", loc], kind)
    assert held(kit) == before


def test_the_scope_of_shipments_opens_this_call_and_no_other(alice_tenant, kit):
    def client(*scopes):
        rules = KeyRules(scopes=frozenset(scopes))
        _, text = create_api_key(
            tenant=alice_tenant, actor=ACTOR, label="limited", rules=rules
        )
        return ApiClient(text)

    reads = ("orders:read", "patient_details:read")
    shipper = client("shipments:write", *reads)

    assert code(post(client("orders:write", *reads), kit)) == (403, "scope_missing")
    assert post(shipper, kit).status_code == 200
    cancelled = shipper.post(f"/v3/order/{kit.pk}/cancel")
    assert code(cancelled) == (403, "scope_missing")
    kept = Order.objects.for_tenant(alice_tenant).get(pk=kit.pk)
    assert kept.status == "collecting_sample.testkit.transit_customer"
    assert OrderEvent.objects.for_tenant(alice_tenant).count() == 3
