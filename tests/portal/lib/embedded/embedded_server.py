"""A private bundled server for tests that stop, kill or spoil one.

`ServerUser` is another process that uses it, as a second command or test run would.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BASE_DIR = Path(__file__).resolve().parents[4]
WAIT_S = 20

USE_SERVER = """
import sys
from pathlib import Path
import psycopg
from portal.lib.embedded import server

started = server.start_embedded_postgres(cluster=sys.argv[1], root=Path(sys.argv[2]))
with psycopg.connect(started.url()) as connection:
    (role,) = connection.execute("SELECT current_user").fetchone()
print(role, started.url(), flush=True)
sys.stdin.read()
"""


class ServerUser:
    """A process that starts or joins the server, and uses it until told to leave."""

    def __init__(self, root, cluster="demo", **environment):
        self.url = ""
        self.process: Any = subprocess.Popen(
            [sys.executable, "-c", USE_SERVER, cluster, str(root)],
            cwd=BASE_DIR,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_connected(self):
        """Its role and the server's URL; its own error when it could not connect."""
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        role, self.url = line.split()
        return role

    def leave(self):
        """End in good order; returns once the process is gone."""
        self.process.communicate(timeout=WAIT_S)
        assert self.process.returncode == 0

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.communicate()


def processes_naming(text):
    """Pids of processes, other than our own, whose command line holds this text."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if str(text) in (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_until_nothing_names(text):
    """Whether no process names this text any more, within WAIT_S."""
    deadline = time.monotonic() + WAIT_S
    while processes_naming(text):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def kill_all_naming(text):
    """Leave nothing behind, whatever a failed test left running."""
    for pid in processes_naming(text):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
