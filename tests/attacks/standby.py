"""A database with a standby that takes its place: what was answered must be there too.

The standby follows by streaming replication, and a commit is answered once both have
it. A failover is the loss of a machine: the primary is killed and its files are
deleted, the standby is promoted and takes its address, and a new standby is made from
it. Meanwhile the one that is left answers alone, as cluster managers have it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.portal.lib.worker_process import wait_until
from tests.private_server import HOST, PrivateServer, free_port

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

_IN_SYNC = (
    "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')"
)
_FOLLOWED = "ALTER SYSTEM SET synchronous_standby_names = '*'"
_ALONE = "ALTER SYSTEM RESET synchronous_standby_names"


class ReplicatedServer(PrivateServer):
    """A primary and its standby; `restart` is a failover."""

    def __init__(
        self,
        *,
        options: Sequence[str] = ("fsync=off",),
        folder: Path = Path("/var/tmp"),  # noqa: S108 - what is made there nobody guesses
    ) -> None:
        super().__init__(options=options, folder=folder)
        self.failovers = 0
        self._follow()

    def restart(self) -> None:
        """Lose the primary with all its files; the standby takes its address."""
        self.kill()
        shutil.rmtree(self._data)
        promoted = self._account.run(
            [str(self._programs / "pg_ctl"), "promote", "-w", "-D", str(self._second)]
        )
        assert promoted.returncode == 0, promoted.stderr
        address, self.port = self.port, self._second_port
        self._data, self._process = self._second, self._second_process
        self._tell(_ALONE)
        self.stop()
        self.port = address
        self.start()
        self.failovers += 1
        self._follow()

    def remove(self) -> None:
        super().remove()
        self._data, self._process = self._second, self._second_process
        super().remove()

    def _follow(self) -> None:
        """Make a standby, and have commits wait for it."""
        name = (
            f"{self._data.name.rpartition('+')[0] or self._data.name}+{self.failovers}"
        )
        self._second = self._make_folder(self._data.with_name(name))
        copied = self._account.run(
            [
                *(str(self._programs / "pg_basebackup"), "-h", HOST),
                *("-p", str(self.port), "-U", "postgres", "-D", str(self._second)),
                *("-R", "-X", "stream", "-c", "fast"),
            ]
        )
        assert copied.returncode == 0, copied.stderr
        primary = self._data, self._process, self.port
        self._data, self.port = self._second, free_port()
        self.start()
        self._second_process: subprocess.Popen[bytes] = self._process
        self._second_port = self.port
        self._data, self._process, self.port = primary
        self._tell(_FOLLOWED)
        wait_until(self._is_followed)

    def _tell(self, setting: str) -> None:
        with self.connect("postgres", "postgres") as opened:
            opened.execute(setting)
            opened.execute("SELECT pg_reload_conf()")

    def _is_followed(self) -> bool:
        with self.connect("postgres", "postgres") as opened:
            (count,) = opened.execute(_IN_SYNC).fetchone() or (0,)
        return count == 1
