"""What a second, third and fourth worker add, by kind of work.

Run `python -m tests.bench.workers [--kinds KIND ...] [--processes N ...] [--seconds N]
[--rounds N] [--answers MS MS]`. On a private server, for each kind of
tests/bench/workers/kinds.py and each number of processes, its queue is filled for six
teams with more than they can do, and as many processes are started as production starts
them. Measured is from when all are ready and the first work is done.

Printed are units a second, that as a multiple of one process, and units a second of
processor time, theirs and the database's together: on so many processors as there are,
no more than that is possible, and where it falls processes are in each other's way.
Of the processes: processors they ran on, threads that waited for one, memory. Of the
database: processors, threads that waited for one, and sessions at a time that were in a
statement or a transaction, by what they did: run, wait for a lock, an inner lock
(LWLock), the disk (IO) or the client. For deliveries also POSTs at a time that waited
for their receiver: most answer in 20 to 50 ms (`--answers`), one in 3 s.

At the end of each kind, what was put in is compared with what came out: nothing is lost
and nothing done twice. Must (performance.md section 1): a second deliverer 1.5 times
the rate.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import psycopg

from tests.bench.stage import private_database
from tests.bench.workers.kinds import KINDS, Kind
from tests.bench.workers.watching import Seen, Watch
from tests.portal.lib.worker_process import wait_until

if TYPE_CHECKING:
    from tests.private_server import PrivateServer

DELIVERER_MUST = 1.5
# The part of what was put in that may be done before the end, so that all have work.
MOST = 0.8
POLL_S = 0.1
OPTIONS = ("shared_buffers=512MB", "max_wal_size=4GB")
WAITS = {
    "running": "run",
    "Lock": "lock",
    "LWLock": "inner",
    "IO": "disk",
    "Client": "client",
    "transaction": "idle",
}


class Point(NamedTuple):
    """One point of a curve; `elsewhere` is of those who waited for others."""

    rate: float
    seen: Seen
    elsewhere: float | None

    @property
    def rate_a_cpu_second(self) -> float:
        spent = self.seen.processes.ran + self.seen.database.ran
        return self.rate * self.seen.seconds / spent


def measure(
    kind: Kind, database: PrivateServer, *, processes: int, seconds: float
) -> Point:
    """Fill the queue and let so many processes work on it."""
    from django.db import connection

    base, more = kind.size
    before = kind.done()
    kind.fill(base + more * processes)
    full = kind.left()
    running = [
        subprocess.Popen([sys.executable, "manage.py", *kind.command])
        for _ in range(processes)
    ]
    try:
        with psycopg.connect(database.url(), autocommit=True) as opened:

            def are_ready() -> bool:
                row = opened.execute(kind.ready.encode()).fetchone()
                return row is not None and row[0] == processes

            wait_until(are_ready)
            hidden = [opened.info.backend_pid, connection.connection.info.backend_pid]
        kind.begin()
        wait_until(lambda: kind.done() > before)
        waited = kind.waiting_elsewhere()
        done, began = kind.done(), time.monotonic()
        watch = Watch(
            database.url(),
            processes=[each.pid for each in running],
            server=database.pid(),
            hidden=hidden,
        )
        while time.monotonic() - began < seconds and kind.left() > full * (1 - MOST):
            time.sleep(POLL_S)
        done, taken = kind.done() - done, time.monotonic() - began
        seen = watch.stop()
        elsewhere = kind.waiting_elsewhere()
        assert kind.left() > 0, "the queue of a team ran dry"
    finally:
        for each in running:
            each.terminate()
        for each in running:
            each.wait(150)
    return Point(
        done / taken,
        seen,
        None if elsewhere is None or waited is None else (elsewhere - waited) / taken,
    )


def head(kind: Kind) -> str:
    return (
        f"\n{kind.name} of {len(kind.tenants)} teams\n"
        f"{'':9} {'a':>7} {'of':>5} {'a CPU':>7}   {'processes':<19}"
        f"   {'database':<11}   sessions that\n"
        f"{'processes':9} {'second':>7} {'one':>5} {'second':>7}"
        f"   {'CPU':>5} {'queue':>5} {'MB':>7}   {'CPU':>5} {'queue':>5}   "
        + " ".join(f"{name:>6}" for name in WAITS.values())
        + f" {'others':>6} {'load':>5}"
    )


def line(processes: int, point: Point, one: Point) -> str:
    seen = point.seen
    ours, theirs = seen.processes, seen.database
    known = [seen.sessions.get(name, 0) for name in WAITS]
    others = "" if point.elsewhere is None else f"; {point.elsewhere:.0f} POSTs open"
    return (
        f"{processes:9} {point.rate:7.1f} {point.rate / one.rate:5.2f}"
        f" {point.rate_a_cpu_second:7.1f}   {ours.ran / seen.seconds:5.2f}"
        f" {ours.queued / seen.seconds:5.2f} {seen.megabytes:7.0f}  "
        f" {theirs.ran / seen.seconds:5.2f} {theirs.queued / seen.seconds:5.2f}   "
        + " ".join(f"{number:6.2f}" for number in known)
        + f" {sum(seen.sessions.values()) - sum(known):6.2f}"
        f" {os.getloadavg()[0]:5.1f}{others}"
    )


def measure_all(given: argparse.Namespace) -> bool:
    """Measure each kind; whether what must be reached was."""
    reached = True
    with private_database(options=OPTIONS) as database:
        from portal.lib.jobs.jobs import load_declared_jobs
        from tests.jobs import empty_queue

        load_declared_jobs()
        for name in given.kinds:
            with ExitStack() as stack:
                kind = KINDS[name](stack, given)
                print(head(kind), flush=True)
                rates: dict[int, list[float]] = {}
                for _ in range(given.rounds):
                    one = None
                    for processes in given.processes:
                        point = measure(
                            kind,
                            database,
                            processes=processes,
                            seconds=given.seconds,
                        )
                        one = one or point
                        rates.setdefault(processes, []).append(point.rate / one.rate)
                        print(line(processes, point, one), flush=True)
                print(f"{kind.check()}", flush=True)
                empty_queue()
                if name == "deliveries" and 2 in rates:
                    second = statistics.median(rates[2])
                    print(f"a second: {second:.2f}, must be {DELIVERER_MUST}")
                    reached = second >= DELIVERER_MUST
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--processes", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument(
        "--answers",
        nargs=2,
        type=float,
        default=[20, 50],
        metavar="MS",
        help="least and most milliseconds until a receiver answers (20 50)",
    )
    given = parser.parse_args()
    sys.exit(0 if measure_all(given) else 1)
