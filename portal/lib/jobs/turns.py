"""Turns of teams at the queue: how a worker chooses its next job."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from procrastinate.contrib.django import procrastinate_app
from procrastinate.jobs import Job
from procrastinate.manager import JobManager

from portal.lib.budgets import find_share, find_shares_by_queue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from procrastinate import App
    from procrastinate.connector import BaseAsyncConnector

_FETCH = """
    SELECT id, status, task_name, priority, lock, queueing_lock, args, scheduled_at,
        queue_name, attempts, worker_id, coalesce(args ->> 'tenant_pk', '') AS team
    FROM assay_fetch_job(
        %(queues)s::varchar[], %(worker)s, %(served)s::text[], %(share)s, %(shares)s
    )
"""
# Teams whose last turn a worker remembers.
_REMEMBERED = 1000


class TurnTaking(JobManager):
    """Fetches jobs team by team (`assay_fetch_job`), not in order of arrival.

    The next job is of the team with fewest at work, then of the one that this worker
    served longest ago; of a team's jobs the order stays. `places` is how many jobs the
    worker runs at once, of which one team has a share (portal.lib.budgets).
    """

    connector: BaseAsyncConnector

    def __init__(self, connector: BaseAsyncConnector, places: int) -> None:
        super().__init__(connector)
        self._share = find_share(places)
        self._shares = find_shares_by_queue(places)
        self._served: dict[str, None] = {}

    async def fetch_job(
        self, queues: Iterable[str] | None, worker_id: int
    ) -> Job | None:
        """Take the next job, which is `doing` from now on; None where none is due."""
        row = await self.connector.execute_query_one_async(
            _FETCH,
            queues=queues,
            worker=worker_id,
            served=list(self._served),
            share=self._share,
            shares=self._shares,
        )
        if row["id"] is None:
            return None
        self._served.pop(row["team"], None)
        self._served[row["team"]] = None
        if len(self._served) > _REMEMBERED:
            del self._served[next(iter(self._served))]
        return Job.from_row(row)


@contextmanager
def take_turns(connector: BaseAsyncConnector, *, places: int) -> Iterator[App]:
    """Let the app's worker use a connector, and fetch jobs in turns."""
    app = procrastinate_app.current_app
    manager = app.job_manager
    with app.replace_connector(connector):
        app.job_manager = TurnTaking(connector, places)
        try:
            yield app
        finally:
            app.job_manager = manager
