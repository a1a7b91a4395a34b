"""Detection of a file's format by its bytes, never by its name."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from users.states.imports import ImportFormat, ImportRefusal
from users.wearables.formats.refusals import FileRefused

if TYPE_CHECKING:
    from pathlib import Path

# Ours: what is no export has often more; a phone writes one route for each workout.
MEMBERS_MAX = 100_000
# Of an archive's directory: so many members with long names. More is not read into
# memory, whatever the archive says of it.
DIRECTORY_MAX = 64 * 1024**2
# What is read while a request waits, in some 0.2 s; a long directory is the worker's.
_DIRECTORY_SHORT = 1024**2
# Ours: such an export is of some 30 years.
UNPACKED_MAX = 8 * 1024**3
# Ours: exports shrink by about 30; what shrinks more is made to fill a disk.
RATIO_MAX = 300
_RATIO_FROM = 10 * 1024**2
_HEAD = 64 * 1024
_ENCRYPTED = 0x1
# The phone's language names the file, which is the one that is not the CDA beside it.
_EXPORT = re.compile(r"(?:[^/]+/)?(?!export_cda\.xml$)[^/]+\.xml", re.IGNORECASE)
_ROOT = re.compile(rb"<HealthData[\s>/]")


def detect_file_format(path: Path) -> ImportFormat:
    """Detect the format of a file by its first bytes or archive directory.

    A hostile file takes no longer: an archive with a long directory is detected by its
    first bytes, and `find_export_in_archive` refuses it later.

    Raises: FileRefused (file_empty, unsupported_file_type, file_damaged,
    encrypted_file, archive_too_large, no_export_inside). Source: Ours: a file's name
    and declared type can be wrong.
    """
    with path.open("rb") as opened:
        head = opened.read(_HEAD)
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise FileRefused(ImportRefusal.EMPTY)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        with suppress(_DirectoryTooLong):
            _find_export(path, directory_max=_DIRECTORY_SHORT)
        return ImportFormat.APPLE_HEALTH
    if head[8:12] == b".FIT":
        return ImportFormat.FIT
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        if _ROOT.search(head):
            return ImportFormat.APPLE_HEALTH
        raise FileRefused(ImportRefusal.UNSUPPORTED)
    if start.startswith(b"{"):
        return ImportFormat.NDJSON
    first = start.split(b"\n", 1)[0]
    is_named = b"resource" in first or b"series" in first
    if b"\0" not in head and is_named and b"value" in first:
        return ImportFormat.CSV
    raise FileRefused(ImportRefusal.UNSUPPORTED)


def find_export_in_archive(path: Path) -> zipfile.ZipInfo:
    """Find the export in an archive by its directory.

    Raises: FileRefused, as detect_file_format. The sizes in the directory are checked
    again during unpacking.
    """
    try:
        return _find_export(path, directory_max=DIRECTORY_MAX)
    except _DirectoryTooLong:
        raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE) from None


class _DirectoryTooLong(Exception):
    """The archive's directory exceeds the limit."""


class _Archive(io.BufferedReader):
    """An archive reader with parts of at most `part_max` bytes.

    The library reads a directory as one part, of the length that the archive states.
    """

    part_max = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Read bytes like a file. Raises: _DirectoryTooLong."""
        if size is not None and size > self.part_max:
            raise _DirectoryTooLong
        return super().read(size)


def _find_export(path: Path, *, directory_max: int) -> zipfile.ZipInfo:
    try:
        with _Archive(io.FileIO(path)) as opened:
            opened.part_max = directory_max
            with zipfile.ZipFile(opened) as archive:
                members = archive.infolist()
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError):
        raise FileRefused(ImportRefusal.DAMAGED) from None
    if len(members) > MEMBERS_MAX:
        raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE)
    exports = [each for each in members if _EXPORT.fullmatch(each.filename)]
    if not exports:
        raise FileRefused(ImportRefusal.NO_EXPORT)
    export = max(exports, key=lambda each: each.file_size)
    if export.flag_bits & _ENCRYPTED:
        raise FileRefused(ImportRefusal.ENCRYPTED)
    check_unpacked_size(packed=export.compress_size, unpacked=export.file_size)
    return export


def check_unpacked_size(*, packed: int, unpacked: int) -> None:
    """Refuse archives that unpack to too much. Raises: FileRefused."""
    if unpacked > UNPACKED_MAX or unpacked > max(_RATIO_FROM, packed * RATIO_MAX):
        raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE)
