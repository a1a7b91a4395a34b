"""The bytes of an Apple Health export, checked while they are read."""

from __future__ import annotations

import re
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from users.states.imports import ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.sniffing import (
    UNPACKED_MAX,
    check_unpacked_size,
    find_export_in_archive,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ENTITY = b"<!ENTITY"
_ENCODING = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)[\"']")
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

    def mark(self) -> None:
        """Mark an element as read and released."""
        self._marked = self.bytes_read

    def read(self, size: int = -1) -> bytes:
        """Read the next bytes. Raises: FileRefused."""
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
            raise FileRefused(ImportRefusal.NOT_ALLOWED_XML)
        self._tail = chunk[-len(_ENTITY) :]
        return chunk

    @staticmethod
    def _check_encoding(head: bytes) -> None:
        declared = _ENCODING.search(head[:_DECLARATION])
        if declared is not None and declared[1].lower() not in _PLAIN:
            raise FileRefused(ImportRefusal.NOT_ALLOWED_XML)
        if b"\0" in head[:_DECLARATION]:
            raise FileRefused(ImportRefusal.NOT_ALLOWED_XML)


@contextmanager
def open_apple_health_export(path: Path) -> Iterator[tuple[WatchedSource, int]]:
    """Open the export's XML and return its length in bytes. Raises: FileRefused."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as raw:
            yield WatchedSource(raw, packed=None), path.stat().st_size
        return
    member = find_export_in_archive(path)
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member) as unpacked:
            yield (
                WatchedSource(unpacked, packed=member.compress_size),
                member.file_size,
            )
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        raise FileRefused(ImportRefusal.DAMAGED) from None
