"""What a team notices of another that does its worst: calls and jobs.

Run `python -m tests.bench.neighbors [--seconds N] [--callers N] [--rate R] [--apart]`.
A server of two processes and a worker serve two teams. One team's user is read and a
job of it is enqueued R times a second, first alone; then the other, with the demo's
data, asks for FHIR, summaries and timeseries from N callers at once, with 2,000 jobs of
its own in the queue. Its callers are a process of their own: in that of the reader they
would take turns with it. Prints median and p99 of the reads and of the waits of jobs,
and their ratios; must: p99 of the reads within 2 times.

With --apart also what the machine alone makes of it: beside a process that spends the
processor time of those callers and asks nothing, and beside callers with a wrong key,
who are refused before any work.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Any

from tests.bench.stage import SERVED_SECRET_KEY, database, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

JOB = "users.learn_cadences"
_WAITS = """
    SELECT extract(epoch FROM max(at) FILTER (WHERE type = 'started')
        - min(at) FILTER (WHERE type = 'deferred')) * 1000
    FROM procrastinate_events WHERE job_id = ANY(%s) GROUP BY job_id
    HAVING count(*) FILTER (WHERE type = 'started') > 0
"""


def call(port: int, path: str, key: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("GET", path, headers={"x-service-api-key": key})
        reply = connection.getresponse()
        reply.read()
        return reply.status
    finally:
        connection.close()


class Quiet:
    """The team that works as always, and what its calls and jobs take."""

    def __init__(self, tenant: Any, user: Any, key: str, port: int) -> None:
        self._tenant, self._path = tenant, f"/v2/user/{user.uuid}"
        self._key, self._port = key, port

    def work(self, seconds: float, rate: float) -> tuple[list[float], list[float]]:
        from django.db import connection

        from portal.lib.jobs.jobs import enqueue_job

        times, jobs, until = [], [], time.monotonic() + seconds
        while time.monotonic() < until:
            begun = time.perf_counter()
            assert call(self._port, self._path, self._key) == 200
            times.append((time.perf_counter() - begun) * 1000)
            jobs.append(enqueue_job(JOB, tenant=self._tenant))
            time.sleep(max(0, 1 / rate - (time.perf_counter() - begun)))
        time.sleep(2)
        with connection.cursor() as cursor:
            cursor.execute(_WAITS, [jobs])
            waits = [float(wait) for (wait,) in cursor.fetchall()]
        print(f"  {len(times)} reads, {len(waits)} of {len(jobs)} jobs begun")
        return times, waits


def flood(
    orders: Connection, port: int, paths: Sequence[str], key: str, callers: int
) -> None:
    """Call from so many threads until `orders` says anything.

    Sends the calls by status and the processor seconds they took a second.
    """
    stop, statuses = threading.Event(), Counter[int]()
    begun, spent = time.monotonic(), time.process_time()

    def call_on(number: int) -> None:
        while not stop.is_set():
            try:
                statuses[call(port, paths[number % len(paths)], key)] += 1
            except (OSError, HTTPException):
                statuses[0] += 1

    threads = [
        threading.Thread(target=call_on, args=(each,)) for each in range(callers)
    ]
    for thread in threads:
        thread.start()
    orders.recv()
    stop.set()
    for thread in threads:
        thread.join()
    share = (time.process_time() - spent) / (time.monotonic() - begun)
    orders.send((dict(sorted(statuses.items())), share))


def burn(orders: Connection, share: float) -> None:
    """Spend this share of a processor until `orders` says anything."""
    while not orders.poll(0.01 * (1 - share)):
        until = time.process_time() + 0.01 * share
        while time.process_time() < until:
            pass
    orders.send(({}, share))


@contextmanager
def beside(work: Any, *arguments: Any) -> Iterator[dict[str, Any]]:
    """Have a process do its work meanwhile; yields what it found, filled at the end."""
    found: dict[str, Any] = {}
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=work, args=(theirs, *arguments), daemon=True
    )
    process.start()
    time.sleep(3)  # it begins, and has calls waiting
    yield found
    ours.send("enough")
    found["counts"], found["share"] = ours.recv()
    process.join()


def p99(found: list[float]) -> float:
    return sorted(found)[min(len(found) - 1, int(len(found) * 0.99))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--callers", type=int, default=24)
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--apart", action="store_true")
    given = parser.parse_args()
    with database() as url:
        from django.db import connection

        from portal.demo.data import load_demo_data
        from portal.lib.jobs.jobs import enqueue_job
        from tests.factories.accounts import make_api_key, make_tenant
        from tests.factories.users import make_user
        from tests.jobs import run_waiting
        from users.models import User

        connection.settings_dict["CONN_MAX_AGE"] = 0
        loud = load_demo_data().sandboxes[0]
        run_waiting()
        user = User.objects.for_tenant(loud).order_by("pk").first()
        loud_key = make_api_key(tenant=loud)
        tenant = make_tenant()
        quiet_user, quiet_key = make_user(tenant=tenant), make_api_key(tenant=tenant)
        span = "start_date=2026-01-01&end_date=2026-12-31"
        heavy = (
            f"/fhir/R4/Observation?patient={user.uuid}&_count=500",
            "/fhir/R4/DiagnosticReport?_count=100",
            f"/v2/summary/activity/{user.uuid}?{span}",
            f"/v2/timeseries/{user.uuid}/heartrate/grouped?{span}",
        )
        environment = {
            **os.environ,
            "DATABASE_URL": url,
            "SECRET_KEY": SERVED_SECRET_KEY,
            "DEBUG": "false",
            "STATICFILES_COLLECTED": "false",
            "LOG_LEVEL": "ERROR",
        }
        worker = subprocess.Popen(
            [sys.executable, "manage.py", "worker"], env=environment
        )
        found: dict[str, tuple[list[float], list[float]]] = {}
        try:
            with served(url, workers=2, threads=4) as server:
                quiet = Quiet(tenant, quiet_user, quiet_key, server.port)
                work = partial(quiet.work, given.seconds, given.rate)
                callers = (server.port, heavy)
                quiet.work(5, given.rate)  # not counted: processes begin
                found["alone"] = work()
                for _ in range(2000):
                    enqueue_job(JOB, tenant=loud)
                with beside(flood, *callers, loud_key, given.callers) as other:
                    found["beside the other's worst"] = work()
                print(f"  the other's calls by status: {other['counts']}")
                share = other["share"]
                if given.apart:
                    with beside(burn, min(share, 0.99)):
                        found[f"beside {share:.2f} of a processor"] = work()
                    with beside(flood, *callers, "wrong", given.callers) as refused:
                        found["beside refused calls"] = work()
                    print(f"  refused: {refused}")
        finally:
            worker.kill()  # two thousand jobs are not waited for
            worker.wait()
            time.sleep(1)
    alone = found["alone"]
    for phase, (reads, jobs) in found.items():
        print(phase)
        for what, times, before in (
            ("reads", reads, alone[0]),
            ("jobs", jobs, alone[1]),
        ):
            print(
                f"  {what}: median {statistics.median(times):.1f} ms,"
                f" p99 {p99(times):.1f} ms, {p99(times) / p99(before):.2f} times"
            )
    worst = found["beside the other's worst"]
    return 0 if p99(worst[0]) <= 2 * p99(alone[0]) else 1


if __name__ == "__main__":
    sys.exit(main())
