"""Files that outlive a request: written, read, found and removed by name.

They are in a folder (UPLOADS_DIR) or in a bucket (STORAGE_URL), which every host
reaches; names have `/` between their parts and are never an address that is served.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from django.core.files.storage import default_storage

from portal.lib.storage.answers import StorageAway

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from django.core.files import File

    from portal.lib.storage.answers import FoundFile

logger = logging.getLogger(__name__)


class FileStore(Protocol):
    """What a place for files can do; one is a backend of Django's STORAGES."""

    def new_file(
        self, name: str, *, durable: bool = True
    ) -> AbstractContextManager[BinaryIO]:
        """See `write_stored_file`."""

    def local_file(self, name: str) -> AbstractContextManager[Path]:
        """See `open_local_copy`."""

    def take_file(self, path: Path, name: str) -> None:
        """See `store_local_file`."""

    def find_files(self, folder: str) -> Iterator[FoundFile]:
        """See `list_stored_files`."""

    def open(self, name: str) -> File[bytes]:
        """See `open_stored_file`."""

    def delete(self, name: str) -> None:
        """Remove a file; one that is gone already is fine."""

    def delete_folder(self, name: str) -> None:
        """Remove all files below a name, which may be none."""

    def drop_unfinished(self, folder: str) -> None:
        """See `delete_unfinished_uploads`."""


def _store() -> FileStore:
    return cast(FileStore, default_storage)


@contextmanager
def write_stored_file(name: str, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Write a file on this machine, at `.name`; it is kept once the block ends well.

    Then it replaces what had the name, all at once; else nothing is kept. `durable`: it
    survives a power cut. Raises: storage_unavailable (503).
    """
    with _store().new_file(name, durable=durable) as opened:
        yield opened


@contextmanager
def open_local_copies(names: Iterable[str]) -> Iterator[list[Path]]:
    """Give stored files as local paths for other programs until the block ends.

    Raises: FileNotFoundError; storage_unavailable (503).
    """
    with ExitStack() as stack:
        yield [stack.enter_context(_store().local_file(name)) for name in names]


@contextmanager
def open_local_copy(name: str) -> Iterator[Path]:
    """Open one file as `open_local_copies` does."""
    with open_local_copies([name]) as (path,):
        yield path


def store_local_file(path: Path, name: str) -> None:
    """Keep a file of this machine under a name; it may be moved there.

    Raises: storage_unavailable (503).
    """
    _store().take_file(path, name)


def open_stored_file(name: str) -> File[bytes]:
    """Return a file to be read once, from its start on, in bounded memory.

    Raises: FileNotFoundError; storage_unavailable (503).
    """
    return _store().open(name)


def list_stored_files(folder: str) -> Iterator[FoundFile]:
    """List all files below a folder, those of one folder together; `""`: all.

    Raises: storage_unavailable (503).
    """
    return _store().find_files(folder)


def delete_stored_files(names: Iterable[str], *, folders: Iterable[str] = ()) -> None:
    """Remove files, and all below folders; what is gone already is fine.

    Where they can't be reached they stay for the sweep of their folder: what the caller
    has committed is not undone by it, and nobody waits for each of them in vain.
    """
    try:
        for name in names:
            _store().delete(name)
        for folder in folders:
            _store().delete_folder(folder)
    except StorageAway:
        logger.warning("files without a row stay until they are swept")


def delete_unfinished_uploads(folder: str) -> None:
    """Drop what uploads that broke off a day ago or earlier left in a store.

    Raises: storage_unavailable (503).
    """
    _store().drop_unfinished(folder)
