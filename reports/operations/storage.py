"""Files of reports: stored under random names outside the web root, never served.

A file is written before the row that names it, so a crash leaves at most a file without
a row, which the sweep removes. Pictures of a report's pages are kept in a folder named
for its first file, and go with that. Must not be here: what may be uploaded.
"""

from __future__ import annotations

import os
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.utils import timezone

from reports.models import ParsingJob, ReportFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from django.db.models import QuerySet

    from reports.states import PictureSize

FOLDER = "reports"
# A younger file may belong to an upload that has not committed yet.
ORPHAN_AGE = timedelta(days=1)
_PICTURES = ".pages"  # what the name of a file's folder of pictures adds to its own


def store_file(content: bytes) -> str:
    """Write a file to disk for good and return its name in the default storage."""
    name = uuid4().hex
    stored_as = default_storage.save(
        f"{FOLDER}/{name[:2]}/{name}", ContentFile(content)
    )
    # The row that names the file survives a power cut, so the file has to.
    path = Path(default_storage.path(stored_as))
    for durable in (path, path.parent):
        descriptor = os.open(durable, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return stored_as


def path_of(file: ReportFile) -> Path:
    """Where the parser finds a stored file."""
    return Path(default_storage.path(file.stored_as))


def remove_files(names: Iterable[str]) -> None:
    """Remove stored files with their pictures; one that is gone already is fine."""
    for name in names:
        default_storage.delete(name)
        _remove_pictures(name + _PICTURES)


def keep_picture(name: str, page: int, size: PictureSize, content: bytes) -> None:
    """Keep a drawn page beside the stored file `name`; what is lost is drawn again.

    Source: Ours: a derived file, so neither written to disk for good nor in a row.
    """
    place = _picture(name, page, size)
    default_storage.delete(place)  # half a picture, of a process that died
    default_storage.save(place, ContentFile(content))


def kept_picture(name: str, page: int, size: PictureSize) -> bytes | None:
    """A page that was drawn before, None where it was not."""
    try:
        with default_storage.open(_picture(name, page, size)) as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    return content


def _picture(name: str, page: int, size: PictureSize) -> str:
    return f"{name}{_PICTURES}/{page}-{size}.jpg"


def _remove_pictures(folder: str) -> None:
    try:
        names = default_storage.listdir(folder)[1]
    except FileNotFoundError:
        return
    for name in names:
        default_storage.delete(f"{folder}/{name}")
    default_storage.delete(folder)


@transaction.atomic
def erase_reports(tenant_pk: int, user_uuid: UUID) -> None:
    """Remove all jobs of a user, with their rows now and their files on commit.

    Source: Contract 2.2 (erasure after the undo's 7 days).
    """
    drop_jobs(ParsingJob.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid))


def drop_jobs(jobs: QuerySet[ParsingJob]) -> None:
    """Remove jobs with all that hangs on them, in the caller's transaction.

    Their files go on commit.
    """
    files = ReportFile.unscoped.filter(job__in=jobs)
    names = list(files.values_list("stored_as", flat=True))
    with connection.cursor() as cursor:
        # Signatures can be deleted only where this is said (migration 0005).
        cursor.execute("SELECT set_config('assay.erasing', 'on', true)")
    jobs.delete()  # takes files, results, reviews and transitions with it
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('assay.erasing', 'off', true)")
    transaction.on_commit(partial(remove_files, names))


def sweep_orphan_files() -> int:
    """Remove files older than ORPHAN_AGE that no row names; returns how many.

    Pictures go whatever their age: they were drawn of a row that is no more. Works over
    all tenants. Source: Ours: what a crash left behind is health data.
    """
    removed = 0
    for drawn, names in _folders():
        named = {*names, *(folder.removesuffix(_PICTURES) for folder in drawn)}
        known = set(
            ReportFile.unscoped.filter(stored_as__in=named).values_list(
                "stored_as", flat=True
            )
        )
        orphans = [name for name in names if name not in known and _is_old(name)]
        remove_files(orphans)
        removed += len(orphans)
        for folder in drawn:
            if folder.removesuffix(_PICTURES) not in {*known, *names}:
                _remove_pictures(folder)
    return removed


def _folders() -> Iterator[tuple[list[str], list[str]]]:
    """Folders of pictures and names of stored files, folder by folder."""
    if not default_storage.exists(FOLDER):
        return
    for folder in default_storage.listdir(FOLDER)[0]:
        place = f"{FOLDER}/{folder}"
        folders, names = default_storage.listdir(place)
        yield [f"{place}/{name}" for name in folders], [f"{place}/{n}" for n in names]


def _is_old(name: str) -> bool:
    try:
        age = timezone.now() - default_storage.get_modified_time(name)
    except FileNotFoundError:  # removed since it was listed
        return False
    return age > ORPHAN_AGE
