from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from accounts.models import AuditEntry
from labs.models import LabTest, Order, OrderEvent, Shipment
from labs.operations.appointments.booking import require_order_bookable
from labs.operations.moving.orders import store_past_orders
from labs.operations.order_status.status import advance_order, record_past_step
from labs.operations.orders.requisitions import (
    create_requisition,
    enqueue_due_requisitions,
)
from labs.operations.orders.resending import resend_last_order_events
from labs.queries.orders.attention import count_orders_needing_attention
from labs.states.catalogue import CollectionMethod
from portal.lib.errors import DomainError
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR, make_api_key
from tests.factories.labs import make_lab, make_lab_test, make_marker, make_order
from tests.factories.users import make_user
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db
ADDRESS = {
    "receiver_name": "Ada Example",
    "first_line": "1 Sample Street",
    "second_line": None,
    "city": "Phoenix",
    "state": "AZ",
    "zip": "85004",
    "country": "US",
    "phone_number": "+15550101",
}


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="u-1")


@pytest.fixture
def lab(alice_tenant):
    return make_lab("lab_of_old", tenant=alice_tenant)


def step(number, low, top="received", method="walk_in_test", **changed):
    return {
        "id": number,
        "created_at": f"2025-06-0{number}T09:00:00+00:00",
        "status": f"{top}.{method}.{low}",
        "status_detail": None,
        **changed,
    }


def order(lab, *steps, method="walk_in_test", markers=(), **changed):
    """An order as the original answers it; of a kit with its shipment."""
    steps = steps or (step(1, "ordered"), step(2, "requisition_created"))
    order_id = str(uuid4())
    shipment = {"id": str(uuid4()), "outbound_tracking_number": "1Z", "notes": None}
    return {
        "id": order_id,
        "details": {
            "type": method,
            "data": {"shipment": shipment} if method == "testkit" else {"id": order_id},
        },
        "lab_test": {
            "id": str(uuid4()),
            "name": "Panel of old",
            "slug": "panel-of-old",
            "sample_type": "serum",
            "method": method,
            "price": 19.5,
            "fasting": True,
            "lab": lab and {"slug": lab.slug},
            "markers": [{"provider_id": each} for each in markers],
        },
        "patient_details": {
            "first_name": "Ada",
            "last_name": "Example",
            "dob": "1990-05-17T00:00:00Z",
            "gender": "female",
            "email": None,
        },
        "patient_address": ADDRESS,
        "shipping_details": ADDRESS if method == "testkit" else None,
        "sample_id": "S-1",
        "clinical_notes": None,
        "notes": "From before",
        "events": list(steps),
        "created_at": "2025-06-01T09:00:00+00:00",
        "updated_at": steps[-1]["created_at"],
        "activate_by": "2025-06-01",
        "expected_result_by_date": "2025-06-07",
        "worst_case_result_by_date": "2025-06-09",
        "order_transaction": {"id": str(uuid4()), "orders": []},
        **changed,
    }


def keep(tenant, user, *orders):
    return store_past_orders(
        tenant,
        ACTOR,
        user.uuid,
        "original",
        [{"order": each, "result": None} for each in orders],
    )


def test_nothing_acts_on_history(alice_tenant, alice_web, user, lab):
    marker = make_marker(lab=lab)
    waiting = order(lab, step(1, "ordered"), markers=[marker.provider_id])
    stuck = order(
        lab,
        step(1, "ordered", method="testkit"),
        step(2, "problem_in_transit_lab", "collecting_sample", "testkit"),
        method="testkit",
    )

    stored = keep(alice_tenant, user, waiting, stuck)

    assert (*stored[:2], dict(stored[2])) == (2, 2, {})
    api = ApiClient(make_api_key(tenant=alice_tenant))
    kept = Order.objects.for_tenant(alice_tenant).select_related("lab_test")
    mine = kept.get(pk=waiting["id"])
    mine.tenant = alice_tenant
    refused = [
        api.post(f"/v3/order/{waiting['id']}/{path}", body)
        for path, body in {
            "cancel": {},
            "test?final_status=completed.walk_in_test.completed": {},
        }.items()
    ]
    with pytest.raises(DomainError, match="order_is_history"):
        advance_order(order=mine, actor=ACTOR, to="cancelled")
    with pytest.raises(DomainError, match="order_is_history"):
        require_order_bookable(order=mine)
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=mine.pk)
    resent = resend_last_order_events(
        tenant=alice_tenant,
        actor=ACTOR,
        order_ids=[mine.pk],
        start_at=None,
        end_at=mine.updated_at,
    )
    page = alice_web.get(f"/t/alice-health/sandbox/orders/{waiting['id']}/")
    listed = alice_web.get("/t/alice-health/sandbox/orders/?view=all")
    takers = {group.who for group in page.context["history"]}

    assert "Previous platform" in takers
    assert [(each.status_code, each.json()["code"]) for each in refused] == [
        (400, "order_is_history"),
        (400, "order_is_history"),
    ]
    assert enqueue_due_requisitions() == 0
    assert resent == []
    assert count_orders_needing_attention(tenant=alice_tenant) == 0
    assert api.get(f"/v3/order/{stuck['id']}/requisition/pdf").status_code == 404
    mine.refresh_from_db()
    assert mine.status == "received.walk_in_test.ordered"
    assert (mine.lab_test.status, mine.lab_test.price) == ("inactive", 19.5)
    assert [each.pk for each in mine.lab_test.markers.all()] == [marker.pk]
    assert b"History from original" in page.content
    assert b"More actions" not in page.content
    assert listed.content.count(b'<span class="tag">History</span>') == 2
    assert emitted_types(alice_tenant) == []


def test_an_order_keeps_its_ids_words_and_times(alice_tenant, user, lab):
    kit = order(
        lab,
        step(1, "ordered", method="testkit"),
        step(2, "a_status_of_tomorrow", "received", "testkit"),
        step(3, "sample_error", "failed", "testkit", status_detail="sample_hemolyzed"),
        method="testkit",
    )
    redraw = order(
        lab,
        order_transaction=kit["order_transaction"]
        | {"orders": [{"id": "", "parent_id": None}]},
        origin="redraw",
    )
    redraw["order_transaction"]["orders"][0] = {
        "id": redraw["id"],
        "parent_id": kit["id"],
    }

    keep(alice_tenant, user, kit, redraw)

    first = Order.objects.for_tenant(alice_tenant).get(pk=kit["id"])
    second = Order.objects.for_tenant(alice_tenant).get(pk=redraw["id"])
    events = OrderEvent.objects.for_tenant(alice_tenant).filter(order=first)
    assert [(e.status, e.status_detail, e.created_at.isoformat()) for e in events] == [
        (each["status"], each["status_detail"] or "", each["created_at"])
        for each in kit["events"]
    ]
    assert first.status == kit["events"][-1]["status"]
    assert first.transaction_id == UUID(kit["order_transaction"]["id"])
    assert (second.transaction_id, second.parent_id) == (first.transaction_id, first.pk)
    assert second.origin == "redraw"
    assert (first.comments, first.sample_id) == ("From before", "S-1")
    assert (first.patient_name, str(first.patient_dob)) == ("Ada Example", "1990-05-17")
    assert "email" not in first.patient_details
    assert first.created_at.isoformat() == kit["created_at"]
    assert first.updated_at.isoformat() == kit["updated_at"]
    shipment = Shipment.objects.for_tenant(alice_tenant).get()
    assert str(shipment.pk) == kit["details"]["data"]["shipment"]["id"]
    assert shipment.outbound_tracking_number == "1Z"


def test_what_is_read_again_adds_its_new_steps_alone(alice_tenant, user, lab):
    mine = order(lab)
    keep(alice_tenant, user, mine)
    verbs = AuditEntry.objects.for_tenant(alice_tenant).filter(subject="order")

    unchanged = keep(alice_tenant, user, mine)
    mine["events"].append(step(3, "cancelled", "cancelled"))
    mine["updated_at"] = "2025-06-03T09:00:00+00:00"
    changed = keep(alice_tenant, user, mine)

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert (unchanged[:2], changed[:2]) == ((1, 0), (1, 1))
    assert kept.status == "cancelled.walk_in_test.cancelled"
    assert kept.updated_at.isoformat() == mine["updated_at"]
    assert OrderEvent.objects.for_tenant(alice_tenant).count() == 3
    assert LabTest.objects.for_tenant(alice_tenant).filter(lab=lab).count() == 1
    assert [each.verb for each in verbs.order_by("pk")] == [
        "move_order_in",
        "update_moved_order",
    ]
    assert emitted_types(alice_tenant) == []


def test_what_has_no_place_is_counted_and_leaves_nothing(
    alice_tenant, charlie_tenant, user, lab
):
    panel = make_lab_test(tenant=alice_tenant, lab=lab, method="walk_in_test")
    own = make_order(tenant=alice_tenant, user=user, lab_test=panel)
    foreign = make_order(tenant=charlie_tenant)
    steps = OrderEvent.objects.for_tenant(alice_tenant)
    before, panels = steps.count(), LabTest.objects.for_tenant(alice_tenant).count()
    absent = lab.__class__(slug="unheard_of")
    bad_status = order(lab, step(1, "ordered"), step(2, "<b>", "received"))

    stored, changed, skipped = keep(
        alice_tenant,
        user,
        order(absent),
        order(None),
        order(lab, id=str(own.pk)),
        order(lab, id=str(foreign.pk)),
        bad_status,
        order(lab, passthrough="\0"),
        order(lab, created_at="yesterday"),
        order(lab, events=[]),
    )
    lacking = keep(alice_tenant, user, order(lab, markers=["nowhere"]))

    assert (stored, changed) == (0, 0)
    assert dict(skipped) == {
        "lab_not_in_catalogue": 2,
        "order_id_taken": 2,
        "invalid_element": 4,
    }
    assert (lacking[0], dict(lacking[2])) == (1, {"marker_not_in_catalogue": 1})
    assert steps.count() == before + 2
    assert LabTest.objects.for_tenant(alice_tenant).count() == panels + 1
    own.refresh_from_db()
    assert own.moved_from == ""


def test_an_order_that_goes_on_is_imported_beside_its_history(alice_tenant, user, lab):
    marker = make_marker(lab=lab)
    keep(alice_tenant, user, order(lab, markers=[marker.provider_id]))
    panel = make_lab_test(
        tenant=alice_tenant,
        lab=lab,
        markers=[marker],
        method=CollectionMethod.WALK_IN_TEST,
    )
    going_on = make_order(tenant=alice_tenant, user=user, lab_test=panel)

    going_on.sample_id = "S-1"
    going_on.save(update_fields=["sample_id"])

    mine = Order.objects.for_tenant(alice_tenant).filter(sample_id="S-1")
    assert sorted(mine.values_list("moved_from", flat=True)) == ["", "original"]
    with pytest.raises(DomainError, match="order_not_moved"):
        record_past_step(
            order=going_on,
            actor=ACTOR,
            status="received.walk_in_test.ordered",
            detail="",
            at=going_on.created_at,
        )
