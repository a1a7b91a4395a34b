"""Directories of archives, and how much one may unpack to."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import TYPE_CHECKING

from users.states.imports import ImportRefusal
from users.wearables.formats.refusals import FileRefused

if TYPE_CHECKING:
    from pathlib import Path

# Ours: what is no export has often more; a phone writes one route for each workout.
MEMBERS_MAX = 100_000
# Of an archive's directory: so many members with long names. More is not read into
# memory, whatever the archive says of it.
DIRECTORY_MAX = 64 * 1024**2
# Ours: such an export is of some 30 years.
UNPACKED_MAX = 8 * 1024**3
# Ours: exports shrink by about 30; what shrinks more is made to fill a disk.
RATIO_MAX = 300
_RATIO_FROM = 10 * 1024**2
ENCRYPTED = 0x1
# The phone's language names the file, which is the one that is not the CDA beside it.
_EXPORT = re.compile(r"(?:[^/]+/)?(?!export_cda\.xml$)[^/]+\.xml", re.IGNORECASE)


def find_export_in_archive(path: Path) -> zipfile.ZipInfo:
    """Find the export in an archive by its directory.

    Raises: FileRefused (file_damaged, archive_too_large, encrypted_file,
    no_export_inside). The sizes in the directory are checked again during unpacking.
    """
    export = find_apple_health_export(list_archive_members(path))
    if export is None:
        raise FileRefused(ImportRefusal.NO_EXPORT)
    return export


class DirectoryTooLong(Exception):
    """The archive's directory exceeds the limit."""


class _Archive(io.BufferedReader):
    """An archive reader with parts of at most `part_max` bytes.

    The library reads a directory as one part, of the length that the archive states.
    """

    part_max = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Read bytes like a file. Raises: DirectoryTooLong."""
        if size is not None and size > self.part_max:
            raise DirectoryTooLong
        return super().read(size)


def list_archive_members(
    path: Path, *, directory_max: int = DIRECTORY_MAX
) -> list[zipfile.ZipInfo]:
    """Return the directory of an archive. Raises: FileRefused; DirectoryTooLong.

    The latter only if it is longer than a `directory_max` of the caller's own.
    """
    try:
        with _Archive(io.FileIO(path)) as opened:
            opened.part_max = directory_max
            with zipfile.ZipFile(opened) as archive:
                members = archive.infolist()
    except DirectoryTooLong:
        if directory_max < DIRECTORY_MAX:
            raise
        raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE) from None
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError):
        raise FileRefused(ImportRefusal.DAMAGED, "a zip archive") from None
    if len(members) > MEMBERS_MAX:
        raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE)
    return members


def find_apple_health_export(
    members: list[zipfile.ZipInfo],
) -> zipfile.ZipInfo | None:
    """Return the XML that is an archive's export, None without. Raises: FileRefused."""
    exports = [each for each in members if _EXPORT.fullmatch(each.filename)]
    if not exports:
        return None
    export = max(exports, key=lambda each: each.file_size)
    if export.flag_bits & ENCRYPTED:
        raise FileRefused(ImportRefusal.ENCRYPTED)
    check_unpacked_size(packed=export.compress_size, unpacked=export.file_size)
    return export


def check_unpacked_size(*, packed: int, unpacked: int) -> None:
    """Refuse archives that unpack to too much. Raises: FileRefused."""
    if unpacked > UNPACKED_MAX or unpacked > max(_RATIO_FROM, packed * RATIO_MAX):
        raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE)
