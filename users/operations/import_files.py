"""Files of imports: what was uploaded, and what was read of it until it is stored.

They lie under random names outside the web root, are never served, and go as soon as
their import ends. Must not be here: what may be uploaded.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from portal.lib.errors import TooLarge
from users.models import ImportJob
from users.states.imports import ImportRefusal

if TYPE_CHECKING:
    from collections.abc import Iterable
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
class StoredFile:
    """A file that was written: its name in the default storage, size and digest."""

    name: str
    size: int
    sha256: str


def store_chunks(chunks: Iterable[bytes]) -> StoredFile:
    """Write an upload to disk for good, in bounded memory.

    Raises: file_too_large (413), nothing is left then.
    """
    word = uuid4().hex
    name = f"{FOLDER}/{word[:2]}/{word}"
    path = path_of(name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    size = 0
    try:
        with path.open("xb") as opened:
            os.fchmod(opened.fileno(), 0o600)
            for chunk in chunks:
                size += len(chunk)
                _check_size(size)
                digest.update(chunk)
                opened.write(chunk)
            opened.flush()
            # The row that names the file survives a power cut, so the file has to.
            os.fsync(opened.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return StoredFile(name, size, digest.hexdigest())


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise TooLarge(ImportRefusal.TOO_LARGE, "A file has at most 2 GB.", "file")


def path_of(name: str) -> Path:
    """Where a stored file is."""
    return Path(default_storage.path(name))


def remove_file(name: str) -> None:
    """Remove an upload and what was read of it; what is gone already is fine."""
    if name:
        path_of(name).unlink(missing_ok=True)
        path_of(name + PARTS).unlink(missing_ok=True)


def erase_imports(tenant_pk: int, user_uuid: UUID) -> None:
    """Remove all imports of a user, with their rows now and their files on commit."""
    jobs = ImportJob.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    names = list(jobs.exclude(stored_as="").values_list("stored_as", flat=True))
    jobs.delete()
    for name in names:
        transaction.on_commit(partial(remove_file, name))


def sweep_orphan_imports() -> int:
    """Remove files older than ORPHAN_AGE that no open import names; returns how many.

    Works over all tenants. Source: Ours: what a crash left behind is health data.
    """
    root = path_of(FOLDER)
    old = (timezone.now() - ORPHAN_AGE).timestamp()
    removed = 0
    for path in root.glob("*/*"):
        try:
            is_old = path.stat().st_mtime < old
        except FileNotFoundError:  # removed since it was listed
            continue
        name = f"{FOLDER}/{path.parent.name}/{path.name.partition('.')[0]}"
        if is_old and not ImportJob.unscoped.filter(stored_as=name).exists():
            path.unlink(missing_ok=True)
            removed += 1
    return removed
