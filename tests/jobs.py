"""Jobs in tests: look into the queue, and run what waits in it.

A worker sees nothing inside an ordinary database test, so `run_jobs` implies a
transactional one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import pytest
from django.db import connection
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector

from portal.lib.jobs.jobs import load_declared_jobs
from portal.lib.jobs.turns import take_turns

if TYPE_CHECKING:
    from procrastinate.periodic import PeriodicTask

TABLES = (
    "procrastinate_events",
    "procrastinate_periodic_defers",
    "procrastinate_jobs",
    "procrastinate_workers",
)


class Queued(NamedTuple):
    """A job in the library's table."""

    name: str
    queue: str
    lock: str | None
    status: str
    attempts: int
    inputs: dict[str, Any]


def queued() -> list[Queued]:
    """Every job the library knows, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT task_name, queue_name, lock, status::text, attempts, args::text"
            " FROM procrastinate_jobs ORDER BY id"
        )
        return [
            Queued(name, queue, lock, status, attempts, orjson.loads(inputs))
            for name, queue, lock, status, attempts, inputs in cursor.fetchall()
        ]


def make_all_due() -> None:
    """Let jobs that wait for their next attempt run now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE procrastinate_jobs SET scheduled_at = NULL WHERE status = 'todo'"
        )


def empty_queue() -> None:
    """Django's flush between transactional tests leaves the library's tables."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(TABLES)} RESTART IDENTITY CASCADE")


def periodic_jobs() -> dict[tuple[str, str], PeriodicTask[..., Any, Any]]:
    """Every declared periodic job, by name and id."""
    load_declared_jobs()
    return app.periodic_registry.periodic_tasks


def forget_periodic_jobs() -> None:
    """Let workers of this process leave the clock alone: no test depends on it."""
    periodic_jobs().clear()


def run_waiting(*, concurrency: int = 1) -> None:
    """Run all jobs that are due, as a worker does, until none is."""
    kept = dict(periodic_jobs())
    forget_periodic_jobs()
    connector = DjangoConnector().get_worker_connector()
    try:
        with take_turns(connector, places=concurrency) as working:
            working.run_worker(
                wait=False,
                concurrency=concurrency,
                install_signal_handlers=False,
                listen_notify=False,
            )
    finally:
        app.periodic_registry.periodic_tasks.update(kept)


@pytest.fixture
def job_queue(transactional_db):
    """An empty queue, in a test whose rows a worker can see."""
    empty_queue()
    yield
    empty_queue()


@pytest.fixture
def run_jobs(job_queue):
    """Call it to run all jobs that are due."""
    return run_waiting
