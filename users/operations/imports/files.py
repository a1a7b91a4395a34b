"""Files of imports: uploads, and their parsed parts until they are stored.

They lie under random names outside the web root, are never served, and go as soon as
their import ends.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib import storage
from portal.lib.errors import TooLarge
from users.models import ImportJob
from users.states.imports import ImportRefusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

FOLDER = "imports"
# Ours: an export of twelve years unpacks to about 3 GB and comes in 150 MB.
MAX_BYTES = 2 * 1024**3
# Of a form that brings a file: what is a little too large still gets its sentence.
BODY_MAX_BYTES = MAX_BYTES + 64 * 1024**2
# A younger file may belong to an upload that has not committed yet.
ORPHAN_AGE = timedelta(days=1)
# Beside the upload: the parts that were read of it.
PARTS = ".parts"


@dataclass(frozen=True, slots=True)
class NewUpload:
    """A written upload: its future name, digest and size."""

    name: str
    size: int
    sha256: str
    opened: BinaryIO

    @property
    def path(self) -> Path:
        """Return the path of the file while it is open."""
        return Path(self.opened.name)


@contextmanager
def write_import_upload(chunks: Iterable[bytes]) -> Iterator[NewUpload]:
    """Write an upload in bounded memory; stored if the block succeeds.

    Raises: file_too_large (413); storage_unavailable (503).
    """
    word = uuid4().hex
    digest = hashlib.sha256()
    size = 0
    with storage.write_stored_file(f"{FOLDER}/{word[:2]}/{word}") as opened:
        for chunk in chunks:
            size += len(chunk)
            _check_size(size)
            digest.update(chunk)
            opened.write(chunk)
        opened.flush()
        yield NewUpload(f"{FOLDER}/{word[:2]}/{word}", size, digest.hexdigest(), opened)


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise TooLarge(
            ImportRefusal.TOO_LARGE, _("The file is larger than 2 GB."), "file"
        )


def delete_import_upload(name: str) -> None:
    """Delete an upload and its parts; missing files are ignored."""
    if name:
        storage.delete_stored_files([name, name + PARTS])


def erase_user_imports(tenant_pk: int, user_uuid: UUID) -> None:
    """Delete all imports of a user: rows now, files on commit."""
    jobs = ImportJob.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    names = list(jobs.exclude(stored_as="").values_list("stored_as", flat=True))
    jobs.delete()
    for name in names:
        transaction.on_commit(partial(delete_import_upload, name))


def delete_orphan_import_files() -> int:
    """Delete files older than ORPHAN_AGE without an open import; return how many.

    Works over all tenants. Source: Ours: what a crash left behind is health data.
    """
    old = timezone.now() - ORPHAN_AGE
    removed = 0
    for file in storage.list_stored_files(FOLDER):
        name = file.name.partition(".")[0]
        rows = ImportJob.unscoped.filter(stored_as=name)
        if file.modified_at < old and not rows.exists():
            storage.delete_stored_files([file.name])
            removed += 1
    storage.delete_unfinished_uploads(FOLDER)
    return removed
