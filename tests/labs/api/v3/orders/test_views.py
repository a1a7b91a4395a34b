from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labs.api.v3.orders import views as orders
from labs.models import LabTest, Order
from labs.operations.order_status.status import advance_order
from labs.operations.orders.placing import cancel_order, place_order
from labs.payloads import OrderAnswer
from labs.states.catalogue import CollectionMethod, LabTestStatus
from portal.lib.idempotency import IdempotentAnswer
from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.outbox import emitted

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel(alice_tenant):
    return make_lab_test(tenant=alice_tenant)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def body_of(user, panel, **wanted):
    return {
        "user_id": str(user.uuid),
        "order_set": {"lab_test_ids": [str(panel.pk)]},
        "patient_details": PATIENT,
        "patient_address": ADDRESS,
        **wanted,
    }


def locs(reply):
    return [tuple(line["loc"]) for line in reply.json()["detail"]]


def kinds(reply):
    return [line["type"] for line in reply.json()["detail"]]


@pytest.mark.parametrize("path", ["/v3/order", "/v3/order/create", "/v3/order/create/"])
def test_an_order_is_placed_under_both_paths(alice_api, user, panel, path):
    reply = alice_api.post(path, body_of(user, panel))

    assert reply.status_code == 200
    assert set(reply.json()) == {"order", "status", "message"}
    order = reply.json()["order"]
    assert set(order) == OrderAnswer.__required_keys__
    assert reply.json()["status"] == "success"
    assert order["status"] == "received"
    assert order["last_event"] == order["events"][-1]
    assert order["last_event"]["status"] == "received.walk_in_test.ordered"
    assert order["details"]["type"] == "walk_in_test"
    assert order["patient_details"]["dob"] == "1990-05-17T00:00:00+00:00"
    assert order["lab_test"]["id"] == str(panel.pk)
    assert order["user_id"] == str(user.uuid)
    assert order["order_transaction"]["status"] == "active"
    assert (order["has_abn"], order["sample_id"]) == (False, None)


def test_the_event_carries_the_order_as_it_is_answered(
    alice_api, alice_tenant, user, panel
):
    answered = alice_api.post("/v3/order", body_of(user, panel)).json()["order"]

    assert emitted(alice_tenant)[-1]["data"] == answered


def test_the_deprecated_lab_test_id_orders_the_same(alice_api, user, panel):
    body = body_of(user, panel, lab_test_id=str(panel.pk))
    both = alice_api.post("/v3/order", body)
    del body["order_set"]
    old = alice_api.post("/v3/order", body)
    del body["lab_test_id"]
    neither = alice_api.post("/v3/order", body)

    assert old.json()["order"]["lab_test"]["id"] == str(panel.pk)
    assert (both.status_code, locs(both)) == (422, [("body", "order_set")])
    assert (neither.status_code, kinds(neither)) == (422, ["missing"])


@pytest.mark.parametrize("name", ["comments", "clinical_notes"])
def test_a_comment_has_two_names_and_one_bound(alice_api, user, panel, name):
    fits = alice_api.post("/v3/order", body_of(user, panel, **{name: "x" * 1000}))
    long = alice_api.post("/v3/order", body_of(user, panel, **{name: "x" * 1001}))

    order = fits.json()["order"]
    assert order["comments"] == order["clinical_notes"] == "x" * 1000
    assert (long.status_code, locs(long)) == (422, [("body", name)])
    assert kinds(long) == ["string_too_long"]


def test_two_different_comments_are_refused(alice_api, alice_tenant, user, panel):
    before = holdings(alice_tenant)

    reply = alice_api.post(
        "/v3/order", body_of(user, panel, comments="one", clinical_notes="two")
    )

    assert (reply.status_code, locs(reply)) == (422, [("body", "comments")])
    assert holdings(alice_tenant) == before


@pytest.mark.parametrize(
    ("part", "key", "value", "kind"),
    [
        ("patient_details", "first_name", " Ada", "string_pattern_mismatch"),
        ("patient_details", "first_name", "", "string_too_short"),
        ("patient_details", "last_name", "x" * 51, "string_too_long"),
        ("patient_details", "dob", "2999-01-01", "value_error"),
        ("patient_details", "dob", "1899-12-31", "value_error"),
        ("patient_details", "dob", "17 May 1990", "date_from_datetime_parsing"),
        ("patient_details", "gender", "robot", "enum"),
        ("patient_details", "phone_number", "call me", "string_pattern_mismatch"),
        ("patient_details", "email", "nowhere", "value_error"),
        ("patient_address", "state", "Arizona", "string_too_long"),
        ("patient_address", "zip", "850", "string_pattern_mismatch"),
        ("patient_address", "country", None, "missing"),
        ("patient_address", "city", 5, "string_type"),
    ],
)
def test_a_patient_is_checked_field_by_field(
    alice_api, alice_tenant, user, panel, part, key, value, kind
):
    body = body_of(user, panel)
    body[part] = {**body[part], key: value}
    before = holdings(alice_tenant)

    reply = alice_api.post("/v3/order", body)

    assert reply.status_code == 422
    assert ("body", part, key) in locs(reply)
    assert kind in kinds(reply)
    assert holdings(alice_tenant) == before


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"user_id": str(uuid.uuid4())}, 404, "user_not_found"),
        (
            {"order_set": {"lab_test_ids": [str(uuid.uuid4())]}},
            404,
            "lab_test_not_found",
        ),
        ({"lab_account_id": str(uuid.uuid4())}, 404, "lab_account_not_found"),
        ({"activate_by": "2020-01-01"}, 400, "activate_by_past"),
        ({"order_set": {}}, 400, "order_set_empty"),
        (
            {"order_set": {"add_on": {"marker_ids": [1]}}},
            400,
            "collection_method_missing",
        ),
        (
            {
                "order_set": {"add_on": {"marker_ids": [1], "provider_ids": ["a"]}},
                "collection_method": "walk_in_test",
            },
            400,
            "add_on_invalid",
        ),
        (
            {
                "order_set": {"add_on": {"marker_ids": [1]}},
                "collection_method": "walk_in_test",
            },
            404,
            "marker_not_found",
        ),
    ],
)
def test_refusals_carry_their_code_and_write_nothing(
    alice_api, alice_tenant, user, panel, changes, status, code
):
    before = holdings(alice_tenant)

    reply = alice_api.post("/v3/order", body_of(user, panel, **changes))

    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert holdings(alice_tenant) == before


def test_panels_and_markers_make_one_order(alice_api, alice_tenant, user, panel):
    marker = make_marker(lab=panel.lab)

    reply = alice_api.post(
        "/v3/order",
        body_of(
            user,
            panel,
            order_set={
                "lab_test_ids": [str(panel.pk)],
                "add_on": {"marker_ids": [marker.pk]},
            },
            collection_method="Walk-In Test",
        ),
    )

    made = reply.json()["order"]["lab_test"]
    assert made["auto_generated"] is True
    assert marker.pk in [m["id"] for m in made["markers"]]
    assert len(made["markers"]) == 2


def test_an_archived_panel_takes_no_new_order(alice_api, alice_tenant, user, panel):
    LabTest.objects.for_tenant(alice_tenant).update(status=LabTestStatus.INACTIVE)

    reply = alice_api.post("/v3/order", body_of(user, panel))

    assert (reply.status_code, reply.json()["code"]) == (400, "lab_test_not_active")


def test_the_account_of_the_order_set_must_agree(alice_api, alice_tenant, user, panel):
    one, two = (make_lab_account(tenant=alice_tenant, lab=panel.lab) for _ in "12")
    inside = {"lab_test_ids": [str(panel.pk)], "lab_account_id": str(one.pk)}

    agreed = alice_api.post("/v3/order", body_of(user, panel, order_set=inside))
    differing = alice_api.post(
        "/v3/order",
        body_of(user, panel, order_set=inside, lab_account_id=str(two.pk)),
    )

    assert agreed.json()["order"]["lab_account_id"] == str(one.pk)
    assert (differing.status_code, locs(differing)) == (
        422,
        [("body", "lab_account_id")],
    )


def test_a_repeat_with_the_key_answers_the_same_bytes(
    alice_api, alice_tenant, user, panel
):
    body, headers = body_of(user, panel), {"X-Idempotency-Key": "once"}

    first = alice_api.post("/v3/order", body, headers=headers)
    cancel_order(
        order=Order.objects.for_tenant(alice_tenant).get(),
        actor=ACTOR,
    )
    again = alice_api.post("/v3/order/create", body, headers=headers)
    other = alice_api.post("/v3/order", {**body, "comments": "else"}, headers=headers)

    assert (again.status_code, again.content) == (200, first.content)
    assert (other.status_code, locs(other)) == (422, [("header", "x-idempotency-key")])
    assert Order.objects.for_tenant(alice_tenant).count() == 1


def test_a_kept_refusal_is_repeated_unless_the_client_says_no(
    alice_api, alice_tenant, user, panel
):
    rows = LabTest.objects.for_tenant(alice_tenant)
    rows.update(status=LabTestStatus.INACTIVE)
    body = body_of(user, panel)
    kept = {"X-Idempotency-Key": "kept"}
    free = {"X-Idempotency-Key": "free", "X-Idempotency-Error": "no-cache"}

    refused = [alice_api.post("/v3/order", body, headers=h) for h in (kept, free)]
    rows.update(status=LabTestStatus.ACTIVE)
    later = [alice_api.post("/v3/order", body, headers=h) for h in (kept, free)]

    assert [r.status_code for r in refused] == [400, 400]
    assert [r.status_code for r in later] == [400, 200]
    assert later[0].content == refused[0].content


def test_a_call_so_slow_that_another_took_its_key_over_does_nothing(
    alice_api, alice_tenant, user, panel, monkeypatch
):
    def be_slow(**wanted):
        order = place_order(**wanted)
        IdempotentAnswer.unscoped.update(claimed_at=timezone.now())
        return order

    monkeypatch.setattr(orders, "place_order", be_slow)
    headers = {"X-Idempotency-Key": "once"}

    reply = alice_api.post("/v3/order", body_of(user, panel), headers=headers)

    assert (reply.status_code, reply.json()["code"]) == (409, "idempotency_key_in_use")
    assert Order.objects.for_tenant(alice_tenant).count() == 0
    assert emitted(alice_tenant) == []


@pytest.mark.django_db(transaction=True)
def test_twenty_parallel_posts_with_one_key_make_one_order(
    alice_api, alice_tenant, user, panel
):
    body, headers = body_of(user, panel), {"X-Idempotency-Key": "once"}

    def post(_):
        try:
            reply = alice_api.post("/v3/order", body, headers=headers)
            return reply.status_code, reply.content
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(post, range(20)))

    done = {content for status, content in answers if status == 200}
    assert {status for status, _ in answers} <= {200, 409}
    assert len(done) == 1
    assert Order.objects.for_tenant(alice_tenant).count() == 1
    assert len(emitted(alice_tenant)) == 1
    assert post(0) == (200, done.pop())


def test_an_import_is_taken_over(alice_api, alice_tenant, user, panel):
    make_lab_account(tenant=alice_tenant, lab=panel.lab, status="pending")
    body = body_of(
        user,
        panel,
        billing_type="client_bill",
        collection_method="walk_in_test",
        sample_id="Q-1",
        patient_address={**ADDRESS, "receiver_name": "Ada Example", "zip": "none"},
    )

    reply = alice_api.post("/v3/order/import", body)
    again = alice_api.post("/v3/order/import", body)

    assert reply.status_code == 200
    assert [e["status"].split(".")[2] for e in reply.json()["order"]["events"]] == [
        "ordered",
        "requisition_bypassed",
    ]
    assert (again.status_code, again.json()["code"]) == (400, "sample_id_taken")


def test_an_order_is_read_and_the_read_is_audited(alice_api, alice_tenant):
    order = make_order(tenant=alice_tenant)

    reply = alice_api.get(f"/v3/order/{order.pk}")

    assert reply.status_code == 200
    assert reply.json()["id"] == str(order.pk)
    assert audited(alice_tenant)[-1] == ("read", "order", str(order.pk))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", ""),
        ("patch", ""),
        ("post", "/cancel"),
        ("post", "/recreate"),
        ("post", "/test"),
        ("patch", "/draw_completed"),
    ],
)
def test_an_order_of_strangers_is_not_found(charlie_api, alice_tenant, method, path):
    order = make_order(tenant=alice_tenant)
    before = holdings(alice_tenant)

    for key in (order.pk, uuid.uuid4()):
        reply = getattr(charlie_api, method)(
            f"/v3/order/{key}{path}", *(({},) if method != "get" else ())
        )
        assert (reply.status_code, reply.json()["code"]) == (404, "order_not_found")
    assert holdings(alice_tenant) == before


def test_an_order_is_cancelled_once(alice_api, alice_tenant):
    order = make_order(tenant=alice_tenant)

    first = alice_api.post(f"/v3/order/{order.pk}/cancel")
    again = alice_api.post(f"/v3/order/{order.pk}/cancel")

    assert first.json()["order"]["status"] == "cancelled"
    assert first.json()["order"]["order_transaction"]["status"] == "cancelled"
    assert (again.status_code, again.json()["code"]) == (400, "order_not_cancellable")


def test_an_order_of_the_wrong_lab_is_recreated(alice_api, alice_tenant, panel):
    wrong = make_lab_account(tenant=alice_tenant, lab=panel.lab)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    right = make_lab_account(tenant=alice_tenant, lab=panel.lab)

    named = alice_api.post(
        f"/v3/order/{order.pk}/recreate",
        {"update_reason": "INCORRECT_LAB", "lab_account_id": str(wrong.pk)},
    )
    reply = alice_api.post(
        f"/v3/order/{order.pk}/recreate", {"update_reason": "incorrect lab"}
    )

    assert (named.status_code, named.json()["code"]) == (400, "lab_account_incorrect")
    new = reply.json()["order"]
    assert (new["lab_account_id"], new["update_reason"]) == (
        str(right.pk),
        "INCORRECT_LAB",
    )
    assert new["origin"] == "recreation"
    assert [o["parent_id"] for o in new["order_transaction"]["orders"]] == [
        None,
        str(order.pk),
    ]


def test_a_recreation_needs_a_known_reason(alice_api, alice_tenant):
    order = make_order(tenant=alice_tenant)
    before = holdings(alice_tenant)

    replies = [
        alice_api.post(f"/v3/order/{order.pk}/recreate", body)
        for body in ({}, {"update_reason": "BOREDOM"})
    ]

    assert [kinds(reply) for reply in replies] == [["missing"], ["enum"]]
    assert holdings(alice_tenant) == before


def test_a_sandbox_order_is_walked_and_a_production_order_is_not(
    alice_api, alice_production_api, alice_tenant, alice_production
):
    order = make_order(tenant=alice_tenant)
    other = make_order(tenant=alice_production)

    part = alice_api.post(
        f"/v3/order/{order.pk}/test"
        "?final_status=received.walk_in_test.requisition_created"
    )
    full = alice_api.post(f"/v3/order/{order.pk}/test", {})
    production = alice_production_api.post(f"/v3/order/{other.pk}/test")
    unknown = alice_api.post(f"/v3/order/{order.pk}/test?final_status=in_orbit")
    late = alice_api.post(f"/v3/order/{order.pk}/test?delay=3601")

    assert (part.status_code, full.json()["success"]) == (200, True)
    assert alice_api.get(f"/v3/order/{order.pk}").json()["status"] == "completed"
    assert (production.status_code, production.json()["code"]) == (403, "not_a_sandbox")
    assert (unknown.status_code, unknown.json()["code"]) == (
        400,
        "final_status_unknown",
    )
    assert error_lines(late) == [(["query", "delay"], "less_than_equal")]


def test_a_scheduled_start_is_moved(alice_production_api, alice_production):
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False):
        order = make_order(tenant=alice_production, activate_by=date(2026, 3, 9))
        path = f"/v3/order/{order.pk}"

        moved = alice_production_api.patch(path, {"activate_by": "2026-03-20"})
        past = alice_production_api.patch(path, {"activate_by": "2026-03-01"})
        cleared = alice_production_api.patch(path, {"activate_by": None})
        started = alice_production_api.patch(path, {"activate_by": "2026-03-21"})

    assert moved.json()["order"]["activate_by"] == "2026-03-20"
    assert (past.status_code, past.json()["code"]) == (400, "activate_by_past")
    assert cleared.json()["order"]["activate_by"] is None
    assert (started.status_code, started.json()["code"]) == (400, "order_activated")


def test_a_draw_is_completed_on_site(alice_api, alice_tenant):
    panel = make_lab_test(
        tenant=alice_tenant, method=CollectionMethod.ON_SITE_COLLECTION
    )
    order = make_order(tenant=alice_tenant, lab_test=panel)
    advance_order(order=order, actor=ACTOR, to="requisition_created")

    reply = alice_api.patch(f"/v3/order/{order.pk}/draw_completed")

    assert reply.json()["order"]["status"] == "sample_with_lab"


def test_a_kit_is_sent_and_registered(alice_api, alice_tenant, user):
    panel = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)
    shipping = {**ADDRESS, "receiver_name": "Ada Example", "phone_number": "+15550101"}
    body = {
        "user_id": str(user.uuid),
        "lab_test_id": str(panel.pk),
        "shipping_details": shipping,
    }
    headers = {"X-Idempotency-Key": "kit"}

    sent = alice_api.post("/v3/order/testkit", body, headers=headers)
    again = alice_api.post("/v3/order/testkit", body, headers=headers)
    kit = sent.json()["order"]
    registered = alice_api.post(
        "/v3/order/testkit/register",
        {
            "sample_id": kit["sample_id"],
            "patient_details": PATIENT,
            "patient_address": ADDRESS,
        },
    )

    assert again.content == sent.content
    assert kit["last_event"]["status"] == "received.testkit.awaiting_registration"
    assert kit["patient_details"] is None
    assert kit["shipping_details"] == {**shipping, "second_line": None}
    done = registered.json()["order"]
    assert done["id"] == kit["id"]
    assert done["last_event"]["status"] == "received.testkit.registered"
    assert done["patient_details"]["first_name"] == "Ada"


def test_events_are_resent_as_new_messages(alice_api, alice_tenant, charlie_tenant):
    mine, other = make_order(tenant=alice_tenant), make_order(tenant=charlie_tenant)
    advance_order(order=mine, actor=ACTOR, to="requisition_created")
    before = emitted(alice_tenant)

    reply = alice_api.post(
        "/v3/order/resend_events", {"order_ids": [str(mine.pk), str(other.pk)]}
    )

    assert reply.json() == {"order_ids": [str(mine.pk)]}
    assert emitted(alice_tenant) == [*before, before[-1]]
    assert len(emitted(charlie_tenant)) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"start_at": "2026-01-01T00:00:00Z", "end_at": "2026-03-03T00:00:00Z"},
        {"start_at": "2026-03-03T00:00:00Z", "end_at": "2026-03-01T00:00:00Z"},
        {"end_at": "2026-03-01T00:00:00Z"},
    ],
)
def test_a_resend_has_its_bounds(alice_api, alice_tenant, body):
    make_order(tenant=alice_tenant)
    before = holdings(alice_tenant)

    reply = alice_api.post("/v3/order/resend_events", body)

    assert reply.status_code == 422
    assert holdings(alice_tenant) == before


def test_a_transaction_lists_its_orders(alice_api, charlie_api, alice_tenant):
    order = make_order(tenant=alice_tenant)
    alice_api.post(f"/v3/order/{order.pk}/recreate", {"update_reason": "OTHER"})

    reply = alice_api.get(f"/v3/order_transaction/{order.transaction_id}")
    stranger = charlie_api.get(f"/v3/order_transaction/{order.transaction_id}")

    listed = reply.json()
    assert (listed["status"], listed["team_id"]) == (
        "active",
        str(alice_tenant.team_id),
    )
    assert [(o["origin"], o["last_status"]) for o in listed["orders"]] == [
        ("initial", "cancelled"),
        ("recreation", "ordered"),
    ]
    assert stranger.status_code == 404


def test_physicians_are_those_that_orders_named(alice_api, charlie_team, alice_tenant):
    doctor = {"first_name": "Imke", "last_name": "Example", "npi": "1234567893"}
    for _ in range(2):
        make_order(tenant=alice_tenant, physician={**doctor, "email": "a@b.example"})
    make_order(tenant=alice_tenant)

    reply = alice_api.get(f"/v2/team/{alice_tenant.team_id}/physicians")
    stranger = alice_api.get(f"/v2/team/{charlie_team.pk}/physicians")

    assert reply.json() == [doctor]
    assert stranger.status_code == 404


def test_placing_takes_as_many_queries_for_many_markers_as_for_one(
    alice_api, alice_tenant, user, panel
):
    def queries(ordered):
        with CaptureQueriesContext(connection) as taken:
            assert (
                alice_api.post("/v3/order", body_of(user, ordered)).status_code == 200
            )
        return len(taken)

    wide = make_lab_test(
        tenant=alice_tenant,
        lab=panel.lab,
        markers=tuple(make_marker(lab=panel.lab) for _ in range(30)),
    )
    queries(panel)

    assert queries(wide) == queries(panel)
