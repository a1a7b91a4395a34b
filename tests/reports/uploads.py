"""Uploads in tests, and the assertion that one left nothing behind."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from accounts.models import AuditEntry
from reports.models import ParsingJob, ParsingJobTransition, ReportFile, ReportResult
from tests.factories.reports import make_pdf
from tests.jobs import queued
from tests.outbox import emitted_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PDF = "application/pdf"


def upload(
    api: Any,
    *,
    user: Any = None,
    files: Sequence[bytes] | None = None,
    content_type: str = PDF,
    form: dict[str, Any] | None = None,
    path: str = "/lab_report/v1/parser/job",
    **fields: Any,
):
    """Post a report as multipart/form-data; `form` replaces all parts."""
    if form is None:
        contents = [make_pdf()] if files is None else files
        form = {
            "user_id": str(user.uuid),
            "file": [
                SimpleUploadedFile(f"{number}", content, content_type)
                for number, content in enumerate(contents)
            ],
            **fields,
        }
    body = encode_multipart(BOUNDARY, form)
    return api.generic("POST", path, body, content_type=MULTIPART_CONTENT)


def stored_files() -> list[Path]:
    """Every stored upload."""
    return [path for path in Path(settings.UPLOADS_DIR).rglob("*") if path.is_file()]


def traces(tenant: Any) -> dict[str, Any]:
    """All that an upload could leave: rows, files, events, audit lines, jobs."""
    tables = (ParsingJob, ReportFile, ReportResult, ParsingJobTransition, AuditEntry)
    return {
        **{
            table.__name__: table.objects.for_tenant(tenant).count() for table in tables
        },
        "files": sorted(stored_files()),
        "events": emitted_types(tenant),
        "queue": queued(),
    }


@contextmanager
def nothing_happened(tenant: Any) -> Iterator[None]:
    """Assert that what runs inside leaves no job, file, event, audit or queue entry."""
    before = traces(tenant)
    yield
    assert traces(tenant) == before
