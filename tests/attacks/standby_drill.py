"""Drill docs/guides/standby.md on two bundled servers, its commands word by word.

Run `python -m tests.attacks.standby_drill [--seconds 2]`. Writers commit all the time
to whoever has the address. A standby is set up, the primary is lost with all its files,
the standby takes its place and gets a standby of its own; that one is lost, a new one
is made, and takes over in turn. Prints each step, how long nothing was confirmed, and
at the end what was confirmed and is not stored, which must be nothing: 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import psycopg

from tests.portal.lib.worker_process import wait_until
from tests.private_server import HOST, PrivateServer, free_port

if TYPE_CHECKING:
    from collections.abc import Callable

GUIDE = Path(__file__).parents[2] / "docs/guides/standby.md"
WRITERS = 4
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_COMMANDS = re.compile(r"^( *)```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_IN_SYNC = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
# Longer than a commit that waits for nobody takes on a busy machine.
_HANGS_S = 2.0


def read_commands() -> dict[str, list[str]]:
    """The shell commands of each section of the guide, block by block."""
    _, *parts = _HEADING.split(GUIDE.read_text())
    return {
        heading: [dedent(block) for _, block in _COMMANDS.findall(text)]
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
    }


class Copy(PrivateServer):
    """A server whose files come from another; started once they are there."""

    def __init__(self, of: PrivateServer, name: str) -> None:
        self._options, self._account = of._options, of._account
        self._programs = of._programs
        self._data = self._make_folder(of._data.with_name(f"{of._data.name}-{name}"))
        self.port = free_port()


class Writers:
    """Commits numbers to whoever has the address, and notes which were confirmed."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.confirmed: set[int] = set()
        self._numbers, self._stopping = count(1), threading.Event()
        self._pool = ThreadPoolExecutor(WRITERS)
        self._running = [self._pool.submit(self._write) for _ in range(WRITERS)]

    def stop(self) -> None:
        self._stopping.set()
        for each in self._running:
            each.result()
        self._pool.shutdown()

    def wait_for_more(self, number: int = WRITERS + 1) -> float:
        """Wait until so many more are confirmed; returns the seconds."""
        began, before = time.monotonic(), len(self.confirmed)
        wait_until(lambda: len(self.confirmed) >= before + number)
        return time.monotonic() - began

    def _write(self) -> None:
        while not self._stopping.is_set():
            with suppress(psycopg.Error), self._connect() as opened:
                while not self._stopping.is_set():
                    number = next(self._numbers)
                    opened.execute("INSERT INTO drill VALUES (%s)", [number])
                    self.confirmed.add(number)
            time.sleep(0.05)

    def _connect(self) -> psycopg.Connection[tuple[int]]:
        # The limit of a statement must not end the wait for the standby: the commit
        # would count as done.
        return psycopg.connect(
            f"host={HOST} port={self.port} user=postgres dbname=postgres",
            autocommit=True,
            options="-c statement_timeout=1000",
            connect_timeout=2,
        )


class Drill:
    """Two servers, the guide's commands, and writers."""

    def __init__(self, seconds: float, say: Callable[[str], None]) -> None:
        self.seconds, self.say = seconds, say
        self.commands = read_commands()
        self.primary: PrivateServer = PrivateServer()
        self.standby = Copy(self.primary, "0")
        self._copies = count(1)
        with self.primary.connect("postgres", "postgres") as opened:
            opened.execute("CREATE TABLE drill (number bigint PRIMARY KEY)")
        self.writers = Writers(self.primary.port)

    def run(self) -> set[int]:
        """Go through the guide; returns what was confirmed and is not stored."""
        self.follow(self.commands["Set up"])
        self.make_standby()
        self.lose_primary()
        self.replace_standby()
        self.lose_standby()
        self.lose_primary()
        self.writers.stop()
        with self.primary.connect("postgres", "postgres") as opened:
            stored = {n for (n,) in opened.execute("SELECT number FROM drill")}
        lost = self.writers.confirmed - stored
        self.say(f"{len(self.writers.confirmed):,} confirmed, {len(lost)} lost")
        return lost

    def make_standby(self) -> None:
        self.follow(self.commands["Follow"])
        self.standby.start()
        self.follow(self.commands["Confirm on both"])
        wait_until(self._is_in_sync)
        self.writers.wait_for_more()
        time.sleep(self.seconds)
        self.say("a standby follows, and both confirm")

    def lose_primary(self) -> None:
        self.primary.kill()
        shutil.rmtree(self.primary._data)
        began = time.monotonic()
        self.follow(self.commands["When the primary is lost"])
        self.primary = self.standby
        self.writers.port = self.primary.port  # which has the address now
        self.writers.wait_for_more()
        self.say(f"primary lost, standby confirms {time.monotonic() - began:.1f} s on")
        time.sleep(self.seconds)

    def replace_standby(self) -> None:
        self.standby = Copy(self.primary, str(next(self._copies)))
        self.make_standby()

    def lose_standby(self) -> None:
        self.standby.remove()
        self.writers.wait_for_more(0)
        time.sleep(_HANGS_S)
        before = len(self.writers.confirmed)
        time.sleep(_HANGS_S)
        if len(self.writers.confirmed) != before:
            raise RuntimeError("commits do not wait for the standby")
        alone, drop = self.commands["When the standby is lost"]
        self.follow([alone])
        self.writers.wait_for_more()
        self.say("standby lost, commits waited until the primary confirmed alone")
        self.follow([drop])
        self.replace_standby()

    def follow(self, blocks: list[str]) -> None:
        """Run commands of the guide, as the account of PostgreSQL."""
        account, as_root = self.primary._account, os.geteuid() == 0
        for block in blocks:
            done = subprocess.run(
                ["sh", "-eu", "-c", block],
                env={
                    "PATH": f"{self.primary._programs}:{os.environ['PATH']}",
                    "PRIMARY": self._address(self.primary, "postgres"),
                    "STANDBY": self._address(self.standby, "postgres"),
                    "FOLLOWS": self._address(self.primary, "replicator")
                    + " application_name=standby",
                    "REPLICATION_PASSWORD": "of a drill",
                    "PGDATA": str(self.standby._data),
                },
                cwd="/",
                capture_output=True,
                text=True,
                check=False,
                user=account.uid if as_root else None,
                group=account.gid if as_root else None,
                extra_groups=[] if as_root else None,
            )
            if done.returncode:
                raise RuntimeError(f"{block.strip()}\n{done.stderr}")

    def end(self) -> None:
        """Leave nothing behind."""
        self.writers._stopping.set()
        for server in (self.primary, self.standby):
            with suppress(AttributeError, FileNotFoundError):  # never started, or gone
                server.kill()
            shutil.rmtree(server._data, ignore_errors=True)

    def _address(self, server: PrivateServer, role: str) -> str:
        database = " dbname=postgres" if role == "postgres" else ""
        return f"host={HOST} port={server.port} user={role}{database}"

    def _is_in_sync(self) -> bool:
        with self.primary.connect("postgres", "postgres") as opened:
            (number,) = opened.execute(_IN_SYNC).fetchone() or (0,)
        return number == 1


def run_drill(seconds: float, say: Callable[[str], None]) -> set[int]:
    """Run the drill; returns what was confirmed and is not stored."""
    drill = Drill(seconds, say)
    try:
        return drill.run()
    finally:
        drill.end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    lost = run_drill(given.seconds, lambda text: print(text, flush=True))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
