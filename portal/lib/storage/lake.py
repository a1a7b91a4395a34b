"""Where files for analysts lie: a folder or bucket of their own, if there is one.

Apart from uploads, which nobody but this server may read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from portal.lib.storage.folder import FolderStorage

if TYPE_CHECKING:
    from portal.lib.storage import FileStore


class SharedFolder(FolderStorage):
    """A folder whose group may read it: that of the analysts, as the operator sets."""

    FILE_MODE = 0o640
    FOLDER_MODE = 0o750


def open_lake_store() -> FileStore | None:
    """Return the place of LAKE_URL or LAKE_DIR, None if neither is set.

    Raises: AddressInvalid for a LAKE_URL that can't be read.
    """
    if settings.LAKE_URL:
        # Without boto3, which is an extra, a folder works still.
        from portal.lib.storage.bucket import BucketStorage

        return BucketStorage(settings.LAKE_URL)
    if settings.LAKE_DIR:
        return SharedFolder(location=settings.LAKE_DIR)
    return None


def describe_lake_place() -> str:
    """Return where the lake is, without a secret; empty if it is off."""
    from portal.lib.storage.address import AddressInvalid, parse_storage_url

    if not settings.LAKE_URL:
        return str(settings.LAKE_DIR or "")
    try:
        return f"the bucket {parse_storage_url(settings.LAKE_URL)}"
    except AddressInvalid:
        return "LAKE_URL"
