"""A small disk under a database and its uploads, which is filled and emptied."""

from __future__ import annotations

import errno
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from tests.attacks.installation import Installation

DISK_MB = 700
# So that a checkpoint does not need the disk by itself.
SMALL = ("fsync=off", "max_wal_size=96MB", "min_wal_size=32MB")
FULL_S = (3.0, 8.0)
_BLOCK = bytes(64 * 1024)


class SmallDisk:
    """A folder that has so much room."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Leave not a block."""
        with self._filler.open("ab", buffering=0) as opened:
            try:
                while True:
                    opened.write(_BLOCK)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def free(self) -> None:
        self._filler.unlink()


@contextmanager
def small_disk() -> Iterator[SmallDisk]:
    """Mount it; only root can."""
    with tempfile.TemporaryDirectory(prefix="assay-disk-", dir="/var/tmp") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "tmpfs"]
        subprocess.run([*mount, folder], check=True)
        try:
            yield SmallDisk(Path(folder))
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill_disk(installation: Installation, disk: SmallDisk, dice: random.Random) -> bool:
    """Fill the disk for some seconds under work; whether any call came meanwhile.

    A server that finds no room for its log ends; it is started once there is.
    """
    traffic = installation.traffic
    installation.traffic.note_kill("full disk")
    tried = sum(traffic.answers.values())
    disk.fill()
    until = time.monotonic() + dice.uniform(*FULL_S)
    installation.poll(lambda: time.monotonic() > until, FULL_S[1])
    disk.free()
    if installation.database.has_ended():
        installation.database.start()
        installation.exits["database, found no room for its log"] += 1
    return sum(traffic.answers.values()) > tried
