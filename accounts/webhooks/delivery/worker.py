"""Run the delivery worker: many POSTs in flight, one database connection."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter, defaultdict, deque
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson
import psycopg

from accounts.webhooks.delivery import leases
from accounts.webhooks.delivery.leases import Lease
from accounts.webhooks.delivery.outcomes import AttemptOutcome, record_delivery_outcomes
from accounts.webhooks.delivery.sending import (
    TIMEOUT_S,
    Message,
    Target,
    parse_endpoint_target,
)
from accounts.webhooks.schedule import compute_retry_wait
from accounts.webhooks.signing import decode_signing_secret
from portal.lib.secrets.encryption import decrypt_secret

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from accounts.webhooks.delivery.sending import Sender

logger = logging.getLogger(__name__)

# Performance 5: at a hundred a claim the database is never the limit.
BATCH = 100
RECORDED_AT_ONCE = 500
FEW = 50
FLUSH_S = 0.1
POLL_S = 0.25
KEEP_UP_S = 60.0
CLOCK_STEP_S = 1.0
RECONNECT_S = 1.0
# Ours: leased by this worker, at once.
LEASED_MAX = 1000
CLAIMED_PER_ENDPOINT = 100
# Of an endpoint that failed or was slow last, so that many such leave room for others.
CLAIMED_WHEN_SLOW = 4
SLOW_S = 2.0
IN_FLIGHT_PER_ENDPOINT = 32
# A claim that waited longer may end while it is sent: it is given back.
LEASE_AGE_MAX_S = leases.LEASE_S - TIMEOUT_S - 15


class Deliverer:
    """Deliver what is due until stopped.

    `connect` opens a connection in autocommit; `jitter` is a share, 0 to 1, of the
    ladder's jitter. While the database is away, outcomes are kept and recorded later.
    """

    def __init__(
        self,
        *,
        connect: Callable[[], Awaitable[psycopg.AsyncConnection[Any]]],
        sender: Sender,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._connect = connect
        self._sender = sender
        self._jitter = jitter
        self._leased: dict[int, Lease] = {}
        self._unrecorded: list[AttemptOutcome] = []
        self._unsent: list[Lease] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._slow: set[int] = set()
        # By endpoint: claims with the moment of claiming, and how many are in flight.
        self._queues: dict[int, deque[tuple[Lease, float]]] = defaultdict(deque)
        self._in_flight: Counter[int] = Counter()
        self._awake = asyncio.Event()
        self._many = asyncio.Event()
        self._stopping = False
        self._kept_up_at = -KEEP_UP_S
        self._ahead: float | None = None

    def stop(self) -> None:
        """Stop leasing; finish and record the deliveries in flight."""
        self._stopping = True
        self._awake.set()
        self._many.set()

    async def run(self, *, until_idle: bool = False) -> None:
        """Run until `stop`, or with `until_idle` until nothing is due."""
        while True:
            try:
                connection = await self._connect()
                async with connection:
                    await self._work(connection, until_idle=until_idle)
            except psycopg.OperationalError as error:
                # The text may quote a statement.
                logger.warning("the database is away: %s", type(error).__name__)
                if self._stopping and not self._tasks:
                    return
                await asyncio.sleep(RECONNECT_S)
            else:
                return

    async def _work(
        self, connection: psycopg.AsyncConnection[Any], *, until_idle: bool
    ) -> None:
        while True:
            await self._record_outcomes(connection)
            while not self._stopping and await self._lease_due(connection) == BATCH:
                continue
            busy = self._tasks or self._unrecorded or self._unsent
            if not busy and (self._stopping or until_idle):
                return
            await self._sleep()

    async def _sleep(self) -> None:
        """Until something finished, and then a little longer, as others will too.

        Few at a time would cost a statement for each.
        """
        self._awake.clear()
        if await _within(POLL_S, self._awake) and self._tasks and not self._stopping:
            self._many.clear()
            if len(self._unrecorded) < FEW:
                await _within(FLUSH_S, self._many)

    async def _lease_due(self, connection: psycopg.AsyncConnection[Any]) -> int:
        now = time.monotonic()
        if now - self._kept_up_at >= KEEP_UP_S:
            await self._run_maintenance(connection)
            self._kept_up_at = now
        room = min(BATCH, LEASED_MAX - len(self._leased))
        if room <= 0:
            return 0
        busy = Counter(lease.endpoint for lease in self._leased.values())
        for endpoint in self._slow:
            busy[endpoint] += CLAIMED_PER_ENDPOINT - CLAIMED_WHEN_SLOW
        found = await leases.lease_due_deliveries(
            connection, limit=room, per_endpoint=CLAIMED_PER_ENDPOINT, busy=busy
        )
        leased_at = time.monotonic()
        # One that is in flight here already was leased too long: its outcome counts.
        new = [lease for lease in found if lease.delivery not in self._leased]
        for lease in new:
            self._leased[lease.delivery] = lease
            self._queues[lease.endpoint].append((lease, leased_at))
            if self._in_flight[lease.endpoint] < IN_FLIGHT_PER_ENDPOINT:
                self._in_flight[lease.endpoint] += 1
                task = asyncio.create_task(self._deliver_all(lease.endpoint))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return len(new)

    async def _run_maintenance(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """What is rare: late deliveries of disabled endpoints, a clock set back."""
        await leases.hold_deliveries_to_disabled_endpoints(connection)
        # Of two clocks this machine's steady one can't be set.
        ahead = await leases.read_database_clock(connection) - time.monotonic()
        if self._ahead is None or ahead < self._ahead - CLOCK_STEP_S:
            await leases.clamp_delivery_due_times(connection)
        self._ahead = ahead

    async def _deliver_all(self, endpoint: int) -> None:
        """One after the other, beside others like it, until none is queued."""
        queue = self._queues[endpoint]
        while queue:
            lease, leased_at = queue.popleft()
            waited = time.monotonic() - leased_at
            if self._stopping or waited > LEASE_AGE_MAX_S:
                self._unsent.append(lease)
                self._awake.set()
                continue
            try:
                await self._deliver(lease)
            except Exception as error:  # noqa: BLE001 - one message holds up no other
                # Such as a secret that no key opens; its lease ends in its own time.
                logger.warning("a message can't be sent: %s", type(error).__name__)
                self._leased.pop(lease.delivery, None)
        self._in_flight[endpoint] -= 1
        if not self._in_flight[endpoint]:
            del self._in_flight[endpoint], self._queues[endpoint]

    async def _deliver(self, lease: Lease) -> None:
        outcome = await self._sender.send(_message(lease))
        wait = None
        if outcome.fault is not None and not outcome.is_gone:
            wait = compute_retry_wait(
                lease.step + 1,
                retry_after_s=outcome.retry_after_s,
                chance=self._jitter(),
            )
        if outcome.fault is None and outcome.total_ms < SLOW_S * 1000:
            self._slow.discard(lease.endpoint)
        else:
            self._slow.add(lease.endpoint)
        self._unrecorded.append(AttemptOutcome(lease, outcome, wait))
        self._awake.set()
        is_last = len(self._tasks) == 1 and not self._queues[lease.endpoint]
        # Half of what is leased: the other half is in flight while these are recorded.
        if len(self._unrecorded) >= max(FEW, len(self._leased) // 2) or is_last:
            self._many.set()

    async def _record_outcomes(self, connection: psycopg.AsyncConnection[Any]) -> None:
        while batch := self._unrecorded[:RECORDED_AT_ONCE]:
            await record_delivery_outcomes(connection, batch)
            # Only now: an outcome that could not be recorded is recorded again.
            del self._unrecorded[: len(batch)]
            for outcome in batch:
                self._leased.pop(outcome.lease.delivery, None)
        if unsent := list(self._unsent):
            await leases.release_delivery_leases(connection, unsent)
            del self._unsent[: len(unsent)]
            for lease in unsent:
                self._leased.pop(lease.delivery, None)


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Wait for an event no longer than that; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _message(lease: Lease) -> Message:
    secrets = [lease.secret, lease.previous_secret]
    return Message(
        target=_target(lease.url, lease.headers),
        message_id=lease.message_id,
        body=lease.body.encode(),
        keys=tuple(_key(secret) for secret in secrets if secret),
    )


# Opening a secret costs as much as signing ten messages with it.
@lru_cache(maxsize=1000)
def _key(secret: str) -> bytes:
    return decode_signing_secret(decrypt_secret(secret))


@lru_cache(maxsize=1000)
def _target(url: str, headers: str) -> Target:
    return parse_endpoint_target(
        url, orjson.loads(decrypt_secret(headers)) if headers else {}
    )
