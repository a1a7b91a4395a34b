"""A receiver of webhooks that takes as long as receivers do, and counts what it gets.

A process of its own, whose processor time is none of the deliverers'.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench.webhooks.delivery import Sink

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

# Seconds until the answer of a receiver that is slow.
SLOW_S = 3.0
PATH, SLOW_PATH = "/in", "/slow"
_ANSWER = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"


class Received(NamedTuple):
    """What a receiver got: POSTs by path and message, and their seconds together."""

    messages: Counter[tuple[str, str]]
    open_s: float


class Receiver:
    """Asks the process what it received so far."""

    def __init__(self, port: int, pipe: Connection) -> None:
        self.port, self._pipe = port, pipe

    def received(self) -> Received:
        self._pipe.send("received")
        found: Received = self._pipe.recv()
        return found


class _Slow(Sink):
    """Answers a POST after a while, and then the next of its connection."""

    received: Counter[tuple[str, str]]
    open_s: list[float]
    answers_s: tuple[float, float]
    jitter = random.Random(36)  # noqa: S311 - no secret

    def take(self, head: bytes) -> None:
        at = head.lower().index(b"\r\nwebhook-id: ") + len(b"\r\nwebhook-id: ")
        named = head[at:].partition(b"\r\n")[0]
        path = head.split(b" ", 2)[1].decode()
        self.received[path, named.decode()] += 1
        seconds = SLOW_S if path == SLOW_PATH else self.jitter.uniform(*self.answers_s)
        self.open_s[0] += seconds
        loop = asyncio.get_running_loop()
        loop.call_later(seconds, self.transport.write, _ANSWER)


def _serve(pipe: Connection, answers_s: tuple[float, float]) -> None:
    async def serve() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(_Slow, "127.0.0.1", 0, backlog=1024)
        pipe.send(server.sockets[0].getsockname()[1])

        def tell() -> None:
            pipe.recv()
            pipe.send(Received(_Slow.received, _Slow.open_s[0]))

        loop.add_reader(pipe.fileno(), tell)
        await server.serve_forever()

    _Slow.received, _Slow.open_s, _Slow.answers_s = Counter(), [0.0], answers_s
    asyncio.run(serve())


@contextmanager
def receiving(answers_s: tuple[float, float]) -> Iterator[Receiver]:
    """Serve until the end of the block; most answer after seconds between those."""
    ours, theirs = multiprocessing.Pipe()
    process: Any = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(theirs, answers_s), daemon=True
    )
    process.start()
    try:
        yield Receiver(ours.recv(), ours)
    finally:
        process.kill()
        process.join()
