"""Documents without an order: read and matched by what they print, or by a person."""

from __future__ import annotations

import uuid

import pytest

from accounts.models import AuditEntry
from portal.lib.errors import DomainError
from reports.models import ParsingJob, UnmatchedDocument
from reports.operations.documents import reading
from reports.operations.documents.reading import (
    leave_unreadable_document,
    read_document,
)
from reports.operations.documents.receiving import receive_document
from reports.operations.documents.review import (
    match_document,
    reject_document,
    restore_document,
)
from reports.operations.jobs.submission import ReportPart
from reports.parser.report import (
    FailureReason,
    Metadata,
    Note,
    NoteCode,
    RowState,
    UnreadableReport,
)
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_parsed, make_pdf
from tests.jobs import queued
from tests.outbox import emitted
from tests.reports.by_document import make_order_by_document, read_row
from tests.reports.uploads import stored_files

pytestmark = pytest.mark.django_db
PDF = "application/pdf"
HEADER = {
    "patient_first_name": "Ada",
    "patient_last_name": "Example",
    "dob": "1990-05-17",
}


@pytest.fixture
def tenant(alice_tenant):
    alice_tenant.lab_report_human_review_enabled = True
    alice_tenant.save()
    return alice_tenant


@pytest.fixture
def prints(monkeypatch):
    """Say what the next document prints."""

    def say(*rows, notes=(), **header):
        report = make_parsed(
            results=rows,
            metadata=Metadata(**{**HEADER, **header}),
            notes=tuple(Note(code, RowState.LOOK) for code in notes),
        )
        monkeypatch.setattr(
            reading, "parse_stored_report_files", lambda *_paths: report
        )

    return say


def receive(tenant, pages=1):
    part = ReportPart(make_pdf(pages=pages), PDF)
    return receive_document(tenant=tenant, actor=ACTOR, part=part)


def read(document):
    read_document(tenant_pk=document.tenant_id, document_id=document.pk)
    document.refresh_from_db()
    return (str(document.status), document.reason)


def test_a_document_with_the_orders_sample_id_is_its_report(
    tenant, prints, django_capture_on_commit_callbacks
):
    order = make_order_by_document(tenant=tenant)
    make_order_by_document(tenant=tenant, user=order.user)  # a second of this person
    prints(read_row("Glucose", "85"), specimen_number=order.sample_id.lower())
    document = receive(tenant)
    assert receive(tenant).pk == document.pk  # the same again

    with django_capture_on_commit_callbacks(execute=True):
        assert read(document) == ("matched", "")
    assert read(document) == ("matched", "")

    job = ParsingJob.objects.for_tenant(tenant).get()
    assert (job.order_id, job.user_id) == (order.pk, order.user_id)
    assert (document.order_id, document.job_id) == (order.pk, job.pk)
    assert (document.metadata, document.rows, document.stored_as) == (None, None, "")
    assert job.needs_human_review
    types = [event["event_type"] for event in emitted(tenant)]
    assert types.count("lab_report.unmatched_document.updated") == 1
    assert types.count("lab_report.parsing_job.created") == 1


def test_what_a_document_prints_decides(tenant, prints):
    order = make_order_by_document(tenant=tenant)
    twin = make_order_by_document(tenant=tenant, user=order.user)
    glucose = read_row("Glucose", "85")
    number = {"specimen_number": order.sample_id}
    cases = [
        ((glucose,), {**number, "patient_first_name": "Bob"}, "person_differs"),
        ((glucose,), {**number, "dob": "1980-01-01"}, "person_differs"),
        ((glucose,), {}, "several_orders"),
        ((glucose,), {"dob": None}, "no_order"),
        ((glucose,), {"patient_first_name": "Bob"}, "no_order"),
        ((glucose,), {"patient_last_name": "Maiden"}, "no_order"),
        ((read_row("Ferritin", "18"),), {}, "nothing_ordered"),
        ((), number, "unreadable"),
    ]
    for page, (rows, header, reason) in enumerate(cases):
        prints(*rows, **header)
        assert read(receive(tenant, pages=1 + page)) == ("unmatched", reason)
    prints(glucose, notes=[NoteCode.SECOND_PERSON], **number)
    assert read(receive(tenant, pages=20)) == ("unmatched", "several_patients")
    tenant.lab_report_human_review_enabled = False
    tenant.save()
    prints(glucose, **number)
    assert read(receive(tenant, pages=21)) == ("unmatched", "review_disabled")

    assert not ParsingJob.objects.for_tenant(tenant).exists()
    waiting = [event for event in emitted(tenant) if "unmatched" in event["event_type"]]
    assert len(waiting) == len(cases) + 2
    assert waiting[0]["user_id"] == str(uuid.UUID(int=0))
    assert waiting[0]["data"]["reason"] == "person_differs"
    assert "Ada" not in str(waiting)
    del twin


def test_one_open_order_of_the_person_with_an_ordered_result_is_enough(tenant, prints):
    order = make_order_by_document(tenant=tenant)
    prints(read_row("Glucose", "85"), specimen_number="LAB-OWN-77")

    assert read(receive(tenant)) == ("matched", "")
    assert ParsingJob.objects.for_tenant(tenant).get().order_id == order.pk


def test_a_document_nobody_can_read_waits_for_a_person(tenant, monkeypatch):
    def torn(*_paths):
        raise UnreadableReport(FailureReason.LOW_QUALITY)

    monkeypatch.setattr(reading, "parse_stored_report_files", torn)
    first, second = receive(tenant), receive(tenant, pages=2)

    assert read(first) == ("unmatched", "unreadable")
    leave_unreadable_document(tenant_pk=tenant.pk, document_id=second.pk)
    second.refresh_from_db()
    assert (second.status, second.reason) == ("unmatched", "unreadable")


def refused(act, document, **given):
    before = len(emitted(document.tenant)), len(queued())
    with pytest.raises(DomainError) as error:
        act(document=document, actor=ACTOR, **given)
    now = UnmatchedDocument.objects.for_tenant(document.tenant).get(pk=document.pk)
    assert now.status == document.status
    assert (len(emitted(document.tenant)), len(queued())) == before
    return error.value.code


def test_a_person_matches_rejects_and_restores(
    tenant, prints, django_capture_on_commit_callbacks
):
    order = make_order_by_document(tenant=tenant)
    prints(read_row("Glucose", "85"), patient_last_name="Maiden")
    document = receive(tenant)
    assert refused(match_document, document, order_id=order.pk, why="Maiden name.") == (
        "document_not_read"
    )
    assert read(document) == ("unmatched", "no_order")

    assert refused(match_document, document, order_id=order.pk, why=" ") == (
        "reason_missing"
    )
    assert refused(match_document, document, order_id=uuid.uuid4(), why="?") == (
        "order_not_found"
    )
    rejected = reject_document(document=document, actor=ACTOR, why="Not ours.")
    assert (rejected.status, rejected.why) == ("rejected", "Not ours.")
    assert refused(match_document, rejected, order_id=order.pk, why="?") == (
        "transition_not_allowed"
    )
    restored = restore_document(document=rejected, actor=ACTOR)
    assert (restored.status, restored.resolved_by) == ("unmatched", "")

    with django_capture_on_commit_callbacks(execute=True):
        matched = match_document(
            document=restored, actor=ACTOR, order_id=order.pk, why="Maiden name."
        )
    again = match_document(document=matched, actor=ACTOR, order_id=order.pk, why="?")

    job = ParsingJob.objects.for_tenant(tenant).get()
    assert (again.job_id, job.order_id) == (job.pk, order.pk)
    assert len(stored_files()) == 1
    assert refused(reject_document, matched, why="?") == "transition_not_allowed"
    verbs = AuditEntry.objects.for_tenant(tenant).filter(subject="unmatched_document")
    assert list(verbs.order_by("pk").values_list("verb", flat=True)) == [
        "receive_document",
        "reject_document",
        "restore_document",
        "match_document",
    ]
