"""A database and a server for benches, both gone at the end.

Benches run on the bundled PostgreSQL's test cluster, in a database of their own, or on
a private cluster that they may kill.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import django

from tests.private_server import PrivateServer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

TICKS = os.sysconf("SC_CLK_TCK")
NANOSECONDS = 1e9
SERVED_SECRET_KEY = "only-for-a-bench"


@contextmanager
def database() -> Iterator[str]:
    """Set Django up on a migrated, empty database; yields its `DATABASE_URL`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    os.environ["LAB_GATEWAY"] = "hl7"  # production needs one
    django.setup()
    from django.conf import settings
    from django.db import connection

    from portal.lib.embedded import server
    from tests.fence import open_connections

    open_connections()
    own = connection.settings_dict
    own["CLUSTER"] = server.TEST
    own["TEST"]["NAME"] = f"bench_{os.getpid()}"
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    settings.LOGGING_CONFIG = None
    try:
        yield (
            f"postgresql://{own['USER']}@/{own['NAME']}"
            f"?host={own['HOST']}&port={own['PORT']}"
        )
    finally:
        connection.creation.destroy_test_db(f"bench_{os.getpid()}", verbosity=0)


@contextmanager
def private_database(
    *,
    options: Sequence[str] = (),
    folder: Path = Path("/var/tmp"),  # noqa: S108 - what is made there nobody guesses
    kind: type[PrivateServer] = PrivateServer,
) -> Iterator[PrivateServer]:
    """Set Django up on a migrated server of its own, in a folder of its own."""
    database = kind(options=options, folder=folder)
    folder = Path(tempfile.mkdtemp(prefix="assay-bench-", dir=folder))
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "DATABASE_URL": database.url(),
        "SECRET_KEY": SERVED_SECRET_KEY,
        "STATICFILES_COLLECTED": "false",
        "VAR_DIR": str(folder / "var"),
        "WEBHOOK_LOCAL_HOSTS": "127.0.0.1",
        "LAB_GATEWAY": "hl7",
        "LOG_LEVEL": "ERROR",
    }
    django.setup()
    from django.core.management import call_command

    from tests.fence import open_connections

    open_connections()
    try:
        call_command("migrate", verbosity=0)
        yield database
    finally:
        from django.db import connection

        connection.close()
        database.remove()
        shutil.rmtree(folder)


class Served:
    """A web server with its worker processes, and what they have used."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port

    def pids(self) -> list[int]:
        """The server and all its descendants."""
        return processes_below(self.process.pid)

    def cpu_seconds(self) -> float:
        """User and system time so far."""
        total = 0
        for pid in self.pids():
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
            fields = after_name.split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def resident_megabytes(self) -> float:
        """As `resident_megabytes` of the server and all its descendants."""
        return resident_megabytes(self.pids())


def resident_megabytes(pids: Iterable[int]) -> float:
    """Proportional set size: shared pages are counted once over all processes."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


def processes_below(pid: int) -> list[int]:
    """A process and all its descendants."""
    found, queue = [], [pid]
    while queue:
        pid = queue.pop()
        found.append(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            queue += map(int, children.read_text().split())
    return found


def backend_seconds(pids: Iterable[int]) -> float:
    """CPU time so far of these database backends, which are on this machine."""
    spent = [Path(f"/proc/{pid}/schedstat").read_text().split()[0] for pid in pids]
    return sum(map(int, spent)) / NANOSECONDS


def other_backends(*known: int) -> list[int]:
    """Backends of this database besides our own connection's and the `known`."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return [pid for (pid,) in cursor.fetchall() if pid not in known]


@contextmanager
def served(
    database_url: str,
    *,
    application: str = "portal.server.application:application",
    workers: int = 1,
    threads: int = 2,
) -> Iterator[Served]:
    """Serve an application as production does, each worker with so many threads."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1] % 20000 + 10000
    environment = {
        **os.environ,
        "DATABASE_URL": database_url,
        "SECRET_KEY": SERVED_SECRET_KEY,
        "DEBUG": "false",
        "STATICFILES_COLLECTED": "false",
        "LOG_LEVEL": "ERROR",
        "WEB_THREADS": str(threads),
    }
    command = [sys.executable, "-m", "portal.server", "--log-level", "error"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", str(workers), "--application", application]
    process = subprocess.Popen(command, env=environment)
    try:
        _wait_until_it_listens(process, port)
        yield Served(process, port)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("the server ended")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the server does not listen")
