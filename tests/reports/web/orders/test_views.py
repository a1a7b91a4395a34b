"""The pages of an order's reports."""

from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.states import Role
from reports.models import ParsingJob, Review
from tests.factories.accounts import make_member
from tests.factories.labs import make_order
from tests.factories.reports import make_pdf
from tests.outbox import emitted_types
from tests.reports.by_document import make_order_by_document, read_report, read_row
from tests.reports.desk import decide_all, sign
from tests.reports.uploads import stored_files

pytestmark = pytest.mark.django_db
PLACE = "/t/alice-health/sandbox"


@pytest.fixture
def order(alice_tenant):
    alice_tenant.lab_report_human_review_enabled = True
    alice_tenant.save()
    return make_order_by_document(tenant=alice_tenant)


@pytest.fixture
def clinician(alice_team):
    web = Client()
    member = make_member(
        team=alice_team, email="cleo@assay.example", roles=(Role.CLINICIAN,)
    )
    web.force_login(member)
    return web


def file(content=None):
    return SimpleUploadedFile("r.pdf", content or make_pdf(), "application/pdf")


def test_a_report_is_uploaded_on_its_order(alice_web, alice_tenant, order):
    page = alice_web.get(f"{PLACE}/orders/{order.pk}/reports/")
    assert "Upload report" in page.content.decode()

    reply = alice_web.post(
        f"{PLACE}/orders/{order.pk}/reports/upload/", {"file": [file()]}
    )

    job = ParsingJob.objects.for_tenant(alice_tenant).get()
    assert (job.order_id, job.user_id) == (order.pk, order.user_id)
    assert reply.headers["Location"] == f"{PLACE}/reports/{job.pk}/order/"
    assert (
        "Reading the report"
        in alice_web.get(reply.headers["Location"]).content.decode()
    )
    assert (
        str(job.pk)[:8]
        in alice_web.get(f"{PLACE}/orders/{order.pk}/reports/").content.decode()
    )


def test_a_refused_upload_says_why_and_stores_nothing(alice_web, alice_tenant, order):
    other = make_order(tenant=alice_tenant)
    before = emitted_types(alice_tenant)
    empty = alice_web.post(
        f"{PLACE}/orders/{order.pk}/reports/upload/", {"file": [file(b"hello")]}
    )
    electronic = alice_web.post(
        f"{PLACE}/orders/{other.pk}/reports/upload/", {"file": [file()]}
    )
    missing = alice_web.post(f"{PLACE}/orders/{order.pk}/reports/upload/", {})
    unknown = alice_web.get(f"{PLACE}/orders/{uuid.uuid4()}/reports/")

    assert [r.status_code for r in (empty, electronic, missing, unknown)] == [
        422,
        422,
        422,
        404,
    ]
    assert "sends results electronically" in electronic.content.decode()
    assert not ParsingJob.objects.for_tenant(alice_tenant).exists()
    assert emitted_types(alice_tenant) == before
    assert stored_files() == []


def test_ordered_and_reported_stand_side_by_side(clinician, order):
    review = read_report(
        order,
        read_row("Glucose", "85"),
        read_row("Potassium", "4.1", units="mg/dL"),
        read_row("Ferritin", "18", units="ng/mL"),
    )

    page = clinician.get(f"{PLACE}/reports/{review.job_id}/order/")
    text = page.content.decode()

    chips = [(words, number) for _family, words, number in page.context["counts"]]
    assert sorted(chips) == [
        ("Match", 1),
        ("Missing", 1),
        ("Not ordered", 1),
        ("Unit differs", 1),
    ]
    assert "Mark as not performed" in text
    assert "1 result is missing" in text

    key = next(
        row.line.ordered.key
        for row in page.context["decide"]
        if row.line.ordered and row.line.ordered.name == "Sodium"
    )
    Review.objects.for_tenant(order.tenant).update(
        claimed_until=None, claimed_by_key="", claimed_by_label=""
    )
    here = f"{PLACE}/reports/{review.job_id}/order/"
    reply = clinician.post(f"{here}missing/", {"key": key, "verdict": "not_performed"})
    assert reply.headers["Location"] == here
    assert "The order has all its results." in clinician.get(here).content.decode()
    clinician.post(f"{here}missing/", {"key": key, "verdict": "later"})
    assert "1 result is missing" in clinician.get(here).content.decode()


def test_signed_values_open_at_their_ink(clinician, alice_web, order):
    review = read_report(
        order,
        read_row("Glucose", "85"),
        read_row("Potassium", "4.1"),
        read_row("Sodium", "140"),
    )
    decide_all(review)
    sign(review)

    results = alice_web.get(f"{PLACE}/orders/{order.pk}/results/").content.decode()

    assert f"/reports/{review.job_id}/?ink=1" in results
    assert (
        "Open results"
        in alice_web.get(f"{PLACE}/reports/{review.job_id}/order/").content.decode()
    )
    assert "labtest.order.updated" in emitted_types(order.tenant)


def test_a_report_is_moved_in_a_dialog(alice_web, order):
    other = make_order_by_document(tenant=order.tenant, user=order.user)
    review = read_report(order, read_row("Glucose", "85"))
    here = f"{PLACE}/reports/{review.job_id}/order/"

    asked = alice_web.get(f"{here}move/").content.decode()
    refused = alice_web.post(f"{here}move/", {"order": str(other.pk), "why": ""})
    moved = alice_web.post(f"{here}move/", {"order": str(other.pk), "why": "Mixed up."})
    detached = alice_web.post(f"{here}move/", {"order": "", "why": "No order."})

    assert str(other.pk)[:8] in asked
    assert refused.status_code == 422
    assert moved.headers["Location"] == here
    assert detached.headers["Location"] == f"{PLACE}/reports/{review.job_id}/"
    assert ParsingJob.objects.for_tenant(order.tenant).get().order_id is None
    assert "Add to an order" not in (
        alice_web.get(f"{PLACE}/reports/{review.job_id}/").content.decode()
    )  # of a report that nothing holds
