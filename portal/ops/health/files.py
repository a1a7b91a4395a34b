"""Checks of where files lie: uploads, the disk, backups."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db import ProgrammingError
from django.utils import timezone

from portal.lib.errors import Unavailable
from portal.lib.storage.address import AddressInvalid
from portal.ops.backup_notes import find_last_backup_time
from portal.ops.health.findings import Finding

DISK_FULL_BYTES = 2**30
DISK_SCARCE_SHARE = 0.1
BACKUP_TOO_OLD = timedelta(days=2)
_MORE_ROOM = "Add disk space, or shorten the retention times in Settings."


def check_upload_storage() -> Finding:
    """Check that uploads can be stored, and are not public in a bucket."""
    if settings.STORAGE_URL:
        return _check_bucket()
    folder = Path(settings.UPLOADS_DIR)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"assay")
    except OSError as error:
        return Finding(
            False,
            f"Uploads cannot be stored in {folder}: {error.strerror}.",
            "Set UPLOADS_DIR or VAR_DIR to a folder that this server can write to.",
        )
    return Finding(True, f"Uploads are stored in {folder}.")


def _check_bucket() -> Finding:
    try:
        from portal.lib.storage.bucket import BucketStorage

        bucket = BucketStorage(settings.STORAGE_URL)
    except (ImportError, AddressInvalid):
        return Finding(
            False, "STORAGE_URL can't be used.", "Run `manage.py check` for the reason."
        )
    name = f"doctor/{uuid4().hex}"
    try:
        with bucket.new_file(name) as probe:
            probe.write(b"assay")
        is_public, keeps_versions = bucket.is_public(name), bucket.keeps_versions()
        with bucket.open(name) as opened:
            is_whole = opened.read() == b"assay"
        found = [each.name for each in bucket.find_files("doctor")]
        bucket.delete(name)
    except (Unavailable, FileNotFoundError, OSError):
        is_whole = False
        found = []
    if not is_whole or name not in found:
        return Finding(
            False,
            f"Uploads can't be stored in the bucket {bucket.address}.",
            "Check STORAGE_URL and that its key may put, get, list and delete objects;"
            " the log has the bucket's response.",
        )
    if is_public:
        return Finding(
            False,
            f"Anyone can read the files of the bucket {bucket.address}.",
            "Disable public read access (Amazon: Block Public Access).",
        )
    if keeps_versions:
        return Finding(
            False,
            f"The bucket {bucket.address} keeps versions, so files of erased users"
            " are not deleted.",
            "Disable versioning, or expire old versions with a lifecycle rule.",
            works_still=True,
        )
    if bucket.address.is_clear and not bucket.address.is_here:
        return Finding(
            False,
            f"Files go to the bucket {bucket.address} unencrypted.",
            "Give it a certificate and use s3:// in STORAGE_URL.",
            works_still=True,
        )
    return Finding(True, f"Uploads are stored in the bucket {bucket.address}.")


def check_disk_space() -> Finding:
    """Check that the disk has room for uploads."""
    place = Path(settings.VAR_DIR if settings.STORAGE_URL else settings.UPLOADS_DIR)
    while not place.exists():
        place = place.parent
    usage = shutil.disk_usage(place)
    share = usage.free / usage.total
    sentence = (
        f"{usage.free / 2**30:.1f} GiB are free for uploads, {share:.0%} of the disk."
    )
    if usage.free < DISK_FULL_BYTES:
        return Finding(False, sentence, _MORE_ROOM)
    if share < DISK_SCARCE_SHARE:
        return Finding(False, sentence, _MORE_ROOM, works_still=True)
    return Finding(True, sentence)


def check_backup_age() -> Finding:
    """Check that a backup was made lately."""
    remedy = (
        "Run `manage.py backup FILE` every day and store the file on another machine."
    )
    try:
        made_at = find_last_backup_time()
    except ProgrammingError:  # no such table before the first migrate
        made_at = None
    if made_at is None:
        return Finding(False, "No backup has been made.", remedy, works_still=True)
    age = timezone.now() - made_at
    sentence = f"The last backup was made {age / timedelta(hours=1):.0f} h ago."
    if age > BACKUP_TOO_OLD:
        return Finding(False, sentence, remedy, works_still=True)
    return Finding(True, sentence)
