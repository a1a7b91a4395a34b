"""A submitted report through its job: parsed, failed, repeated, given up."""

from __future__ import annotations

import threading
from functools import partial
from uuid import uuid4

import pytest
from django.db import connection

from accounts.models import AuditEntry
from portal.lib.errors import DomainError
from portal.lib.slots import Work, hold_work_slot
from reports.models import ParsingJob, ParsingJobTransition, ReportResult
from reports.operations.jobs import parsing
from reports.operations.jobs.parsing import (
    fail_parsing_after_retries,
    inspect_submitted_report,
    parse_submitted_report,
)
from reports.operations.jobs.status import mark_parsing_job_failed
from reports.operations.jobs.submission import ReportPart, ReportRequest, submit_report
from reports.operations.reading import extraction
from reports.parser.report import FailureReason, Script, UnreadableReport
from reports.payloads import build_parsing_job_payload
from reports.queries import list_parsing_job_transitions
from reports.states import ParsingJobStatus
from tests.factories.accounts import ACTOR
from tests.factories.reports import (
    encrypt,
    make_endless_pdf,
    make_letter,
    make_parsed,
    make_parsing_job,
    make_pdf,
    make_picture,
)
from tests.factories.users import make_user
from tests.jobs import make_all_due, queued
from tests.outbox import emitted, emitted_types
from tests.reports.uploads import nothing_happened, stored_files, traces

CREATED = "lab_report.parsing_job.created"
UPDATED = "lab_report.parsing_job.updated"
PDF = "application/pdf"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def user_of_jobs(job_queue, user):
    return user


def submit(user, *parts: tuple[bytes, str]) -> ParsingJob:
    request = ReportRequest(
        user_id=user.uuid, parts=tuple(ReportPart(*part) for part in parts)
    )
    return submit_report(tenant=user.tenant, actor=ACTOR, request=request)


def stored(job):
    return ParsingJob.objects.for_tenant(job.tenant).get(id=job.id)


def parse(job: ParsingJob) -> None:
    parse_submitted_report(tenant_pk=job.tenant.pk, job_id=job.id)


def moves(job: ParsingJob) -> list[tuple[str, str]]:
    rows = ParsingJobTransition.objects.for_tenant(job.tenant).filter(job=job)
    return list(rows.order_by("id").values_list("old", "new"))


@pytest.mark.django_db(transaction=True)
def test_a_report_becomes_biomarkers(run_jobs, alice_tenant, user):
    job = submit(user, (make_pdf(), PDF))

    run_jobs()

    rows = ReportResult.objects.for_tenant(alice_tenant).order_by("position")
    assert stored(job).status == "completed"
    assert [(row.test_name, row.value, row.units) for row in rows] == [
        ("Glucose", "105", "mg/dL"),
        ("Creatinine", "0.9", "mg/dL"),
        ("Sodium", "140", "mmol/L"),
        ("Potassium", "4.1", "mmol/L"),
    ]
    assert rows[0].is_above_max_range
    assert stored(job).metadata["patient_last_name"] == "Beispiel"
    assert stored(job).pages == 1
    assert emitted_types(alice_tenant) == [CREATED, UPDATED]
    assert moves(job) == [("upload_pending", "started"), ("started", "completed")]
    assert [entry.status for entry in queued()] == ["succeeded"]


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        (make_letter(), PDF, "invalid_input"),
        (make_pdf(pages=31), PDF, "too_many_pages"),
        (make_picture("PNG"), "image/png", "low_quality"),
        (make_picture("JPEG"), "image/jpeg", "low_quality"),
    ],
    ids=["no lab report", "too many pages", "white PNG", "white JPEG"],
)
@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_parsed_fails_with_its_reason_and_no_rows(
    content, kind, reason, run_jobs, alice_tenant, user
):
    job = submit(user, (content, kind))

    run_jobs()

    assert (stored(job).status, stored(job).failure_reason) == ("failed", reason)
    assert not ReportResult.objects.for_tenant(alice_tenant).exists()
    assert emitted_types(alice_tenant) == [CREATED, UPDATED]
    assert [entry.status for entry in queued()] == ["succeeded"]


def submit_unseen(user, *parts):
    """Submit while the tenant's slot is taken: nobody looks before the worker."""
    with hold_work_slot(Work.UPLOAD, tenant=user.tenant):
        return submit(user, *parts)


@pytest.mark.parametrize(
    ("content", "kind", "why"),
    [
        (make_endless_pdf(), PDF, "unreadable_file"),
        (encrypt(make_pdf()), PDF, "encrypted_file"),
        (make_picture("PNG")[:-20], "image/png", "unreadable_file"),
    ],
    ids=["a page that draws itself", "encrypted", "half a picture"],
)
@pytest.mark.django_db(transaction=True)
def test_what_the_worker_refuses_fails_as_invalid_input(
    content, kind, why, run_jobs, alice_tenant, user, monkeypatch
):
    monkeypatch.setattr(extraction, "INSPECT_CPU_SECONDS", 2)
    job = submit_unseen(user, (content, kind))
    (waiting,) = queued()

    run_jobs()

    last = ParsingJobTransition.objects.for_tenant(alice_tenant).latest("id")
    event = emitted(alice_tenant)[-1]["data"]
    assert (waiting.name, waiting.queue) == ("reports.inspect", "parsing")
    assert waiting.lock == f"inspect:{alice_tenant.pk}"
    assert (job.status, stored(job).status) == ("upload_pending", "failed")
    assert stored(job).failure_reason == "invalid_input"
    assert last.why == why
    assert moves(job) == [("upload_pending", "failed")]
    assert not ReportResult.objects.for_tenant(alice_tenant).exists()
    assert emitted_types(alice_tenant) == [CREATED, UPDATED]
    assert (event["status"], event["failure_reason"]) == ("failed", "invalid_input")
    assert [entry.status for entry in queued()] == ["succeeded"]


@pytest.mark.django_db(transaction=True)
def test_a_report_that_nobody_looked_at_is_read_like_any_other(
    run_jobs, alice_tenant, user
):
    job = submit_unseen(user, (make_pdf(pages=2), PDF))
    unread = build_parsing_job_payload(stored(job))

    run_jobs()

    assert unread["data"] is None
    assert (stored(job).status, stored(job).pages) == ("completed", 2)
    assert emitted_types(alice_tenant) == [CREATED, UPDATED]
    assert [entry.name for entry in queued()] == ["reports.inspect", "reports.parse"]


@pytest.mark.django_db
def test_a_look_that_comes_twice_or_too_late_changes_nothing(alice_tenant, user):
    job = submit_unseen(user, (encrypt(make_pdf()), PDF))
    inspect = partial(
        inspect_submitted_report, tenant_pk=alice_tenant.pk, job_id=job.id
    )
    inspect()
    before = traces(alice_tenant)

    inspect()
    inspect_submitted_report(tenant_pk=alice_tenant.pk, job_id=uuid4())

    assert traces(alice_tenant) == before
    assert stored(job).failure_reason == "invalid_input"


@pytest.mark.django_db
def test_a_lost_file_that_nobody_looked_at_fails(alice_tenant, user):
    job = submit_unseen(user, (make_pdf(), PDF))
    (path,) = stored_files()
    path.unlink()

    inspect_submitted_report(tenant_pk=alice_tenant.pk, job_id=job.id)

    assert stored(job).failure_reason == "processing_error"


@pytest.mark.django_db
def test_several_pictures_without_a_word_are_of_low_quality(alice_tenant, user):
    picture = make_picture("PNG")
    job = submit(user, (picture, "image/png"), (picture, "image/png"))

    parse(job)

    assert stored(job).failure_reason == "low_quality"


@pytest.mark.django_db
def test_a_report_without_rows_is_no_lab_report(monkeypatch, alice_tenant, user):
    job = make_parsing_job(user=user)
    monkeypatch.setattr(
        parsing, "parse_stored_report_files", lambda _: make_parsed(results=())
    )

    parse(job)

    assert stored(job).failure_reason == "invalid_input"


@pytest.mark.django_db
def test_a_job_whose_reading_was_cut_short_is_read_again(
    monkeypatch, alice_tenant, user
):
    job = make_parsing_job(user=user, status=ParsingJobStatus.STARTED)
    monkeypatch.setattr(parsing, "parse_stored_report_files", lambda _: make_parsed())

    parse(job)

    assert moves(job) == [("started", "completed")]
    assert ReportResult.objects.for_tenant(alice_tenant).count() == 1


@pytest.mark.parametrize(
    "status", ["completed", "failed", "pending_review", "archived"]
)
@pytest.mark.django_db
def test_a_job_that_has_ended_is_left_alone(status, alice_tenant, user):
    job = make_parsing_job(user=user, status=status)

    with nothing_happened(alice_tenant):
        parse(job)
        fail_parsing_after_retries(tenant_pk=alice_tenant.pk, job_id=job.id)

    assert stored(job).status == status


@pytest.mark.django_db
def test_a_job_that_was_erased_is_left_alone(alice_tenant, user):
    job = make_parsing_job(user=user)
    job_id = job.id
    job.delete()

    with nothing_happened(alice_tenant):
        parse_submitted_report(tenant_pk=alice_tenant.pk, job_id=job_id)
        fail_parsing_after_retries(tenant_pk=alice_tenant.pk, job_id=job_id)


@pytest.mark.django_db
def test_a_job_of_a_tenant_that_is_gone_is_left_alone(alice_tenant, user):
    job = make_parsing_job(user=user)

    with nothing_happened(alice_tenant):
        parse_submitted_report(tenant_pk=0, job_id=job.id)
        fail_parsing_after_retries(tenant_pk=0, job_id=job.id)


@pytest.mark.django_db
def test_a_second_run_that_comes_late_changes_nothing(monkeypatch, alice_tenant, user):
    job = make_parsing_job(user=user, status=ParsingJobStatus.STARTED)

    def read_while_another_finishes(path):
        mark_parsing_job_failed(
            job=stored(job), actor=ACTOR, reason=FailureReason.LOW_QUALITY
        )
        return make_parsed()

    monkeypatch.setattr(
        parsing, "parse_stored_report_files", read_while_another_finishes
    )

    parse(job)

    assert stored(job).failure_reason == "low_quality"
    assert not ReportResult.objects.for_tenant(alice_tenant).exists()
    assert emitted_types(alice_tenant) == [UPDATED]


@pytest.mark.django_db(transaction=True)
def test_two_workers_on_one_job_give_one_set_of_rows(monkeypatch, alice_tenant, user):
    job = make_parsing_job(user=user)
    both_read = threading.Barrier(2, timeout=20)
    refused = []

    def read_together(path):
        both_read.wait()
        return make_parsed()

    def work():
        try:
            parse(job)
        except DomainError as error:  # the other was quicker: the job retries
            refused.append(error.code)
            parse(job)
        finally:
            connection.close()

    monkeypatch.setattr(parsing, "parse_stored_report_files", read_together)
    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)

    assert stored(job).status == "completed"
    assert ReportResult.objects.for_tenant(alice_tenant).count() == 1
    assert emitted_types(alice_tenant) == [UPDATED]
    assert moves(job) == [("upload_pending", "started"), ("started", "completed")]
    assert refused in ([], ["transition_not_allowed"])


@pytest.mark.django_db(transaction=True)
def test_a_job_whose_runs_all_fail_is_given_up(
    monkeypatch, run_jobs, alice_tenant, user
):
    job = submit(user, (make_pdf(), PDF))
    runs = []

    def fail(path):
        runs.append(path)
        raise RuntimeError("Rosa Beispiel")

    monkeypatch.setattr(parsing, "parse_stored_report_files", fail)

    for _ in range(5):
        assert stored(job).status in {"upload_pending", "started"}
        make_all_due()
        run_jobs()

    assert len(runs) == 5
    assert (stored(job).status, stored(job).failure_reason) == (
        "failed",
        "processing_error",
    )
    assert emitted_types(alice_tenant) == [CREATED, UPDATED]
    assert [(entry.status, entry.attempts) for entry in queued()] == [("failed", 5)]
    verbs = AuditEntry.objects.for_tenant(alice_tenant).filter(subject="parsing_job")
    assert list(verbs.order_by("id").values_list("verb", flat=True)) == [
        "submit_report",
        "start_parsing",
        "fail_parsing",
    ]


@pytest.mark.django_db
def test_the_parsers_reason_becomes_the_jobs(monkeypatch, alice_tenant, user):
    job = make_parsing_job(user=user)

    def refuse(path):
        raise UnreadableReport(FailureReason.NOT_ENGLISH, script=Script.CYRILLIC)

    monkeypatch.setattr(parsing, "parse_stored_report_files", refuse)

    parse(job)

    assert stored(job).failure_reason == "not_english"
    assert build_parsing_job_payload(stored(job))["unread_script"] == "cyrillic"
    assert list_parsing_job_transitions(job)[-1].why == "cyrillic"
