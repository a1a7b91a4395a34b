"""A PostgreSQL of a test's or a bench's own, over TCP, to be killed and started again.

`entered` points this process's connection at it, so that factories, forks and processes
with the surroundings of the test use it as they use the suite's.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from portal.lib.embedded.programs import find_postgres_account, find_postgres_programs
from portal.lib.embedded.server import INITDB_OPTIONS, default_postgres_data_folder
from tests.portal.lib.worker_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOST = "127.0.0.1"
ROLE = "assay"


class PrivateServer:
    """Made and started; `remove` leaves nothing behind.

    Its files survive a kill of its processes without fsync, which takes most of the
    time of a test; a bench that measures the database starts it with other options.
    """

    def __init__(
        self,
        *,
        options: Sequence[str] = ("fsync=off",),
        folder: Path = Path("/var/tmp"),  # noqa: S108 - what is made there nobody guesses
        programs: Path | None = None,
    ) -> None:
        self._options = [part for each in options for part in ("-c", each)]
        self._account = find_postgres_account()
        self._programs = programs or find_postgres_programs(
            default_postgres_data_folder(), self._account
        )
        name = f"assay-private-{os.getpid()}-{secrets.token_hex(4)}"
        self._data = self._make_folder(folder / name)
        made = self._account.run(
            [str(self._programs / "initdb"), "-D", str(self._data), *INITDB_OPTIONS]
        )
        assert made.returncode == 0, made.stderr
        self.port = free_port()
        self.start()
        with self.connect("postgres", "postgres") as opened:
            opened.execute(f"CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOBYPASSRLS")
            opened.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")

    def start(self) -> None:
        """Start it; returns once it answers."""
        if settings.configured:
            connection.close()  # this process's own, which is dead
        as_root = os.geteuid() == 0
        self._process = subprocess.Popen(
            [
                *(str(self._programs / "postgres"), "-D", str(self._data)),
                *("-p", str(self.port), "-c", f"listen_addresses={HOST}"),
                *("-c", "unix_socket_directories=", *self._options),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            user=self._account.uid if as_root else None,
            group=self._account.gid if as_root else None,
            extra_groups=[] if as_root else None,
            start_new_session=True,
        )
        wait_until(self._answers)

    def connect(
        self, role: str = ROLE, database: str = ROLE
    ) -> psycopg.Connection[tuple[int]]:
        return psycopg.connect(
            host=HOST, port=self.port, user=role, dbname=database, autocommit=True
        )

    def url(self) -> str:
        """A `DATABASE_URL` of the role without rights."""
        return f"postgresql://{ROLE}@{HOST}:{self.port}/{ROLE}"

    def restart(self) -> None:
        """Kill it as a container is killed, then start it, which recovers."""
        self.kill()
        self.start()

    def kill(self) -> None:
        """kill -9 of all its processes; returns once they are gone."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)  # so that it starts no more
        pids = self._pids()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))

    def pid(self) -> int:
        return self._process.pid

    def has_ended(self) -> bool:
        """Whether it ended by itself."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """Stop it as an upgrade does: sessions are ended, each is given a reason."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait()

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self._data)

    def _make_folder(self, folder: Path) -> Path:
        folder.mkdir(mode=0o700)
        os.chown(folder, self._account.uid, self._account.gid)
        return folder

    def _pids(self) -> list[int]:
        """Its postmaster, and the sessions' processes that are its children."""
        own = self._process.pid
        listed = Path(f"/proc/{own}/task/{own}/children")
        children = listed.read_text().split() if listed.exists() else []
        return [own, *map(int, children)] if self._process.poll() is None else []

    def _answers(self) -> bool:
        with suppress(psycopg.OperationalError):
            self.connect("postgres", "postgres").close()
            return True
        return False


@contextmanager
def entered(server: PrivateServer) -> Iterator[None]:
    """Let this process's connection, and all it starts, use the server's database."""
    own = connection.settings_dict
    kept = dict(own)
    connection.close()
    own.update(NAME=ROLE, HOST=HOST, PORT=str(server.port), USER=ROLE, PASSWORD="")
    try:
        yield
    finally:
        connection.close()
        own.update(kept)


def make_private_server() -> PrivateServer:
    """A server with today's schema."""
    server = PrivateServer()
    with entered(server):
        call_command("migrate", verbosity=0, skip_checks=True)
    return server


def free_port() -> int:
    """A port below those that systems give away by themselves."""
    while True:
        port = random.randrange(20_000, 32_000)  # noqa: S311 - no secret
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)):
                return port
