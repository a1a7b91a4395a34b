"""Members of an upload: the file itself, or the files of an archive.

What an archive says of itself may be a lie: sizes are counted while bytes are unpacked.
"""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from users.states.imports import ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.uploads.archives import (
    check_unpacked_size,
    list_archive_members,
)
from users.wearables.formats.uploads.heads import HEAD_BYTES, Head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Of a member in an archive, looked at to tell the archive's form: a header is shorter.
SHORT_HEAD_BYTES = 8 * 1024
# Ours: Garmin and Strava put archives into their archive, no one puts them deeper.
_DEEPEST = 2
_NESTED_MAX = 2 * 1024**3
_IGNORED = ("__MACOSX/", ".DS_Store", "Thumbs.db")
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError),
    UnicodeDecodeError,  # of a name that says it is UTF-8
)


class MemberDamaged(Exception):
    """A member cannot be unpacked; the others can."""


class Budget:
    """The bytes unpacked of one upload. Raises FileRefused when they are too many."""

    def __init__(self, packed: int) -> None:
        self.packed = packed
        self.unpacked = 0

    def spend(self, number: int) -> None:
        """Count bytes. Raises: FileRefused."""
        self.unpacked += number
        check_unpacked_size(packed=self.packed, unpacked=self.unpacked)


class _Counted(io.RawIOBase):
    """A stream that counts what is read of it. Raises: MemberDamaged; FileRefused."""

    def __init__(self, raw: IO[bytes], spend: Callable[[int], None]) -> None:
        self._raw = raw
        self._spend = spend

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # it is a buffer
        try:
            chunk = self._raw.read(len(view))
        except _BROKEN as error:
            raise MemberDamaged from error
        self._spend(len(chunk))
        view[: len(chunk)] = chunk
        return len(chunk)


class Member:
    """One file; `name` is its path in the archive, or the upload's own name."""

    def __init__(
        self, name: str, opener: Callable[[], IO[bytes]], spend: Callable[[int], None]
    ) -> None:
        self.name = name
        self._opener = opener
        self._spend = spend

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open it from its start, unpacked. Raises: MemberDamaged; FileRefused."""
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(self._opener())
            except (*_BROKEN, RuntimeError) as error:
                raise MemberDamaged from error
            counted = io.BufferedReader(_Counted(raw, self._spend), HEAD_BYTES)
            start = counted.peek(2)[:2]
            if start != b"\x1f\x8b":
                yield counted
                return
            packed = gzip.GzipFile(fileobj=counted, mode="rb")
            yield io.BufferedReader(
                _Counted(packed, self._spend),  # type: ignore[arg-type]
                HEAD_BYTES,
            )

    def head(self, size: int = HEAD_BYTES) -> Head:
        """Return its head, unpacked. Raises: MemberDamaged; FileRefused."""
        with self.open() as opened:
            return Head(opened.read(size), self.name.removesuffix(".gz"))

    @contextmanager
    def as_path(self) -> Iterator[Path]:
        """Unpack it to a private file for readers of files. Raises: as open."""
        with tempfile.NamedTemporaryFile(prefix="assay-member-") as target:
            with self.open() as opened:
                shutil.copyfileobj(opened, target, HEAD_BYTES)
            target.flush()
            yield Path(target.name)


def iterate_upload_members(
    path: Path, name: str, budget: Budget, on_bytes: Callable[[int], None]
) -> Iterator[Member]:
    """Yield the members of an upload in the order of the archive.

    An archive in the archive is unpacked to a file and its members are yielded as its
    own. Raises: FileRefused.
    """
    with path.open("rb") as opened:
        is_archive = opened.read(4) == b"PK\x03\x04"

    def spend(number: int) -> None:
        budget.spend(number)
        on_bytes(number)

    if is_archive:
        yield from _members_of(path, spend, depth=1)
    else:
        yield Member(name, lambda: path.open("rb"), spend)


def _members_of(
    path: Path, spend: Callable[[int], None], *, depth: int
) -> Iterator[Member]:
    members = list_archive_members(path)
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN:
        raise FileRefused(ImportRefusal.DAMAGED, "a zip archive") from None
    with archive:
        for info in members:
            # One without a name is no file of a person, and is_dir fails for it.
            if not info.filename or info.is_dir():
                continue
            if any(each in info.filename for each in _IGNORED):
                continue
            if info.flag_bits & 1:
                raise FileRefused(ImportRefusal.ENCRYPTED)

            def opener(info: zipfile.ZipInfo = info) -> IO[bytes]:
                return archive.open(info)

            member = Member(info.filename, opener, spend)
            if not info.filename.lower().endswith(".zip") or depth >= _DEEPEST:
                yield member
                continue
            try:
                if info.file_size > _NESTED_MAX:
                    raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE)
                with member.as_path() as inner:
                    yield from _members_of(inner, spend, depth=depth + 1)
            except MemberDamaged:
                yield member
