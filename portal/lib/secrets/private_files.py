"""Files for this server's own account, whatever its umask: mails, logs, notes."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, Any

from django.core.mail.backends.filebased import EmailBackend

OWNER_ONLY, OWNER_ONLY_FOLDER = 0o600, 0o700


def open_owner_only_file(path: Path, mode: str, **how: Any) -> IO[Any]:
    """Open a file to write as `open` does; none but its owner may read it from then on.

    A new one is never open to others; one that was is closed to them. A pipe or a
    device keeps its rights. Raises: OSError.
    """
    return open(path, mode, opener=_open_for_owner, **how)


def _open_for_owner(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, OWNER_ONLY)
    try:
        present = os.fstat(descriptor).st_mode
        if stat.S_ISREG(present) and stat.S_IMODE(present) & ~OWNER_ONLY:
            os.fchmod(descriptor, OWNER_ONLY)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class PrivateFileBackend(EmailBackend):
    """Writes mails to files, as Django's own backend does: they hold links that let in.

    A folder that others could read is closed to them, with the mails that are in it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        folder = Path(self.file_path)
        if stat.S_IMODE(folder.stat().st_mode) & ~OWNER_ONLY_FOLDER:
            folder.chmod(OWNER_ONLY_FOLDER)
            for letter in folder.glob("*.log"):
                if letter.is_file() and not letter.is_symlink():
                    letter.chmod(OWNER_ONLY)

    def open(self) -> bool:
        if self.stream:
            return False
        # Its stubs lack the name, and take the stream for one of text.
        path = Path(self._get_filename())  # type: ignore[attr-defined]
        self.stream = open_owner_only_file(path, "ab")  # type: ignore[assignment]
        return True
