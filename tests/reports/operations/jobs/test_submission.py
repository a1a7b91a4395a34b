from __future__ import annotations

import hashlib
import stat
import zipfile
import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import default_storage

from accounts.models import AuditEntry
from portal.lib.errors import DomainError, NotAllowed, NotFound, TooLarge
from reports.models import ParsingJob, ReportFile
from reports.operations.jobs import submission
from reports.operations.jobs.submission import (
    MAX_BYTES,
    MAX_PARTS,
    ReportPart,
    ReportRequest,
    submit_report,
)
from reports.parser.intake import RefusalCode, RefusedFile
from tests.factories.accounts import ACTOR
from tests.factories.reports import encrypt, make_pdf, make_picture
from tests.factories.users import make_user
from tests.jobs import queued
from tests.outbox import emitted
from tests.reports.uploads import nothing_happened, stored_files

pytestmark = pytest.mark.django_db
PDF, JPEG, PNG = "application/pdf", "image/jpeg", "image/png"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def submit(user, *parts: tuple[bytes, str], **wanted) -> ParsingJob:
    request = ReportRequest(
        user_id=user.uuid, parts=tuple(ReportPart(*part) for part in parts)
    )
    return submit_report(
        tenant=user.tenant, actor=ACTOR, request=replace(request, **wanted)
    )


def test_a_submitted_report_is_stored_announced_audited_and_enqueued(
    alice_tenant, user
):
    content = make_pdf()

    job = submit(user, (content, PDF))

    file = ReportFile.objects.for_tenant(alice_tenant).get()
    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="submit_report")
    (envelope,) = emitted(alice_tenant)
    (entry_in_queue,) = queued()
    assert (job.status, job.user_id, job.finished_at) == (
        "upload_pending",
        user.pk,
        None,
    )
    assert (file.job_id, file.position, file.size) == (job.pk, 0, len(content))
    assert file.content_type == PDF
    assert file.sha256 == job.sha256 == hashlib.sha256(content).hexdigest()
    assert Path(default_storage.path(file.stored_as)).read_bytes() == content
    assert (entry.subject, entry.subject_id) == ("parsing_job", str(job.id))
    assert (entry.user_uuid, entry.actor_label) == (user.uuid, ACTOR.label)
    assert envelope == {
        "event_type": "lab_report.parsing_job.created",
        "data": {
            "id": str(job.id),
            "status": "upload_pending",
            "failure_reason": None,
            "data": None,
            "needs_human_review": False,
            "is_reviewed": False,
            "order_id": None,
            "unread_script": None,
        },
        "team_id": str(alice_tenant.team_id),
        "user_id": str(user.uuid),
        "client_user_id": user.client_user_id,
    }
    assert entry_in_queue.name == "reports.parse"
    assert entry_in_queue.queue == "parsing"
    assert entry_in_queue.inputs == {
        "tenant_pk": alice_tenant.pk,
        "job_id": str(job.id),
    }


def test_a_stored_file_is_for_the_server_alone(user):
    submit(user, (make_pdf(), PDF))

    (path,) = stored_files()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.suffix == ""
    assert path.is_relative_to(settings.UPLOADS_DIR)


@pytest.mark.parametrize(("kind", "declared"), [("JPEG", JPEG), ("PNG", PNG)])
def test_a_picture_is_taken(kind, declared, alice_tenant, user):
    submit(user, (make_picture(kind), declared))

    assert ReportFile.objects.for_tenant(alice_tenant).get().content_type == declared


def test_eight_pictures_are_one_report_in_their_order(alice_tenant, user):
    pictures = [make_picture("PNG", size=(8, 8 + n)) for n in range(MAX_PARTS)]

    job = submit(user, *((picture, PNG) for picture in pictures))

    files = ReportFile.objects.for_tenant(alice_tenant).order_by("position")
    paths = [Path(default_storage.path(file.stored_as)) for file in files]
    assert [path.read_bytes() for path in paths] == pictures
    assert [file.position for file in files] == list(range(MAX_PARTS))
    assert len(job.sha256) == 64


def zipped() -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("report.pdf", make_pdf())
    return written.getvalue()


def picture_bomb() -> bytes:
    """A PNG of a few hundred bytes that says it has 10 000 million pixels."""
    head = make_picture("PNG")
    size = (100_000).to_bytes(4, "big") * 2
    chunk = b"IHDR" + size + head[24:29]
    return head[:12] + chunk + zlib.crc32(chunk).to_bytes(4, "big") + head[33:]


REFUSED = {
    "empty": (b"", PDF, "empty_file"),
    "text": (b"Glucose 105 mg/dL", "text/plain", "unsupported_file_type"),
    "zip called a PDF": (zipped(), PDF, "unsupported_file_type"),
    "GIF": (make_picture("GIF"), "image/gif", "unsupported_file_type"),
    "PNG called a PDF": (make_picture("PNG"), PDF, "file_type_mismatch"),
    "PDF called a JPEG": (make_pdf(), JPEG, "file_type_mismatch"),
    "PDF of no stated type": (make_pdf(), "", "file_type_mismatch"),
    "stated type with a lone surrogate": (make_pdf(), "\udcff", "file_type_mismatch"),
    "encrypted": (encrypt(make_pdf()), PDF, "encrypted_file"),
    "truncated": (make_pdf()[:-300], PDF, "unreadable_file"),
    "truncated picture": (make_picture("PNG")[:-20], PNG, "unreadable_file"),
    "only a signature": (b"%PDF-1.7\n%%EOF\n", PDF, "unreadable_file"),
    "picture bomb": (picture_bomb(), PNG, "too_many_pixels"),
}


@pytest.mark.parametrize(
    ("content", "declared", "code"), REFUSED.values(), ids=REFUSED.keys()
)
def test_a_file_that_cannot_be_read_is_refused(
    content, declared, code, alice_tenant, user
):
    with nothing_happened(alice_tenant), pytest.raises(DomainError) as refusal:
        submit(user, (content, declared))

    assert refusal.value.code == code


SEVERAL = {
    "two PDFs": ([(make_pdf(), PDF)] * 2, "mixed_files"),
    "a PDF among pictures": (
        [(make_picture("PNG"), PNG), (make_pdf(), PDF)],
        "mixed_files",
    ),
    "nine pictures": ([(make_picture("PNG"), PNG)] * 9, "too_many_files"),
    "an empty one among pictures": (
        [(make_picture("PNG"), PNG), (b"", PNG)],
        "empty_file",
    ),
    "none": ([], "file_missing"),
}


@pytest.mark.parametrize(("parts", "code"), SEVERAL.values(), ids=SEVERAL.keys())
def test_files_that_make_no_report_are_refused(parts, code, alice_tenant, user):
    with nothing_happened(alice_tenant), pytest.raises(DomainError) as refusal:
        submit(user, *parts)

    assert refusal.value.code == code


def test_pictures_over_ten_megabytes_together_are_refused(alice_tenant, user):
    half = b"x" * (MAX_BYTES // 2 + 1)

    with nothing_happened(alice_tenant), pytest.raises(TooLarge) as refusal:
        submit(user, (half, PNG), (half, PNG))

    assert refusal.value.code == "file_too_large"


def test_a_part_the_parser_finds_too_large_is_refused_as_that(
    alice_tenant, user, monkeypatch
):
    def refuse(files):
        raise RefusedFile(RefusalCode.TOO_LARGE)

    monkeypatch.setattr(submission, "check_upload_files_during_request", refuse)

    with nothing_happened(alice_tenant), pytest.raises(TooLarge):
        submit(user, (make_pdf(), PDF))


def test_human_review_is_refused_where_the_team_has_none(alice_tenant, user):
    user.tenant.lab_report_human_review_enabled = False

    with nothing_happened(alice_tenant), pytest.raises(DomainError) as refusal:
        submit(user, (make_pdf(), PDF), needs_human_review=True)

    assert refusal.value.code == "human_review_unavailable"


def test_a_team_without_the_feature_is_refused(alice_production):
    user = make_user(tenant=alice_production)

    with nothing_happened(alice_production), pytest.raises(NotAllowed) as refusal:
        submit(user, (make_pdf(), PDF))

    assert refusal.value.code == "parsing_not_enabled"


def test_a_user_of_another_team_is_unknown(alice_tenant, charlie_tenant):
    theirs = make_user(tenant=charlie_tenant)
    theirs.tenant = alice_tenant

    with nothing_happened(alice_tenant), pytest.raises(NotFound) as refusal:
        submit(theirs, (make_pdf(), PDF))

    assert refusal.value.code == "user_not_found"


def test_a_fault_while_writing_leaves_no_file(alice_tenant, user, monkeypatch):
    def fail(*args, **inputs):
        raise LookupError

    monkeypatch.setattr(submission, "enqueue_parsing", fail)

    with nothing_happened(alice_tenant), pytest.raises(LookupError):
        submit(user, (make_pdf(), PDF))
