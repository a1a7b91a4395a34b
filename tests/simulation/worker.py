"""A worker in this process: takes jobs that are due by the virtual clock, or dies."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from django.db import connection, transaction
from django.utils import timezone
from procrastinate.contrib.django import app
from procrastinate.jobs import Job

from portal.lib.jobs.jobs import JobFailed, JobGivenUp, load_declared_jobs
from tests.simulation.faults import Killed, fault

if TYPE_CHECKING:
    from random import Random

# How often a job is done in peace, cut short, run again, or run by two workers at once.
FATES = {"done": 32, "killed": 6, "twice": 2, "full": 1, "overtaken": 2}
MOST_RUNS = 80  # of one drain: a job that is enqueued for ever is a fault


class Waiting(NamedTuple):
    """A job in the queue."""

    id: int
    name: str
    lock: str | None
    queue: str
    attempts: int
    inputs: dict[str, Any]


def list_due_jobs() -> list[Waiting]:
    """Return jobs that may run now, oldest first; of one lock the first alone."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, task_name, lock, queue_name, attempts, args::text"
            " FROM procrastinate_jobs WHERE status = 'todo'"
            " AND (scheduled_at IS NULL OR scheduled_at <= %s)"
            " ORDER BY priority DESC, id",
            [timezone.now()],
        )
        found, locks = [], set()
        for id_, name, lock, queue, attempts, inputs in cursor.fetchall():
            if lock is None or lock not in locks:
                locks.add(lock)
                found.append(
                    Waiting(id_, name, lock, queue, attempts, orjson.loads(inputs))
                )
        return found


def run_due_jobs(dice: Random | None) -> list[str]:
    """Run jobs until none is due; with `dice` in any order, and each with its fate.

    Returns what ran, and how it ended.
    """
    load_declared_jobs()
    log = []
    for _ in range(MOST_RUNS):
        due = list_due_jobs()
        if not due:
            return log
        job = dice.choice(due) if dice else due[0]
        fate = dice.choices([*FATES], [*FATES.values()])[0] if dice else ""
        log.append(f"{job.name} {_run(job, fate, dice)}")
    raise AssertionError(f"the queue does not empty: {log[-5:]}")


def _run(job: Waiting, fate: str, dice: Random | None) -> str:
    task = app.tasks[job.name]
    own = Job(
        id=job.id,
        queue=job.queue,
        lock=job.lock,
        queueing_lock=None,
        task_name=job.name,
        task_kwargs=job.inputs,
        attempts=job.attempts,
    )
    context: Any = (SimpleNamespace(job=own),) if task.pass_context else ()
    act = partial(task.func, *context, **job.inputs)
    try:
        if dice and fate in ("killed", "full", "overtaken"):
            with fault(fate, dice, act):
                act()
        else:
            act()
    except Killed:
        _settle(job, "todo")
        return "killed"
    except JobGivenUp:
        _settle(job, "failed")
        return "given up"
    except JobFailed:
        _settle(job, "todo", wait=2 ** (job.attempts + 1))
        return "failed"
    # Its worker died before it could say that it ended, or not.
    _settle(job, "todo" if fate == "twice" else "succeeded")
    return "done"


def _settle(job: Waiting, status: str, wait: int = 0) -> None:
    due = timezone.now() + timedelta(seconds=wait)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE procrastinate_jobs SET status = %s::procrastinate_job_status,"
            " attempts = attempts + 1, scheduled_at = %s WHERE id = %s",
            [status, due, job.id],
        )
