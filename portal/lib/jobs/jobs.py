"""Jobs: enqueue in the caller's transaction, retry with backoff, rescue the stalled.

The one place that knows procrastinate. Every job is idempotent: it runs at least once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.db import DatabaseError
from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.utils import connector_params
from procrastinate.exceptions import ConnectorException
from procrastinate.manager import JobManager
from procrastinate.tasks import configure_task
from procrastinate.worker import Worker

from portal.lib.database.outages import is_database_full
from portal.lib.errors import Unavailable
from portal.lib.jobs.turns import take_turns
from portal.lib.jobs.worker_database import WorkerDatabase
from portal.lib.tenancy import across_tenants, acting_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    import psycopg
    from procrastinate import JobContext
    from procrastinate.jobs import Job

    from portal.lib.tenancy import HasPrimaryKey

    # Takes `tenant_pk` and its own inputs, by keyword, JSON values only.
    TenantJob = Callable[..., None]

logger = logging.getLogger(__name__)

# Runs of one job in all; a run whose worker died counts.
ATTEMPTS = 5
# Seconds between runs: 2, 4, 8 and 16; while giving up fails, on and on up to this.
LONGEST_WAIT_SECONDS = 3600
# Until a job asks again for what did not answer.
PUT_OFF_SECONDS = 60
# A worker without a heartbeat for this long is taken for dead.
HEARTBEAT_TIMEOUT_SECONDS = 15
# How often a worker says that it lives and looks for jobs of dead ones.
HEARTBEAT_INTERVAL_SECONDS = 3.0
# New jobs arrive by notification; this finds those that wait for their next attempt.
POLLING_INTERVAL_SECONDS = 2.0
# How long a worker that was told to stop waits for its running jobs.
STOP_TIMEOUT = timedelta(seconds=120)
# How long the library keeps what it knows of finished jobs.
FINISHED_JOBS_RETENTION = timedelta(days=7)


class JobFailed(Exception):
    """A run failed; says where, and nothing of what the code had in hand."""


class JobGivenUp(JobFailed):
    """The last run failed, and what has to follow was done."""


class _Backoff(BaseRetryStrategy):
    """Try again until the job is given up, and giving up again until it succeeds."""

    def get_retry_decision(
        self, *, exception: BaseException, job: Job
    ) -> RetryDecision | None:
        if isinstance(exception, JobGivenUp):
            return None
        wait = min(2 ** (job.attempts + 1), LONGEST_WAIT_SECONDS)
        return RetryDecision(retry_in={"seconds": wait})


@cache
def _manager() -> JobManager:
    # Not the app's own: inside a worker that one is on another connection, and a job
    # enqueued by a rolled-back job would run.
    return JobManager(DjangoConnector())


def load_declared_jobs() -> None:
    """Import every app's jobs.py, once; without it no job is known by name."""
    app.perform_import_paths()  # type: ignore[no-untyped-call]  # the library's


def enqueue_job(
    name: str,
    *,
    tenant: HasPrimaryKey,
    lock: str | None = None,
    after: timedelta | None = None,
    priority: int = 0,
    **inputs: Any,
) -> int:
    """Enqueue a job by name in the caller's transaction; returns its id.

    Jobs with one `lock` never run at the same time; with `after` it waits that long
    first; of a team's jobs that wait those of a higher `priority` run first. Inputs are
    JSON values: ids, not health data. Raises KeyError for a name no app declares: a
    fault of the caller.
    Source: Ours (architecture 1): a job exists if the caller commits.
    """
    load_declared_jobs()
    task = app.tasks[name]
    return configure_task(
        name=name,
        job_manager=_manager(),
        lock=lock,
        queue=task.queue,
        schedule_in={"seconds": int(after.total_seconds())} if after else None,
        priority=priority,
    ).defer(tenant_pk=tenant.pk, **inputs)


def tenant_job(
    name: str, *, queue: str = "default", on_give_up: TenantJob | None = None
) -> Callable[[TenantJob], TenantJob]:
    """Declare a job that runs for one tenant, inside `acting_for` it.

    A run that raises is repeated with backoff, ATTEMPTS runs in all. Then `on_give_up`
    gets the same inputs, and is itself repeated until it succeeds, so that nothing
    waits forever for a job that is no more. A run that raises Unavailable, or finds the
    database's disk full, is put off by a minute, as often as it takes. Source: Ours
    (architecture 1).
    """

    def register(function: TenantJob) -> TenantJob:
        def run(context: JobContext, /, *, tenant_pk: int, **inputs: Any) -> None:
            with acting_for(tenant_pk):
                # Its workers died in every run: the body may be what kills them.
                failure = f"{name}: its workers died"
                if context.job.attempts < ATTEMPTS:
                    try:
                        function(tenant_pk=tenant_pk, **inputs)
                    except Exception as error:  # noqa: BLE001 - any fault is retried
                        failure = _describe(name, error)
                        if _is_put_off(context.job, error, failure):
                            return
                    else:
                        return
                logger.warning("run %s: %s", context.job.attempts + 1, failure)
                if context.job.attempts + 1 < ATTEMPTS:
                    raise JobFailed(failure)
                _give_up(name, on_give_up, tenant_pk=tenant_pk, **inputs)
                raise JobGivenUp(failure)

        app.task(name=name, queue=queue, retry=_Backoff(), pass_context=True)(run)
        return function

    return register


def periodic_job(
    cron: str, name: str, *, queue: str = "default"
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Declare a job that runs by the clock (UTC), over all tenants, one at a time.

    `cron` has five fields. A run is not repeated when it fails: the next one comes.
    Source: Ours (architecture 1).
    """

    def register(function: Callable[[], None]) -> Callable[[], None]:
        def run(timestamp: int) -> None:
            failure = ""
            with across_tenants(why=f"{name} runs by the clock, for no tenant"):
                try:
                    function()
                except Exception as error:  # noqa: BLE001 - logged without its text
                    failure = _describe(name, error)
            if failure:
                raise JobFailed(failure)

        # A lock, not a queueing lock: that one would make the rescue of a stalled run
        # collide with the next run in the queue.
        task = app.task(name=name, queue=queue, lock=name)(run)
        app.periodic(cron=cron)(task)
        return function

    return register


def _is_put_off(job: Job, error: Exception, why: str) -> bool:
    """Put a run off whose service is away; False for faults that are the job's own."""
    if not (isinstance(error, Unavailable) or is_database_full(error)):
        return False
    try:
        _reschedule(job, why)
    except (DatabaseError, ConnectorException):  # not even this is kept
        return False
    return True


def _reschedule(job: Job, why: str) -> None:
    """Enqueue a job again, for when the service it needs may be back.

    Its runs are not counted: nothing is wrong with it, and an outage has no bound.
    """
    logger.warning("put off: %s", why)
    configure_task(
        name=job.task_name,
        job_manager=_manager(),
        lock=job.lock,
        queue=job.queue,
        schedule_in={"seconds": PUT_OFF_SECONDS},
    ).defer(**job.task_kwargs)


def _give_up(name: str, on_give_up: TenantJob | None, **inputs: Any) -> None:
    if on_give_up is None:
        return
    try:
        on_give_up(**inputs)
    except Exception as error:  # noqa: BLE001 - any fault is retried
        failure = _describe(name, error)
    else:
        return
    logger.warning("giving up: %s", failure)
    raise JobFailed(f"giving up: {failure}")


def _describe(name: str, error: Exception) -> str:
    """Say what failed and where; the error's own text may hold health data."""
    steps = traceback.extract_tb(error.__traceback__)
    trace = " < ".join(f"{step.name}:{step.lineno}" for step in reversed(steps[-8:]))
    return f"{name}: {type(error).__name__} at {trace}"


# Jobs of others are left alone just after an outage: living workers were as silent as
# dead ones, and need a moment to say that they live.
_RESCUE = """
    UPDATE procrastinate_jobs
    SET status = 'todo', attempts = attempts + 1, scheduled_at = now(),
        abort_requested = false
    WHERE id IN (
        SELECT job.id
        FROM procrastinate_jobs AS job
        LEFT JOIN procrastinate_workers AS worker ON worker.id = job.worker_id
        WHERE job.status = 'doing' AND (
            job.id = ANY(%(lost)s)
            OR %(of_others)s
            AND pg_postmaster_start_time() < now() - make_interval(secs => %(timeout)s)
            AND (
                worker.id IS NULL
                OR worker.last_heartbeat < now() - make_interval(secs => %(timeout)s)
            )
        )
        FOR UPDATE OF job SKIP LOCKED
    )
"""


_OWN = """
    SELECT id FROM procrastinate_jobs
    WHERE status = 'doing' AND worker_id = %(worker_id)s
"""
# After an outage a worker that starts may have removed this one for dead.
_BEAT = """
    WITH alive AS (
        INSERT INTO procrastinate_workers (id, last_heartbeat)
        OVERRIDING SYSTEM VALUE VALUES (%(worker_id)s, now())
        ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()
        RETURNING id
    )
    UPDATE procrastinate_jobs AS job SET worker_id = alive.id
    FROM alive
    WHERE job.id = ANY(%(running)s) AND job.status = 'doing' AND worker_id IS NULL
"""


class _Pulse:
    """Reports a worker and rescues jobs of dead ones, also while the worker stops.

    Not a periodic job: it would wait behind busy slots and leave a row every few
    seconds.
    """

    def __init__(self) -> None:
        self.running: set[int | None] = set()
        self.suspects: set[int] = set()
        self.worker: Worker | None = None

    async def follow(
        self,
        call_next: Callable[[], Awaitable[Any]],
        context: JobContext,
        _worker: Worker,
    ) -> Any:
        """Worker middleware: know which jobs run."""
        self.running.add(context.job.id)
        try:
            return await call_next()
        finally:
            self.running.discard(context.job.id)

    async def revive(self, opened: psycopg.AsyncConnection[Any]) -> None:
        """Report the worker over a new connection, before it asks for jobs again."""
        if (beat := self._beat()) is not None:
            await opened.execute(_BEAT, beat)

    def _beat(self) -> dict[str, Any] | None:
        """What _BEAT takes; None before the worker is registered."""
        if self.worker is None or self.worker.worker_id is None:
            return None
        return {"worker_id": self.worker.worker_id, "running": list(self.running)}

    async def beat(self, database: WorkerDatabase) -> None:
        """Go on until cancelled."""
        while True:
            try:
                await self._beat_once(database)
            except ConnectorException as error:
                if database.is_stopped:
                    return  # while the database is away
                logger.warning("no heartbeat: %s", type(error).__name__)
            await asyncio.sleep(HEARTBEAT_INTERVAL_SECONDS)

    async def _beat_once(self, database: WorkerDatabase) -> None:
        lost: set[int] = set()
        if (beat := self._beat()) is not None:
            await database.execute_query_async(_BEAT, **beat)
            rows = await database.execute_query_all_async(
                _OWN, worker_id=beat["worker_id"]
            )
            # A job whose end could not be written is `doing` and runs no more. Just
            # before its start and after its end every job looks so, but not twice.
            idle = {row["id"] for row in rows} - self.running
            lost, self.suspects = idle & self.suspects, idle
        timeout = float(HEARTBEAT_TIMEOUT_SECONDS)
        # One statement, so that no two workers put back a job that runs again.
        await database.execute_query_async(
            _RESCUE,
            timeout=timeout,
            lost=list(lost),
            of_others=time.monotonic() - database.reached_at > timeout,
        )


def run_worker(*, concurrency: int, queues: Sequence[str] = ()) -> bool:
    """Run jobs until stopped; return whether a stop was requested.

    SIGTERM or SIGINT lets running jobs finish; a second one, or STOP_TIMEOUT, ends the
    process at once, and other workers run its jobs again. `queues` empty: all. A
    database that is away is waited for, at the start too. False means that a part of
    the worker failed. Source: Ours (architecture 1).
    """
    load_declared_jobs()
    return asyncio.run(_run_worker(concurrency, list(queues) or None))


async def _run_worker(concurrency: int, queues: list[str] | None) -> bool:
    loop = asyncio.get_running_loop()
    told_to_stop = False
    # Each thread keeps a connection; the two over are for looking up host names.
    loop.set_default_executor(ThreadPoolExecutor(concurrency + 2))
    pulse = _Pulse()
    database = WorkerDatabase(connector_params(), revive=pulse.revive)
    worker = pulse.worker = Worker(
        app=app,
        concurrency=concurrency,
        queues=queues,
        fetch_job_polling_interval=POLLING_INTERVAL_SECONDS,
        stalled_worker_timeout=HEARTBEAT_TIMEOUT_SECONDS,
        install_signal_handlers=False,
        task_middleware=app.worker_defaults.get("task_middleware"),
        worker_middleware=[pulse.follow],
    )

    def stop() -> None:
        nonlocal told_to_stop
        if told_to_stop:
            os._exit(1)
        told_to_stop = True
        database.stop()
        worker.stop()  # type: ignore[no-untyped-call]  # the library's
        # A thread can't be stopped from outside, a process can.
        loop.call_later(STOP_TIMEOUT.total_seconds(), os._exit, 1)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    with take_turns(database, places=concurrency):
        try:
            async with app.open_async():
                beating = asyncio.create_task(pulse.beat(database))
                try:
                    if not told_to_stop:
                        await worker.run()  # type: ignore[no-untyped-call]  # as above
                finally:
                    beating.cancel()
        except ConnectorException:
            if not told_to_stop:
                logger.exception("the worker failed")
    return told_to_stop


def delete_finished_jobs() -> None:
    """Forget jobs that ended longer than FINISHED_JOBS_RETENTION ago."""
    async_to_sync(_manager().delete_old_jobs)(
        nb_hours=int(FINISHED_JOBS_RETENTION / timedelta(hours=1)),
        include_failed=True,
        include_cancelled=True,
        include_aborted=True,
    )
