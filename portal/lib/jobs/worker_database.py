"""A worker's connection to the job library's tables, which outlives an outage.

A statement that meets an outage waits until the database is back and is sent again, so
that the worker above goes on as if it had been slow: running jobs run on, their ends
are written late, and nothing is run twice for it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
from procrastinate.exceptions import AppNotOpen, ConnectorException
from procrastinate.psycopg_connector import PsycopgConnector

from portal.lib.database.outages import is_database_outage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

logger = logging.getLogger("portal.lib.jobs.jobs")

# Seconds between attempts to connect: doubled each time up to the longest, which is
# shorter than a worker may be silent, then cut by up to half at random, so that many
# workers do not come at once.
FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 4.0
# How long a statement waits for one of the pool's connections.
POOL_WAIT_S = 5.0


class WorkerDatabase(PsycopgConnector):
    """A connector that waits for a database that is away, until `stop`.

    `revive` is run on each new connection after an outage, before any statement that
    waited. `reached_at` is when the last outage ended, by time.monotonic. One line is
    logged when the database is lost and one when it is back. After `stop` an outage
    raises ConnectorException. Source: Ours (architecture 1): the library ends its
    worker with the first statement that fails.
    """

    def __init__(
        self,
        parameters: dict[str, Any],
        *,
        revive: Callable[[psycopg.AsyncConnection[Any]], Awaitable[None]],
    ) -> None:
        super().__init__(kwargs=parameters, timeout=POOL_WAIT_S)
        self._parameters = parameters
        self._revive = revive
        self._stopped = asyncio.Event()
        self._restoring: asyncio.Task[None] | None = None
        self.reached_at = -math.inf

    def stop(self) -> None:
        """Wait for no outage any more."""
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    async def open_async(self, pool: Any = None) -> None:
        """Open the pool, once the database answers."""
        await self._retry_while_away(self._open_pool)

    async def close_async(self) -> None:
        if self._restoring is not None:
            self._restoring.cancel()
        await super().close_async()

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        await self._retry_while_away(super().execute_query_async, query, **arguments)

    async def execute_query_one_async(
        self, query: Any, **arguments: Any
    ) -> dict[str, Any]:
        ask = super().execute_query_one_async
        found: dict[str, Any] = await self._retry_while_away(ask, query, **arguments)
        return found

    async def execute_query_all_async(
        self, query: Any, **arguments: Any
    ) -> list[dict[str, Any]]:
        ask = super().execute_query_all_async
        found: list[dict[str, Any]] = await self._retry_while_away(
            ask, query, **arguments
        )
        return found

    async def listen_notify(self, *args: Any, **named: Any) -> None:
        try:
            await self._retry_while_away(super().listen_notify, *args, **named)
        except ConnectorException:
            if not self.is_stopped:
                raise

    async def _retry_while_away(
        self, ask: Callable[..., Awaitable[Any]], *args: Any, **named: Any
    ) -> Any:
        while True:
            if self._restoring is not None:
                # Shielded: who waits may be cancelled, and others wait too.
                await asyncio.shield(self._restoring)
            pool = self._async_pool
            if pool is None and self.is_stopped:
                raise ConnectorException
            try:
                return await ask(*args, **named)
            except AppNotOpen:
                # Listening connects again by itself, perhaps while another statement
                # that noticed the outage first has the pool made anew.
                if self._restoring is None and not self.is_stopped:
                    raise
            except (ConnectorException, psycopg.OperationalError) as error:
                if not is_database_outage(error):
                    raise
                if self.is_stopped:
                    raise ConnectorException from error
                # Else another statement has noticed it too, and it may be over.
                if self._restoring is None and pool is self._async_pool:
                    self._restoring = asyncio.create_task(self._restore(error))

    async def _restore(self, error: Exception) -> None:
        """Return once the database is back and a new pool is open."""
        # The text may name the host and quote a statement.
        kind = type(error.__cause__ or error).__name__
        logger.warning("the database is away (%s): the worker waits", kind)
        lost_at = time.monotonic()
        try:
            await self._close_pool()
            wait = FIRST_WAIT_S
            while True:
                try:
                    await self._open_pool()
                    break
                except (ConnectorException, psycopg.OperationalError):
                    await self._pause(wait)
                    wait = min(2 * wait, LONGEST_WAIT_S)
            self.reached_at = time.monotonic()
            away_s = self.reached_at - lost_at
            logger.warning("the database is back after %.0f s", away_s)
        finally:
            self._restoring = None

    async def _pause(self, seconds: float) -> None:
        """Wait about so long. Raises: ConnectorException where `stop` cuts it short."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds * random.uniform(0.5, 1)):  # noqa: S311 - no secret
                await self._stopped.wait()
        if self.is_stopped:
            raise ConnectorException

    async def _open_pool(self) -> None:
        # First by hand: a pool tries on by itself, with a line for each attempt.
        async with await psycopg.AsyncConnection.connect(
            **self._parameters, autocommit=True
        ) as opened:
            await self._revive(opened)
        try:
            await super().open_async()
        except BaseException:
            await self._close_pool()
            raise

    async def _close_pool(self) -> None:
        pool, self._async_pool = self._async_pool, None
        if pool is not None:
            await pool.close(timeout=POOL_WAIT_S)
