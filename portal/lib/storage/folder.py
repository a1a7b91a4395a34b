"""Files in a folder of this machine, or one that all machines mount."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from django.core.files.storage import FileSystemStorage

from portal.lib.storage.answers import FoundFile, StorageAway

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

_OURS = 0o600
# What a disk or a mounted folder says that is full or away.
_AWAY = {
    errno.EDQUOT,
    errno.EIO,
    errno.ENOSPC,
    errno.EROFS,
    errno.ESTALE,
    errno.ETIMEDOUT,
}


class FolderStorage(FileSystemStorage):
    """A FileStore (portal.lib.storage) below `location`, readable by us alone."""

    FILE_MODE = _OURS
    FOLDER_MODE = 0o700

    @contextmanager
    def new_file(self, name: str, *, durable: bool = True) -> Iterator[BinaryIO]:
        """See portal.lib.storage."""
        path = Path(self.path(name))
        # Beside it: a rename is all or nothing within one folder alone.
        fresh = path.with_name(f"{path.name}.{uuid4().hex}")
        try:
            self._make_folder(path.parent)
            with open(fresh, "x+b", opener=_open_ours) as opened:
                if self.FILE_MODE != _OURS:
                    os.fchmod(opened.fileno(), self.FILE_MODE)
                yield opened
                opened.flush()
                if durable:
                    os.fsync(opened.fileno())
            fresh.replace(path)
            if durable:
                _sync_folder(path.parent)
        except OSError as error:
            if error.errno not in _AWAY:
                raise
            logger.warning("a file can't be kept: %s", errno.errorcode[error.errno])
            raise StorageAway from None
        finally:
            fresh.unlink(missing_ok=True)

    @contextmanager
    def local_file(self, name: str) -> Iterator[Path]:
        """See portal.lib.storage: the file itself."""
        path = Path(self.path(name))
        if not path.is_file():
            raise FileNotFoundError(errno.ENOENT, "no such file")
        yield path

    def take_file(self, path: Path, name: str) -> None:
        """See portal.lib.storage; usually on one disk with it, nothing is copied."""
        target = Path(self.path(name))
        self._make_folder(target.parent)
        shutil.move(path, target)
        target.chmod(self.FILE_MODE)

    def find_files(self, folder: str) -> Iterator[FoundFile]:
        """See portal.lib.storage."""
        root = Path(self.path(""))
        for place, folders, names in os.walk(root / folder):
            folders.sort()
            for name in sorted(names):
                path = Path(place, name)
                with suppress(FileNotFoundError):  # removed since it was listed
                    modified = path.stat().st_mtime
                    yield FoundFile(
                        path.relative_to(root).as_posix(),
                        datetime.fromtimestamp(modified, UTC),
                    )

    def delete_folder(self, name: str) -> None:
        """See portal.lib.storage."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.path(name))

    def drop_unfinished(self, folder: str) -> None:
        """Nothing: what is half written here has a name, and is swept by it."""

    def _make_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            self._make_folder(folder.parent)
            folder.mkdir(mode=self.FOLDER_MODE, exist_ok=True)


def _open_ours(path: str, flags: int) -> int:
    return os.open(path, flags, _OURS)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
