"""The bytes of an Apple Health export, checked while they are read."""

from __future__ import annotations

import re
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING

from users.states.imports import ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.uploads.archives import (
    UNPACKED_MAX,
    check_unpacked_size,
    find_export_in_archive,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ENTITY = b"<!ENTITY"
_ENCODING = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)[\"']")
_ROOT = b"<HealthData"
_DOCTYPE = re.compile(rb"<!DOCTYPE.*?(?=<HealthData)", re.DOTALL)
_HEAD_MAX = 512 * 1024
_END_BYTES = 200
_SAW = "an Apple Health export"
# What XML 1.0 has no place for, as bytes, references and code points.
_FORBIDDEN = bytes([*range(9), 11, 12, *range(14, 32)])
_REFERENCE = re.compile(
    rb"&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|6553[45]|x0*(?:[0-8bcBC]|[eEfF]|1[\da-fA-F]|[fF]{3}[eEfF]));"
)
_CUT_REFERENCE = re.compile(rb"&#?[xX]?[0-9a-fA-F]{0,6}\Z|\xef(?:\xbf)?\Z")
_REFERENCE_MAX = 64
_NONCHARACTER = b"\xef\xbf"
_PLAIN = {b"utf-8", b"utf8", b"us-ascii", b"ascii"}
_DECLARATION = 200
# Ours: no element of an export is a hundredth of that long, and what waits for its end
# waits in memory.
_ELEMENT_MAX = 8 * 1024**2


class WatchedSource:
    """A file that counts its bytes and refuses unexpected content.

    No export declares an entity; none is in another encoding, in which a declaration
    could hide; and none has an element that does not end, which is told by `mark` not
    being called.
    """

    def __init__(self, raw: IO[bytes], *, packed: int | None) -> None:
        self.bytes_read = 0
        self._marked = 0
        self._raw = raw
        self._packed = packed
        self._tail = b""
        self._head: bytes | None = b""
        self._reference = b""
        # The last bytes, of which the parser asks nothing when it recovers.
        self.end = b""

    def mark(self) -> None:
        """Mark an element as read and released."""
        self._marked = self.bytes_read

    def read(self, size: int = -1) -> bytes:
        """Read the next bytes, clean; empty at the end alone. Raises: FileRefused."""
        while True:
            before = self.bytes_read
            chunk = self._read_clean(size)
            if chunk:
                self.end = (self.end + chunk)[-_END_BYTES:]
                return chunk
            if self.bytes_read == before:
                return b""

    def _read_checked(self, size: int) -> bytes:
        """Read the next bytes as they are, counted and checked."""
        try:
            chunk = self._raw.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            raise FileRefused(ImportRefusal.DAMAGED) from None
        if not self.bytes_read:
            self._check_encoding(chunk)
        self.bytes_read += len(chunk)
        if self.bytes_read - self._marked > _ELEMENT_MAX:
            raise FileRefused(ImportRefusal.DAMAGED)
        if self._packed is None:
            if self.bytes_read > UNPACKED_MAX:
                raise FileRefused(ImportRefusal.TOO_LARGE)
        else:
            # What the archive said of itself may be a lie.
            check_unpacked_size(packed=self._packed, unpacked=self.bytes_read)
        if _ENTITY in (self._tail + chunk).upper():
            raise FileRefused(ImportRefusal.NOT_ALLOWED_XML, _SAW)
        self._tail = chunk[-len(_ENTITY) :]
        return chunk

    def _read_clean(self, size: int) -> bytes:
        """Return the next bytes without what XML forbids and iOS writes.

        Empty also while the declarations have no end yet.
        """
        chunk = self._read_checked(size)
        if self._head is not None:
            self._head += chunk
            is_whole = _ROOT in self._head or not chunk
            if not is_whole and len(self._head) <= _HEAD_MAX:
                return b""
            # Its declarations are unfinished as iOS 16 writes them, and hold nothing.
            chunk = _DOCTYPE.sub(b"", self._head, count=1)
            self._head = None
        chunk = (self._reference + chunk).translate(None, _FORBIDDEN)
        self._reference = b""
        if b"&#" in chunk:
            chunk = _REFERENCE.sub(b"", chunk)
        found = _CUT_REFERENCE.search(chunk)
        if found is not None and len(chunk) > _REFERENCE_MAX:
            self._reference = found[0]
            chunk = chunk[: found.start()]
        if _NONCHARACTER in chunk:
            chunk = chunk.replace(_NONCHARACTER + b"\xbe", b"")
            chunk = chunk.replace(_NONCHARACTER + b"\xbf", b"")
        return chunk

    @staticmethod
    def _check_encoding(head: bytes) -> None:
        declared = _ENCODING.search(head[:_DECLARATION])
        if declared is not None and declared[1].lower() not in _PLAIN:
            raise FileRefused(ImportRefusal.NOT_ALLOWED_XML)
        if b"\0" in head[:_DECLARATION]:
            raise FileRefused(ImportRefusal.NOT_ALLOWED_XML)


_NOT_OPENED = (
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
    *(OSError, ValueError),
)


@contextmanager
def open_apple_health_export(path: Path) -> Iterator[tuple[WatchedSource, int]]:
    """Open the export's XML and return its length in bytes. Raises: FileRefused."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as raw:
            yield WatchedSource(raw, packed=None), path.stat().st_size
        return
    member = find_export_in_archive(path)
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(zipfile.ZipFile(path))
            unpacked = opened.enter_context(archive.open(member))
        # Also a place that no file has: OSError, ValueError.
        except _NOT_OPENED:
            raise FileRefused(ImportRefusal.DAMAGED) from None
        yield WatchedSource(unpacked, packed=member.compress_size), member.file_size
