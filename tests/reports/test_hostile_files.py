"""A folder of hostile files: none becomes results, none harms the worker."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy", reason="pictures need the OCR group")
pytest.importorskip("rapidocr", reason="pictures need the OCR group")

from portal.lib.errors import DomainError
from reports.models import ParsingJob, ReportResult
from reports.operations.jobs.submission import ReportPart, ReportRequest, submit_report
from reports.parser.parsing import parse_report
from reports.parser.report import NoteCode, RowState, UnreadableReport
from tests.factories.accounts import ACTOR
from tests.factories.reports import ROWS, make_pdf
from tests.factories.users import make_user
from tests.jobs import queued
from tests.reports.corpus.hostile import (
    PDF,
    attacks,
    harmless_files,
    refused_files,
    two_patients,
)
from tests.reports.uploads import nothing_happened


def submit(user, content, media_type):
    part = ReportPart(content, media_type)
    request = ReportRequest(user_id=user.uuid, parts=(part,))
    return submit_report(tenant=user.tenant, actor=ACTOR, request=request)


def submit_or_refusal(user, file):
    """The job's id, or the code by which an upload was refused."""
    try:
        return submit(user, file.content, file.media_type).id
    except DomainError as refusal:
        return refusal.code


def parse_rows(path, file):
    """What the parser answers for a file: its reason, or the rows it must not give."""
    path.write_bytes(file.content)
    try:
        return parse_report(path).results
    except UnreadableReport as unread:
        return unread.reason


@pytest.mark.parametrize("file", refused_files(), ids=lambda file: file.name)
@pytest.mark.django_db
def test_what_is_no_readable_file_is_refused_at_upload(file, alice_tenant):
    user = make_user(tenant=alice_tenant)

    with nothing_happened(alice_tenant), pytest.raises(DomainError) as refusal:
        submit(user, file.content, file.media_type)

    assert refusal.value.code == file.refused


# A child at upload and one for the job: what only has to be read is read below.
@pytest.mark.timeout(300)
@pytest.mark.django_db(transaction=True)
def test_attacks_give_no_results_and_the_worker_reads_on(run_jobs, alice_tenant):
    user = make_user(tenant=alice_tenant)
    hostile = attacks()
    ends = {file.name: submit_or_refusal(user, file) for file in hostile}
    last = submit(user, make_pdf(), PDF)

    run_jobs()

    jobs = {job.id: job for job in ParsingJob.objects.for_tenant(alice_tenant)}
    reasons = {
        name: jobs[end].failure_reason if end in jobs else end
        for name, end in ends.items()
    }
    assert [f.name for f in hostile if reasons[f.name] not in f.reasons] == []
    assert jobs[last.id].status == "completed"
    assert ReportResult.objects.for_tenant(alice_tenant).count() == len(ROWS)
    assert {entry.status for entry in queued()} == {"succeeded"}


@pytest.mark.long
def test_what_is_readable_and_no_report_says_so_and_gives_no_rows(tmp_path):
    files = harmless_files(tmp_path)

    found = {file.name: parse_rows(tmp_path / file.name, file) for file in files}

    assert [f.name for f in files if found[f.name] not in f.reasons] == []


def test_the_rows_of_a_second_person_in_a_file_are_marked_as_a_contradiction(tmp_path):
    path = tmp_path / "both.pdf"
    path.write_bytes(two_patients(tmp_path))

    report = parse_report(path)

    [note] = [n for n in report.notes if n.code == NoteCode.SECOND_PERSON]
    pages = [row.provenance.name.page for row in report.results]
    assert note.severity == RowState.CONTRADICTION
    assert note.rows == tuple(n for n, page in enumerate(pages) if page == 3)
    assert set(pages) == {1, 2, 3}
