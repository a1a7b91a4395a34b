"""The worker's loop: many POSTs in flight, one connection for claims and verdicts.

Must not be here: SQL (claims, verdicts), sockets (sending), the ladder (schedule).
"""

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

from accounts.webhooks import claims
from accounts.webhooks.claims import Claim
from accounts.webhooks.schedule import next_wait
from accounts.webhooks.sending import TIMEOUT_S, Message, Target, read_target
from accounts.webhooks.signing import read_secret
from accounts.webhooks.verdicts import Told, tell
from portal.lib.encryption import decrypt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from accounts.webhooks.sending import Sender

logger = logging.getLogger(__name__)

# Performance 5: at a hundred a claim the database is never the limit.
BATCH = 100
TOLD_AT_ONCE = 500
FEW = 50
FLUSH_S = 0.1
POLL_S = 0.25
KEEP_UP_S = 60.0
CLOCK_STEP_S = 1.0
RECONNECT_S = 1.0
# Ours: leased by this worker, at once.
CLAIMED_MAX = 1000
CLAIMED_PER_ENDPOINT = 100
# Of an endpoint that failed or was slow last, so that many such leave room for others.
CLAIMED_WHEN_SLOW = 4
SLOW_S = 2.0
IN_FLIGHT_PER_ENDPOINT = 32
# A claim that waited longer may end while it is sent: it is given back.
CLAIM_AGE_MAX_S = claims.LEASE_S - TIMEOUT_S - 15


class Deliverer:
    """Delivers what is due until told to stop.

    `connect` opens a connection in autocommit; `dice` gives the ladder's jitter, from 0
    to 1. A lost database is waited for: verdicts are kept and told once it is back.
    """

    def __init__(
        self,
        *,
        connect: Callable[[], Awaitable[psycopg.AsyncConnection[Any]]],
        sender: Sender,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._connect = connect
        self._sender = sender
        self._dice = dice
        self._claimed: dict[int, Claim] = {}
        self._told: list[Told] = []
        self._unsent: list[Claim] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._slow: set[int] = set()
        # By endpoint: claims with the moment of claiming, and how many are in flight.
        self._queues: dict[int, deque[tuple[Claim, float]]] = defaultdict(deque)
        self._in_flight: Counter[int] = Counter()
        self._awake = asyncio.Event()
        self._many = asyncio.Event()
        self._stopping = False
        self._kept_up_at = -KEEP_UP_S
        self._ahead: float | None = None

    def stop(self) -> None:
        """Claim nothing more; what is in flight is waited for and told."""
        self._stopping = True
        self._awake.set()
        self._many.set()

    async def run(self, *, until_idle: bool = False) -> None:
        """Go on until `stop`, or with `until_idle` until nothing is due."""
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
            await self._tell(connection)
            while not self._stopping and await self._claim(connection) == BATCH:
                continue
            busy = self._tasks or self._told or self._unsent
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
            if len(self._told) < FEW:
                await _within(FLUSH_S, self._many)

    async def _claim(self, connection: psycopg.AsyncConnection[Any]) -> int:
        now = time.monotonic()
        if now - self._kept_up_at >= KEEP_UP_S:
            await self._keep_up(connection)
            self._kept_up_at = now
        room = min(BATCH, CLAIMED_MAX - len(self._claimed))
        if room <= 0:
            return 0
        busy = Counter(claim.endpoint for claim in self._claimed.values())
        for endpoint in self._slow:
            busy[endpoint] += CLAIMED_PER_ENDPOINT - CLAIMED_WHEN_SLOW
        found = await claims.claim_due(
            connection, limit=room, per_endpoint=CLAIMED_PER_ENDPOINT, busy=busy
        )
        claimed_at = time.monotonic()
        # One that is in flight here already was leased too long: its verdict counts.
        new = [claim for claim in found if claim.delivery not in self._claimed]
        for claim in new:
            self._claimed[claim.delivery] = claim
            self._queues[claim.endpoint].append((claim, claimed_at))
            if self._in_flight[claim.endpoint] < IN_FLIGHT_PER_ENDPOINT:
                self._in_flight[claim.endpoint] += 1
                task = asyncio.create_task(self._deliver_all(claim.endpoint))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return len(new)

    async def _keep_up(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """What is rare: late deliveries of disabled endpoints, a clock set back."""
        await claims.hold_late(connection)
        # Of two clocks this machine's steady one can't be set.
        ahead = await claims.read_clock(connection) - time.monotonic()
        if self._ahead is None or ahead < self._ahead - CLOCK_STEP_S:
            await claims.mend_clock(connection)
        self._ahead = ahead

    async def _deliver_all(self, endpoint: int) -> None:
        """One after the other, beside others like it, until none is queued."""
        queue = self._queues[endpoint]
        while queue:
            claim, claimed_at = queue.popleft()
            waited = time.monotonic() - claimed_at
            if self._stopping or waited > CLAIM_AGE_MAX_S:
                self._unsent.append(claim)
                self._awake.set()
                continue
            try:
                await self._deliver(claim)
            except Exception as error:  # noqa: BLE001 - one message holds up no other
                # Such as a secret that no key opens; its lease ends in its own time.
                logger.warning("a message can't be sent: %s", type(error).__name__)
                self._claimed.pop(claim.delivery, None)
        self._in_flight[endpoint] -= 1
        if not self._in_flight[endpoint]:
            del self._in_flight[endpoint], self._queues[endpoint]

    async def _deliver(self, claim: Claim) -> None:
        verdict = await self._sender.send(_message(claim))
        wait = None
        if verdict.fault is not None and not verdict.is_gone:
            wait = next_wait(
                claim.step + 1,
                retry_after_s=verdict.retry_after_s,
                chance=self._dice(),
            )
        if verdict.fault is None and verdict.total_ms < SLOW_S * 1000:
            self._slow.discard(claim.endpoint)
        else:
            self._slow.add(claim.endpoint)
        self._told.append(Told(claim, verdict, wait))
        self._awake.set()
        is_last = len(self._tasks) == 1 and not self._queues[claim.endpoint]
        # Half of what is claimed: the other half is in flight while these are told.
        if len(self._told) >= max(FEW, len(self._claimed) // 2) or is_last:
            self._many.set()

    async def _tell(self, connection: psycopg.AsyncConnection[Any]) -> None:
        while batch := self._told[:TOLD_AT_ONCE]:
            await tell(connection, batch)
            # Only now: what could not be told is told again.
            del self._told[: len(batch)]
            for told in batch:
                self._claimed.pop(told.claim.delivery, None)
        if unsent := list(self._unsent):
            await claims.release(connection, unsent)
            del self._unsent[: len(unsent)]
            for claim in unsent:
                self._claimed.pop(claim.delivery, None)


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Wait for an event no longer than that; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _message(claim: Claim) -> Message:
    secrets = [claim.secret, claim.previous_secret]
    return Message(
        target=_target(claim.url, claim.headers),
        message_id=claim.message_id,
        body=claim.body.encode(),
        keys=tuple(_key(secret) for secret in secrets if secret),
    )


# Opening a secret costs as much as signing ten messages with it.
@lru_cache(maxsize=1000)
def _key(secret: str) -> bytes:
    return read_secret(decrypt(secret))


@lru_cache(maxsize=1000)
def _target(url: str, headers: str) -> Target:
    return read_target(url, orjson.loads(decrypt(headers)) if headers else {})
