"""The pages of documents that match no order."""

from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.states import Role
from reports.models import ParsingJob, UnmatchedDocument
from reports.operations.documents.receiving import receive_document
from reports.operations.jobs.submission import ReportPart
from tests.factories.accounts import ACTOR, make_member
from tests.factories.reports import make_document, make_pdf
from tests.reports.by_document import make_order_by_document
from tests.reports.uploads import stored_files

pytestmark = pytest.mark.django_db
PLACE = "/t/alice-health/sandbox"
QUEUE = f"{PLACE}/reports/documents/"


@pytest.fixture
def tenant(alice_tenant):
    alice_tenant.lab_report_human_review_enabled = True
    alice_tenant.save()
    return alice_tenant


def test_a_document_is_uploaded_compared_and_matched(alice_web, tenant):
    order = make_order_by_document(tenant=tenant)
    refused = alice_web.post(
        f"{QUEUE}upload/", {"file": SimpleUploadedFile("r.pdf", b"hello")}
    )
    assert (refused.status_code, stored_files()) == (422, [])
    sent = alice_web.post(
        f"{QUEUE}upload/",
        {"file": SimpleUploadedFile("r.pdf", make_pdf(), "application/pdf")},
    )
    document = UnmatchedDocument.objects.for_tenant(tenant).get()
    here = f"{QUEUE}{document.pk}/"
    assert sent.headers["Location"] == here
    assert "every 3s" in alice_web.get(here).content.decode()

    UnmatchedDocument.objects.for_tenant(tenant).update(
        status="unmatched",
        reason="no_order",
        pages=1,
        metadata={
            "patient_first_name": "Ada",
            "patient_last_name": "Example",
            "dob": "1990-05-17",
            "specimen_number": order.sample_id,
        },
        rows=[{"name": "Glucose", "value": "85", "unit": "mg/dL", "loinc": "2345-7"}],
    )
    assert str(document.pk)[:8] in alice_web.get(QUEUE).content.decode()
    page = alice_web.get(f"{here}?order={order.pk}")
    (candidate,) = page.context["candidates"]
    assert (candidate.order.pk, candidate.ordered) == (order.pk, 1)
    assert f'value="{order.pk}"' in page.content.decode()
    picture = alice_web.get(f"{here}pages/1/")
    assert picture.content[:3] == b"\xff\xd8\xff"

    decide = f"{here}decide/"
    wrong = [
        {"verdict": "match", "order": "x", "why": "?"},
        {"verdict": "match", "order": str(uuid.uuid4()), "why": "?"},
        {"verdict": "match", "order": str(order.pk), "why": ""},
        {"verdict": "reject", "why": ""},
    ]
    statuses = [alice_web.post(decide, form).status_code for form in wrong]
    assert statuses[:1] + statuses[2:] == [422] * 3
    assert statuses[1] in {404, 422}
    alice_web.post(decide, {"verdict": "reject", "why": "Not ours."})
    assert "Restore document" in alice_web.get(here).content.decode()
    alice_web.post(decide, {"verdict": "restore"})
    done = alice_web.post(
        decide, {"verdict": "match", "order": str(order.pk), "why": "By phone."}
    )
    assert done.headers["Location"] == here
    job = ParsingJob.objects.for_tenant(tenant).get()
    assert job.order_id == order.pk
    assert str(job.pk) in alice_web.get(here).content.decode()


def test_patient_details_are_not_shown_without_the_right(alice_team, tenant):
    document = make_document(tenant=tenant)
    web = Client()
    member = make_member(
        team=alice_team, email="dora@assay.example", roles=(Role.DEVELOPER,)
    )
    web.force_login(member)

    assert web.get(f"{QUEUE}{document.pk}/").status_code == 403
    assert web.get(f"{QUEUE}{uuid.uuid4()}/").status_code in {403, 404}


def test_the_api_lists_reads_matches_and_rejects(alice_api, charlie_api, tenant):
    order = make_order_by_document(tenant=tenant)
    part = ReportPart(make_pdf(), "application/pdf")
    first = receive_document(tenant=tenant, actor=ACTOR, part=part)
    second = make_document(tenant=tenant)
    UnmatchedDocument.objects.for_tenant(tenant).update(status="unmatched")
    path = "/lab_report/v1/parser/document"

    page = alice_api.get(f"{path}?limit=1&status=unmatched").json()
    rest = alice_api.get(f"{path}?limit=1&next_cursor={page['next_cursor']}").json()
    assert [page["data"][0]["id"], rest["data"][0]["id"]] == [
        str(second.pk),
        str(first.pk),
    ]
    assert (page["total"], rest["next_cursor"]) == (2, None)
    assert "Beispiel" not in str(page)
    one = alice_api.get(f"{path}/{second.pk}").json()
    assert one["metadata"]["patient_last_name"] == "Beispiel"
    assert one["candidates"] == []
    assert charlie_api.get(f"{path}/{second.pk}").status_code == 404

    body = {"order_id": str(order.pk), "reason": "By phone."}
    matched = alice_api.post(f"{path}/{first.pk}/match", body)
    again = alice_api.post(f"{path}/{first.pk}/match", body)
    job = ParsingJob.objects.for_tenant(tenant).get()
    assert matched.json() == again.json()
    assert matched.json()["job_id"] == str(job.pk)
    assert matched.json()["status"] == "matched"
    rejected = alice_api.post(f"{path}/{second.pk}/reject", {"reason": "Not ours."})
    assert (rejected.json()["status"], rejected.status_code) == ("rejected", 200)
    late = alice_api.post(f"{path}/{second.pk}/match", body)
    assert (late.status_code, late.json()["code"]) == (400, "transition_not_allowed")
