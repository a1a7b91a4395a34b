"""Jobs: enqueue in the caller's transaction, retry with backoff, rescue the stalled.

The one place that knows procrastinate. Every job is idempotent: it runs at least once.
Must not be here: any job (an app's jobs.py).
"""

from __future__ import annotations

from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Protocol

from procrastinate import RetryStrategy
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.manager import JobManager
from procrastinate.tasks import configure_task

from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from portal.lib.tenancy import HasPrimaryKey

# Five tries over about half a minute: 2, 4, 8 and 16 s apart.
RETRY = RetryStrategy(max_attempts=5, exponential_wait=2)
# A worker without a heartbeat for this long is taken for dead.
HEARTBEAT_TIMEOUT_SECONDS = 15


class TenantJob(Protocol):
    """What runs for one tenant: keyword inputs only, JSON values only."""

    def __call__(self, *, tenant_pk: int, **inputs: Any) -> None: ...


@cache
def _manager() -> JobManager:
    # Not the app's own: inside a worker that one is on another connection, and a job
    # enqueued by a rolled-back job would run.
    return JobManager(DjangoConnector())


def enqueue(
    name: str, *, tenant: HasPrimaryKey, lock: str | None = None, **inputs: Any
) -> int:
    """Enqueue a job by name in the caller's transaction; returns its id.

    Jobs with one `lock` never run at the same time. Inputs are JSON values: ids, not
    health data. Source: Ours (architecture 1): a job exists if the caller commits.
    """
    task = app.tasks[name]  # KeyError: a fault of the caller
    return configure_task(
        name=name, job_manager=_manager(), lock=lock, queue=task.queue
    ).defer(tenant_pk=tenant.pk, **inputs)


def job(name: str, *, queue: str = "default") -> Callable[[TenantJob], TenantJob]:
    """Declare a job that runs for one tenant, inside `acting_for` it."""

    def register(function: TenantJob) -> TenantJob:
        @wraps(function)
        def run(*, tenant_pk: int, **inputs: Any) -> None:
            with acting_for(tenant_pk):
                function(tenant_pk=tenant_pk, **inputs)

        app.task(name=name, queue=queue, retry=RETRY)(run)
        return run

    return register
