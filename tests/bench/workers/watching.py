"""What processes and their database did meanwhile: processor, memory and waits."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg

from tests.bench.stage import NANOSECONDS, processes_below, resident_megabytes

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOK_S = 0.05
# What each session of others does now: runs a statement, or waits in one, for what.
_SESSIONS = """
    SELECT CASE WHEN state <> 'active' THEN 'transaction'
        ELSE coalesce(wait_event_type, 'running') END, count(*)
    FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> ALL(%s) AND state <> 'idle'
    GROUP BY 1
"""


class Used(NamedTuple):
    """Seconds that threads ran, and that they waited for a processor to run on."""

    ran: float
    queued: float


class Seen(NamedTuple):
    """What was seen while it was watched.

    `sessions` are sessions of the database by what they did, on the average;
    `megabytes` is the memory of the processes at the end, without the database's.
    """

    seconds: float
    processes: Used
    database: Used
    sessions: dict[str, float]
    megabytes: float


class Watch:
    """Look at processes with their descendants, and at the database, until `stop`.

    `hidden` are sessions of ours, which are not counted.
    """

    def __init__(
        self, url: str, *, processes: Iterable[int], server: int, hidden: Iterable[int]
    ) -> None:
        self._url, self._processes, self._server = url, list(processes), server
        self._hidden = list(hidden)
        self._sessions: Counter[str] = Counter()
        self._looks = 0
        self._stopping = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self._thread.start()
        self._ready.wait()

    def stop(self) -> Seen:
        self._stopping.set()
        self._thread.join()
        pids = [each for pid in self._processes for each in processes_below(pid)]
        return Seen(
            self._seconds,
            self._used_processes.total(),
            self._used_database.total(),
            {name: n / self._looks for name, n in self._sessions.items()},
            resident_megabytes(pids),
        )

    def _look_on(self) -> None:
        self._used_processes, self._used_database = _Threads(), _Threads()
        with psycopg.connect(self._url, autocommit=True) as opened:
            self._hidden.append(opened.info.backend_pid)
            self._look(opened)
            self._used_processes.begin()
            self._used_database.begin()
            self._sessions.clear()
            self._looks = 0
            began = time.monotonic()
            self._ready.set()
            while not self._stopping.wait(LOOK_S):
                self._look(opened)
            self._seconds = time.monotonic() - began

    def _look(self, opened: psycopg.Connection[Any]) -> None:
        self._sessions.update(
            dict(opened.execute(_SESSIONS, [self._hidden]).fetchall())
        )
        self._looks += 1
        for pid in self._processes:
            self._used_processes.look(processes_below(pid))
        below = processes_below(self._server)
        self._used_database.look(pid for pid in below if pid not in self._hidden)


class _Threads:
    """Adds up what threads used since `begin`, those included that end meanwhile.

    What one used between the last look and its end is missing.
    """

    def __init__(self) -> None:
        self._first: dict[str, Used] = {}
        self._last: dict[str, Used] = {}

    def look(self, pids: Iterable[int]) -> None:
        for pid in pids:
            with suppress(FileNotFoundError, ProcessLookupError):
                for each in Path(f"/proc/{pid}/task").iterdir():
                    ran, queued, _ = (each / "schedstat").read_text().split()
                    self._last[each.name] = Used(
                        int(ran) / NANOSECONDS, int(queued) / NANOSECONDS
                    )

    def begin(self) -> None:
        self._first = dict(self._last)

    def total(self) -> Used:
        nothing = Used(0, 0)
        pairs = [
            (used, self._first.get(name, nothing)) for name, used in self._last.items()
        ]
        return Used(
            sum(last.ran - before.ran for last, before in pairs),
            sum(last.queued - before.queued for last, before in pairs),
        )
