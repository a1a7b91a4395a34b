"""A PDF in a lab's message, taken as a report of its order."""

from __future__ import annotations

import pytest

from labs.models import InboundReport, LabDocument, ResultVersion
from labs.operations.documents.lab_documents import check_lab_document
from labs.operations.inbound.review import match_lab_report_manually
from reports.models import ParsingJob
from reports.operations.jobs.receiving import RECEIVE_JOB, receive_lab_document
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx, obx_with_document
from tests.factories.inbound import take
from tests.factories.reports import make_pdf
from tests.jobs import queued
from tests.outbox import emitted_types
from tests.reports.by_document import make_order_by_document

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(alice_tenant):
    alice_tenant.lab_report_human_review_enabled = True
    alice_tenant.save()
    return make_order_by_document(tenant=alice_tenant)


def receive(order, *lines, **fields):
    test = make_test(*lines, placer=order.sample_id, **fields)
    take(
        order.tenant,
        make_oru(test, control_id="C1"),
        lab=order.lab,
        account=order.lab_account,
    )
    for document in LabDocument.objects.for_tenant(order.tenant):
        check_lab_document(tenant=order.tenant, document_id=document.pk)
    return LabDocument.objects.for_tenant(order.tenant).first()


def waiting():
    return [job.inputs["document_id"] for job in queued() if job.name == RECEIVE_JOB]


def test_a_document_without_results_becomes_a_report_of_its_order_once(order):
    document = receive(order, obx_with_document(make_pdf()))
    assert waiting() == [str(document.pk)]

    job = receive_lab_document(tenant=order.tenant, document_id=document.pk)
    again = receive_lab_document(tenant=order.tenant, document_id=document.pk)

    assert again is None
    assert ParsingJob.objects.for_tenant(order.tenant).get().pk == job.pk
    assert (job.order_id, job.user_id) == (order.pk, order.user_id)
    assert job.needs_human_review
    assert job.sha256 == document.sha256
    assert not ResultVersion.objects.for_tenant(order.tenant).exists()


def test_a_document_beside_results_is_not_read(order):
    document = receive(order, obx(), obx_with_document(make_pdf()))

    assert waiting() == []
    assert receive_lab_document(tenant=order.tenant, document_id=document.pk) is None
    assert not ParsingJob.objects.for_tenant(order.tenant).exists()


def test_a_document_that_is_no_pdf_is_refused_and_not_read(order):
    document = receive(order, obx_with_document(b"hello"))

    assert (document.status, document.fault) == ("refused", "not_pdf")
    assert waiting() == []


def test_a_document_of_an_unknown_order_waits_and_is_read_once_it_is_matched(order):
    test = make_test(obx_with_document(make_pdf()), placer="NOBODYS")
    take(
        order.tenant,
        make_oru(test, control_id="C2"),
        lab=order.lab,
        account=order.lab_account,
    )

    report = InboundReport.objects.for_tenant(order.tenant).get()
    assert (report.status, report.reason) == ("unmatched", "no_order")
    assert waiting() == []

    report.tenant = order.tenant
    match_lab_report_manually(
        report=report, actor=ACTOR, order_id=order.pk, why="Same person."
    )
    document = LabDocument.objects.for_tenant(order.tenant).get()
    check_lab_document(tenant=order.tenant, document_id=document.pk)

    assert waiting() == [str(document.pk)]


def test_a_team_that_reads_no_reports_keeps_the_document(order):
    order.tenant.lab_report_parsing_enabled = False
    order.tenant.save()
    document = receive(order, obx_with_document(make_pdf()))
    before = emitted_types(order.tenant)

    assert receive_lab_document(tenant=order.tenant, document_id=document.pk) is None

    assert document.status == "available"
    assert not ParsingJob.objects.for_tenant(order.tenant).exists()
    assert emitted_types(order.tenant) == before
