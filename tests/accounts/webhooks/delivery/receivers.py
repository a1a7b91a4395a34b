"""Receivers for tests of delivering: a real server beside the deliverer."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from aiohttp import web

from accounts.webhooks.delivery.sending import Sender
from accounts.webhooks.delivery.worker import Deliverer
from accounts.webhooks.management.commands.deliver_webhooks import connector

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator


class Receiver:
    """Answers each POST as it was told to, and keeps what came.

    `answers` are callables from a request to an answer, taken in turn, the last one
    for ever.
    """

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers) or [lambda _request: web.Response(status=204)]
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.most_at_once = 0
        self._at_once = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self.got.append((dict(request.headers), await request.read()))
            answer = self.answers[0]
            if len(self.answers) > 1:
                self.answers.pop(0)
            found = answer(request)
            return await found if asyncio.iscoroutine(found) else found
        finally:
            self._at_once -= 1


@asynccontextmanager
async def listening(
    port: int, *, ssl_context: ssl.SSLContext | None = None, **receivers: Receiver
) -> AsyncIterator[None]:
    """Serve each receiver under its name on the port."""
    app = web.Application(client_max_size=2**26)
    for name, receiver in receivers.items():
        app.router.add_post(f"/{name}", receiver.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=ssl_context).start()
    try:
        yield
    finally:
        await runner.cleanup()


def deliver(
    port: int, *, workers: int = 1, connect: Any = None, **receivers: Receiver
) -> None:
    """Deliver until nothing is due, with so many workers at once."""

    async def run() -> None:
        async with listening(port, **receivers):
            await asyncio.gather(*(one() for _ in range(workers)))

    async def one() -> None:
        async with Sender() as sender:
            deliverer = Deliverer(
                connect=connect or connector(), sender=sender, jitter=lambda: 0.0
            )
            await deliverer.run(until_idle=True)

    asyncio.run(run())
