"""A report that is uploaded with the order whose results it holds."""

from __future__ import annotations

import uuid

import pytest

from labs.models import LabDocument
from labs.operations.order_status.status import advance_order
from reports.models import ParsingJob
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx_with_document
from tests.factories.inbound import take
from tests.factories.labs import make_order
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.reports.by_document import (
    make_order_by_document,
    read_report,
    read_row,
    report_pdf,
    sign_only_review,
)
from tests.reports.uploads import nothing_happened, upload

PATH = "/lab_report/v1/parser/job"


def enable(tenant):
    tenant.lab_report_human_review_enabled = True
    tenant.save()


@pytest.mark.django_db(transaction=True)
def test_a_lab_by_document_goes_from_upload_to_signed_results(
    alice_api, alice_tenant, run_jobs
):
    enable(alice_tenant)
    order = make_order_by_document(tenant=alice_tenant)
    pdf = report_pdf(
        order,
        (
            ("Glucose", "85", "mg/dL", "65 - 99"),
            ("Potassium", "4.1", "mmol/L", "3.5 - 5.1"),
            ("Sodium", "150", "mmol/L", "135 - 145"),
        ),
    )

    reply = upload(alice_api, user=order.user, files=[pdf], order_id=str(order.pk))
    assert reply.status_code == 200
    assert reply.json()["order_id"] == str(order.pk)
    assert reply.json()["needs_human_review"] is True
    run_jobs()

    job = alice_api.get(f"{PATH}/{reply.json()['id']}").json()
    assert (job["status"], job["data"]["hold_reasons"]) == ("pending_review", [])
    assert job["data"]["metadata"]["specimen_number"] == order.sample_id
    assert alice_api.get(f"/v3/order/{order.pk}/result").status_code == 404
    sign_only_review(alice_tenant)
    run_jobs()

    results = alice_api.get(f"/v3/order/{order.pk}/result").json()
    assert {
        r["name"]: (r["result"], r["interpretation"]) for r in results["results"]
    } == {
        "Glucose": ("85", "normal"),
        "Potassium": ("4.1", "normal"),
        "Sodium": ("150", "abnormal"),
    }
    assert results["metadata"]["status"] == "final"
    assert alice_api.get(f"/v3/order/{order.pk}/result/pdf").content == pdf
    assert LabDocument.objects.for_tenant(alice_tenant).get().status == "available"
    types = [one["event_type"] for one in emitted(alice_tenant)]
    assert types.count("lab_report.parsing_job.updated") == 2
    assert "labtest.order.updated" in types


@pytest.mark.django_db(transaction=True)
def test_a_pdf_in_an_hl7_message_goes_to_signed_results_too(
    alice_api, alice_tenant, run_jobs
):
    enable(alice_tenant)
    order = make_order_by_document(tenant=alice_tenant)
    pdf = report_pdf(order, (("Glucose", "85", "mg/dL", "65 - 99"),))
    test = make_test(obx_with_document(pdf), placer=order.sample_id)
    message = make_oru(test)

    take(alice_tenant, message, lab=order.lab, account=order.lab_account)
    run_jobs()
    take(alice_tenant, message, lab=order.lab, account=order.lab_account)  # again
    run_jobs()

    job = ParsingJob.objects.for_tenant(alice_tenant).get()
    assert (job.status, job.order_id, job.hold_reasons) == (
        "pending_review",
        order.pk,
        [],
    )
    sign_only_review(alice_tenant)
    results = alice_api.get(f"/v3/order/{order.pk}/result").json()
    assert [(r["name"], r["result"]) for r in results["results"]] == [("Glucose", "85")]
    assert results["metadata"]["status"] == "partial"
    assert alice_api.get(f"/v3/order/{order.pk}/result/pdf").content == pdf
    assert LabDocument.objects.for_tenant(alice_tenant).count() == 1


@pytest.mark.django_db
def test_an_order_that_takes_no_report_is_refused(alice_api, alice_tenant):
    enable(alice_tenant)
    order = make_order_by_document(tenant=alice_tenant)
    electronic = make_order(tenant=alice_tenant)
    unready = make_order_by_document(tenant=alice_tenant)
    advance_order(order=unready, actor=ACTOR, to="cancelled")
    stranger = make_user(tenant=alice_tenant)
    cases = (
        (order.user, uuid.uuid4(), 404, "order_not_found"),
        (stranger, order.pk, 400, "order_of_other_user"),
        (electronic.user, electronic.pk, 400, "order_not_by_document"),
        (unready.user, unready.pk, 400, "results_not_expected"),
        (order.user, "nonsense", 422, "uuid_parsing"),
    )
    for user, order_id, status, code in cases:
        with nothing_happened(alice_tenant):
            reply = upload(alice_api, user=user, order_id=str(order_id))
        assert reply.status_code == status, reply.content
        assert code in reply.content.decode()


@pytest.mark.django_db
def test_a_team_without_review_takes_no_reports_of_orders(alice_api, alice_tenant):
    order = make_order_by_document(tenant=alice_tenant)
    alice_tenant.lab_report_human_review_enabled = False
    alice_tenant.save()

    with nothing_happened(alice_tenant):
        reply = upload(alice_api, user=order.user, order_id=str(order.pk))

    assert (reply.status_code, reply.json()["code"]) == (
        400,
        "human_review_unavailable",
    )


@pytest.mark.django_db
def test_an_order_of_another_team_does_not_exist(
    charlie_api, charlie_tenant, alice_tenant
):
    order = make_order_by_document(tenant=alice_tenant)
    own = make_user(tenant=charlie_tenant)

    with nothing_happened(charlie_tenant):
        reply = upload(charlie_api, user=own, order_id=str(order.pk))

    assert reply.status_code == 404


@pytest.mark.django_db
def test_an_empty_order_id_is_no_order(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant)

    reply = upload(alice_api, user=user, order_id="")

    assert (reply.status_code, reply.json()["order_id"]) == (200, None)
    assert ParsingJob.objects.for_tenant(alice_tenant).get().order_id is None


@pytest.mark.django_db
def test_a_report_is_moved_to_another_order_of_its_user(alice_api, alice_tenant):
    enable(alice_tenant)
    order = make_order_by_document(tenant=alice_tenant)
    other = make_order_by_document(tenant=alice_tenant, user=order.user)
    review = read_report(order, read_row("Glucose", "85"))
    path = f"{PATH}/{review.job_id}/order"

    moved = alice_api.post(path, {"order_id": str(other.pk), "reason": "Other visit."})
    none = alice_api.post(path, {"order_id": None, "reason": "No order."})
    vague = alice_api.post(path, {"order_id": str(other.pk)})
    unknown = alice_api.post(
        f"{PATH}/{uuid.uuid4()}/order", {"order_id": None, "reason": "?"}
    )

    assert (moved.status_code, moved.json()["order_id"]) == (200, str(other.pk))
    assert (none.status_code, none.json()["order_id"]) == (200, None)
    assert none.json()["status"] == "pending_review"
    assert (vague.status_code, unknown.status_code) == (422, 404)
