"""A receiver that fails at random, and whether its own count agrees with the log.

It runs in a thread with a loop of its own, so that workers may be killed beside it.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from aiohttp import web
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

if TYPE_CHECKING:
    from collections.abc import Iterable

# Failures of one message before it is taken: with kills it never meets its last try.
FAILURES_MAX = 4
_TEN_MEGABYTES = 160
_CHUNK = b"x" * 2**16


class Receipt(NamedTuple):
    """What makes a POST one of its message's attempts."""

    message_id: str
    signature: str


class StormReceiver:
    """Counts every POST before it answers, and answers every fourth with a fault."""

    def __init__(self, secret: str, *, seed: int) -> None:
        self.receipts: Counter[Receipt] = Counter()
        self.accepted: Counter[str] = Counter()
        self.forged = 0
        self.port = 0
        self._webhook = Webhook(secret)
        self._jitter = random.Random(seed)  # noqa: S311 - no secret
        self._failures: Counter[str] = Counter()
        self._counted = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._open: asyncio.Event
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> StormReceiver:
        self._thread.start()
        self._listening.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(10)

    def wait_for_receipts(self, number: int, *, timeout_s: float) -> bool:
        """Wait until so many POSTs came; whether they did in time."""
        with self._counted:
            return self._counted.wait_for(
                lambda: self.receipts.total() >= number, timeout_s
            )

    def hold_answers(self) -> None:
        """From now on count what comes, and answer nothing."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def answer_again(self) -> None:
        """Let all that is held be answered."""
        self._loop.call_soon_threadsafe(self._open.set)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._open, self._stopped = asyncio.Event(), asyncio.Event()
        self._open.set()
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/in", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        self._listening.set()
        await self._stopped.wait()
        self._open.set()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        message_id = request.headers["webhook-id"]
        try:
            self._webhook.verify(
                body, {k.lower(): v for k, v in request.headers.items()}
            )
        except WebhookVerificationError:
            self.forged += 1
        with self._counted:
            self.receipts[
                Receipt(message_id, request.headers["webhook-signature"])
            ] += 1
            self._counted.notify_all()
        await self._open.wait()
        if self._failures[message_id] < FAILURES_MAX and self._jitter.random() < 0.25:
            self._failures[message_id] += 1
            return await self._fail(request)
        self.accepted[message_id] += 1
        if self._jitter.random() < 0.003:
            return await _answer_much(request)
        return web.Response(status=204)

    async def _fail(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        if transport is None:  # its worker was killed
            return web.Response()
        match self._jitter.randrange(5):
            case 0:
                return web.Response(status=500, text="broken")
            case 1:
                return web.Response(status=503, headers={"Retry-After": "1"})
            case 2:
                return web.Response(status=302, headers={"Location": "/in"})
            case 3:
                transport.abort()
            case _:
                transport.write(b"\x00\xff no http at all\r\n\r\n")
                transport.close()
        return web.Response()


async def _answer_much(request: web.Request) -> web.StreamResponse:
    """10 MB, of which the sender reads little and hangs up."""
    answer = web.StreamResponse()
    try:
        await answer.prepare(request)
        for _ in range(_TEN_MEGABYTES):
            await answer.write(_CHUNK)
    except ConnectionError:
        pass
    return answer


class Agreement(NamedTuple):
    """The log against the receiver's own count.

    `invented` are attempts of the log that never came; `unlogged` are POSTs that came
    and whose worker died before it could say so; `missing` are messages that were not
    accepted, `unsettled` those that the log does not call delivered.
    """

    invented: int
    unlogged: int
    missing: int
    unsettled: int


def compare(
    receiver: StormReceiver,
    *,
    messages: Iterable[str],
    delivered: Iterable[str],
    logged: Iterable[tuple[str, str]],
) -> Agreement:
    """Compare; `logged` is the message id and signature of every attempt."""
    wanted, settled = set(messages), set(delivered)
    log = Counter(Receipt(*each) for each in logged)
    return Agreement(
        invented=(log - receiver.receipts).total(),
        unlogged=(receiver.receipts - log).total(),
        missing=len(wanted - set(receiver.accepted)),
        unsettled=len(wanted - settled),
    )
