from __future__ import annotations

import pytest

from labs.models import InboundReport
from labs.operations.inbound.review import (
    escalate_lab_report,
    match_lab_report_manually,
    reject_lab_report,
    restore_rejected_lab_report,
)
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab, make_unmatched, take
from tests.factories.labs import make_lab_account
from tests.outbox import emitted

pytestmark = pytest.mark.django_db
WHY = "Called the lab."
NIL = "00000000-0000-0000-0000-000000000000"


def reviews(tenant):
    return [one for one in emitted(tenant) if "match_review" in one["event_type"]]


def test_a_result_without_an_order_is_told_and_names_no_patient(alice_tenant):
    report = make_unmatched(tenant=alice_tenant)
    lab = report.message.lab

    (event,) = reviews(alice_tenant)

    assert event == {
        "event_type": "labtest.match_review.created",
        "team_id": str(alice_tenant.team_id),
        "user_id": NIL,
        "client_user_id": "",
        "data": {
            "id": str(report.pk),
            "status": "pending_customer_review",
            "decision_code": "no_match",
            "sub_reason_codes": [],
            "resolution_action": None,
            "resolved_user_id": None,
            "resolved_order_id": None,
            "received_at": event["data"]["received_at"],
            "lab": {"id": lab.pk, "name": lab.name, "slug": lab.slug},
            "order_id": None,
        },
    }


def test_each_decision_is_told(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    report = make_unmatched(tenant=alice_tenant, lab=order.lab)

    escalate_lab_report(report=report, actor=ACTOR, why=WHY)
    reject_lab_report(report=report, actor=ACTOR, why=WHY)
    restore_rejected_lab_report(report=report, actor=ACTOR)
    match_lab_report_manually(report=report, actor=ACTOR, order_id=order.pk, why=WHY)

    _created, *updated = reviews(alice_tenant)
    assert {one["event_type"] for one in updated} == {"labtest.match_review.updated"}
    assert [
        (one["data"]["status"], one["data"]["resolution_action"]) for one in updated
    ] == [
        ("pending_ops_review", "unsure"),
        ("resolved", "reject"),
        ("pending_customer_review", None),
        ("resolved", "accept"),
    ]
    assert [one["user_id"] for one in updated] == [NIL] * 3 + [str(order.user.uuid)]
    assert updated[-1]["client_user_id"] == order.user.client_user_id
    assert updated[-1]["data"]["order_id"] == str(order.pk)
    assert updated[-1]["data"]["resolved_user_id"] == str(order.user.uuid)


def test_a_result_that_finds_its_order_is_no_review(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)

    take(
        alice_tenant,
        make_oru(make_test(obx(), placer=order.sample_id)),
        lab=order.lab,
    )

    assert reviews(alice_tenant) == []
    assert InboundReport.objects.for_tenant(alice_tenant).get().reason == ""


def test_the_account_that_differs_is_a_sub_reason(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    account = make_lab_account(tenant=alice_tenant, lab=order.lab)
    content = make_oru(make_test(obx(), placer=order.sample_id))

    take(alice_tenant, content, lab=order.lab, account=account)

    (event,) = reviews(alice_tenant)
    assert event["data"]["decision_code"] == "match_sample_id"
    assert event["data"]["sub_reason_codes"] == ["lab_account_mismatch"]
