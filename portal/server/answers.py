"""Answers on their way to a client."""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections import deque
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from portal.server.streams import Gone, Stream

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveCallable, ASGISendCallable

    from portal.server.connections import BoundedConnection

    Headers = list[tuple[bytes, bytes]]

# What a refused client may still send before its connection is closed: many read the
# answer only once they have sent all, and a connection closed before loses it.
LINGER_S = 5
# Clients who are refused and ask again at once, however many, cost a process few calls:
# beyond so many refusals a second each is held back. One that is held has a connection
# and no thread; beyond MOST_HELD of a process the next is sent at once.
REFUSALS = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
AT_ONCE_A_SECOND = 10
HELD_S = 1.0
MOST_HELD = 500


class Answer(NamedTuple):
    """What is sent; `parts` instead of a body where that is still being made."""

    status: int
    headers: Headers
    body: bytes = b""
    parts: Stream | None = None


HEALTHY = Answer(
    200,
    [
        (b"content-type", b"application/json"),
        (b"cache-control", b"max-age=0, no-cache, no-store, must-revalidate, private"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-length", b"15"),
    ],
    b'{"status":"ok"}',
)


_held: set[object] = set()
_sent_at_once: deque[float] = deque()  # when, of the last second


async def hold_refusal(answer: Answer) -> None:
    """Wait for HELD_S if it refuses a caller as many were refused within a second."""
    if answer.status not in REFUSALS or len(_held) >= MOST_HELD or _may_go_at_once():
        return
    mark = object()
    _held.add(mark)
    try:
        await sleep(HELD_S)
    finally:
        _held.discard(mark)


def _may_go_at_once() -> bool:
    now = monotonic()
    while _sent_at_once and now - _sent_at_once[0] >= 1:
        _sent_at_once.popleft()
    if len(_sent_at_once) >= AT_ONCE_A_SECOND:
        return False
    _sent_at_once.append(now)
    return True


async def send_answer(
    send: ASGISendCallable, answer: Answer, connection: BoundedConnection
) -> None:
    """Send a whole answer, or its parts as they are made, while the client is there."""
    await send(
        {
            "type": "http.response.start",
            "status": answer.status,
            "headers": answer.headers,
        }
    )
    if answer.parts is not None:
        try:
            async for part in answer.parts.parts():
                if connection.is_gone:
                    return
                await send(
                    {"type": "http.response.body", "body": part, "more_body": True}
                )
        except Gone:
            return  # uvicorn closes the connection of an answer that is not complete
        finally:
            answer.parts.close()
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})


async def send_refusal(
    send: ASGISendCallable,
    receive: ASGIReceiveCallable,
    answer: Answer,
    environ: dict[str, Any],
) -> None:
    """Answer before the body has come; what still comes is thrown away for a while."""
    headers = [*answer.headers, (b"connection", b"close")]
    await send(
        {"type": "http.response.start", "status": answer.status, "headers": headers}
    )
    await send({"type": "http.response.body", "body": answer.body, "more_body": True})
    if "HTTP_EXPECT" not in environ:  # else it was never asked for its body
        try:
            async with asyncio.timeout(LINGER_S):
                while (await receive()).get("more_body"):
                    pass
        except TimeoutError:
            pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})
