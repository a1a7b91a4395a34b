"""Jobs that count themselves, for tests of the queue and of killed workers.

Imported by the test and by the worker processes it starts. Each run notes its start in
`counting_start`, which stays when the run is killed; `counting` holds each number once.
"""

from __future__ import annotations

import time
from pathlib import Path

from django.db import connection, transaction

from portal.lib.jobs.jobs import enqueue_job, periodic_job, tenant_job


def make_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE counting (number int PRIMARY KEY)")
        cursor.execute("CREATE TABLE counting_start (number int, pid int)")


def drop_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE counting, counting_start")


def counted() -> list[int]:
    return _all("SELECT number FROM counting ORDER BY number")


def starts() -> list[int]:
    return _all("SELECT number FROM counting_start ORDER BY number")


def _all(query: str) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [row[0] for row in cursor.fetchall()]


def _execute(query: str, *inputs: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, inputs)


@tenant_job("tests.count")
def count(*, tenant_pk: int, number: int, seconds: float = 0) -> None:
    """Count a number, taking this long over it."""
    _execute("INSERT INTO counting_start VALUES (%s, pg_backend_pid())", number)
    with transaction.atomic():
        _execute("INSERT INTO counting VALUES (%s) ON CONFLICT DO NOTHING", number)
        _execute("SELECT pg_sleep(%s)", seconds)


@tenant_job("tests.hold")
def hold(*, tenant_pk: int, number: int, until: str) -> None:
    """Note a start, then do nothing with the database until this file is there."""
    _execute("INSERT INTO counting_start VALUES (%s, pg_backend_pid())", number)
    deadline = time.monotonic() + 60
    while not Path(until).exists() and time.monotonic() < deadline:
        time.sleep(0.05)


class Tenant:
    """Enough of a tenant to enqueue for."""

    def __init__(self, pk: int) -> None:
        self.pk = pk


@tenant_job("tests.enqueue_and_fail")
def enqueue_and_fail(*, tenant_pk: int) -> None:
    """Enqueue another job in a transaction that is rolled back."""
    with transaction.atomic():
        enqueue_job("tests.count", tenant=Tenant(tenant_pk), number=1)
        raise LookupError("Rosa Beispiel")


@tenant_job("tests.enqueue_another")
def enqueue_another(*, tenant_pk: int) -> None:
    with transaction.atomic():
        enqueue_job("tests.count", tenant=Tenant(tenant_pk), number=2)


given_up: list[int] = []
# What giving up does in this process: count, after raising these.
giving_up_raises: list[Exception] = []


def give_up(*, tenant_pk: int, number: int) -> None:
    if giving_up_raises:
        raise giving_up_raises.pop()
    given_up.append(number)


@tenant_job("tests.fail", on_give_up=give_up)
def fail(*, tenant_pk: int, number: int) -> None:
    _execute("INSERT INTO counting_start VALUES (%s, 0)", number)
    raise LookupError("Rosa Beispiel")


def declare_tick() -> None:
    """Declare a job that notes a start each second; for a process of its own."""

    @periodic_job("* * * * * *", "tests.tick")
    def tick() -> None:
        _execute("INSERT INTO counting_start VALUES (extract(epoch FROM now()), 0)")
