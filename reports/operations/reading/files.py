"""Files of reports, stored under random names outside the web root.

A file is written before the row that names it, so a crash leaves at most a file without
a row, which the sweep removes. Pictures of a report's pages are kept in a folder named
for its first file, and go with that.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from labs.operations.results.critical_reports import (
    delete_critical_alerts_of_parsed_reports,
)
from labs.operations.results.parsed_reports import forget_reports_of_results
from portal.lib import storage
from reports.models import OutsideReport, ParsingJob, ReportFile, UnmatchedDocument
from reports.parser.report import FailureReason, UnreadableReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from portal.lib.storage.answers import FoundFile
    from reports.states import PictureSize

FOLDER = "reports"
# A younger file may belong to an upload that has not committed yet.
ORPHAN_AGE = timedelta(days=1)
_PICTURES = ".pages"  # what the name of a file's folder of pictures adds to its own


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that is being stored: its future name, and its local path."""

    name: str
    path: Path


@contextmanager
def store_files_on_success(contents: Sequence[bytes]) -> Iterator[list[NewFile]]:
    """Write local files, and store them if the block ends without an error.

    Raises: storage_unavailable (503), nothing is left then.
    """
    words = [uuid4().hex for _ in contents]
    names = [f"{FOLDER}/{word[:2]}/{word}" for word in words]
    is_well = False
    try:
        with ExitStack() as stack:
            written = []
            for name, content in zip(names, contents, strict=True):
                opened = stack.enter_context(storage.write_stored_file(name))
                opened.write(content)
                opened.flush()
                written.append(NewFile(name, Path(opened.name)))
            yield written
            is_well = True
    except BaseException:
        if is_well and names[1:]:  # one could not be kept, others may be
            storage.delete_stored_files(names)
        raise


@contextmanager
def open_local_copies_of_files(files: Iterable[ReportFile]) -> Iterator[list[Path]]:
    """Provide local paths of stored files until the block ends.

    Raises: UnreadableReport with processing_error, where one is gone;
    storage_unavailable (503).
    """
    try:
        with storage.open_local_copies(file.stored_as for file in files) as paths:
            yield paths
    except FileNotFoundError:
        raise UnreadableReport(FailureReason.PROCESSING_ERROR) from None


def delete_stored_report_files(names: Iterable[str]) -> None:
    """Remove stored files with their page images; missing ones are ignored."""
    names = list(names)
    storage.delete_stored_files(names, folders=[name + _PICTURES for name in names])


def store_page_image(name: str, page: int, size: PictureSize, content: bytes) -> None:
    """Store a rendered page beside the file `name`; a lost one is rendered again.

    Source: Ours: a derived file, so neither written to disk for good nor in a row.
    """
    with storage.write_stored_file(_picture(name, page, size), durable=False) as opened:
        opened.write(content)


def load_stored_page_image(name: str, page: int, size: PictureSize) -> bytes | None:
    """Return a stored page image, None if there is none."""
    try:
        with storage.open_stored_file(_picture(name, page, size)) as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    return content


def _picture(name: str, page: int, size: PictureSize) -> str:
    return f"{name}{_PICTURES}/{page}-{size}.jpg"


@transaction.atomic
def erase_user_reports(tenant_pk: int, user_uuid: UUID) -> None:
    """Delete all reports of a user: rows now, files on commit.

    Source: Contract 2.2 (erasure after the undo's 7 days).
    """
    documents = UnmatchedDocument.unscoped.filter(
        Q(order__user__uuid=user_uuid) | Q(job__user__uuid=user_uuid),
        tenant_id=tenant_pk,
    )
    names = list(documents.exclude(stored_as="").values_list("stored_as", flat=True))
    documents.delete()
    transaction.on_commit(partial(delete_stored_report_files, names))
    delete_parsing_jobs(
        tenant_pk,
        ParsingJob.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid),
    )
    OutsideReport.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid).delete()


def delete_parsing_jobs(tenant_pk: int, jobs: QuerySet[ParsingJob]) -> None:
    """Delete jobs with rows, files and critical alerts, in the caller's transaction.

    Their files go on commit.
    """
    files = ReportFile.unscoped.filter(job__in=jobs)
    names = list(files.values_list("stored_as", flat=True))
    keys = list(jobs.values_list("pk", flat=True))
    delete_critical_alerts_of_parsed_reports(tenant_pk=tenant_pk, report_ids=keys)
    forget_reports_of_results(
        tenant_pk=tenant_pk,
        reports=jobs.exclude(order=None).values_list("pk", "order"),
    )
    with connection.cursor() as cursor:
        # Signatures can be deleted only where this is said (migration 0005).
        cursor.execute("SELECT set_config('assay.erasing', 'on', true)")
    jobs.delete()  # takes files, results, reviews and transitions with it
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('assay.erasing', 'off', true)")
    transaction.on_commit(partial(delete_stored_report_files, names))


def delete_orphan_report_files() -> int:
    """Delete files older than ORPHAN_AGE without a row; return how many.

    Pictures go whatever their age: they were drawn of a row that is no more. Works over
    all tenants. Source: Ours: what a crash left behind is health data.
    """
    removed = 0
    for _, found in groupby(storage.list_stored_files(FOLDER), key=_place):
        files = {file.name: file for file in found}
        named = {_upload_of(name) for name in files}
        unknown = named - {
            name
            for table in (ReportFile, UnmatchedDocument)
            for name in table.unscoped.filter(stored_as__in=named).values_list(
                "stored_as", flat=True
            )
        }
        orphans = [
            name for name in unknown if name not in files or _is_old(files[name])
        ]
        delete_stored_report_files(orphans)
        removed += sum(name in files for name in orphans)
    storage.delete_unfinished_uploads(FOLDER)
    return removed


def _place(file: FoundFile) -> str:
    """The folder that a stored file is in, with all that was drawn of it."""
    return file.name.removeprefix(f"{FOLDER}/").partition("/")[0]


def _upload_of(name: str) -> str:
    """The stored file that a file belongs to: itself, unless it is one of pictures."""
    return name.partition(f"{_PICTURES}/")[0]


def _is_old(file: FoundFile) -> bool:
    return timezone.now() - file.modified_at > ORPHAN_AGE
