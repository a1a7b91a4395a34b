"""Read the body of a request to its end, within bounds, before anything works on it.

What a thread is given is complete: a body that was cut off never runs. Must not be
here: how much one caller may send (portal.http.body_limits).
"""

from __future__ import annotations

import asyncio
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from uvicorn._types import ASGIReceiveCallable

# A body may take START_S, and a second more for each LEAST_BYTES_PER_S that have come.
START_S = 10
LEAST_BYTES_PER_S = 1024
# And no longer than this in all, seconds: a body that anybody may send, and one of a
# caller who is identified (an export of years of data over a phone's connection).
TOTAL_S = 10 * 60
TOTAL_KNOWN_S = 2 * 60 * 60
# Up to here a body is kept in memory, above it in a file that has no name.
IN_MEMORY_BYTES = 256 * 1024


class BodyRefused(Exception):
    """A body that is not read to its end, with the status to answer."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(code)
        self.status, self.code, self.sentence = status, code, sentence


class CutOff(Exception):
    """The client went away before its body was complete; nobody waits for an answer."""


async def receive_request_body(
    receive: ASGIReceiveCallable,
    *,
    at_most: int,
    may_send: Callable[[int], Awaitable[int]] | None,
    folder: str,
) -> tuple[IO[bytes], int]:
    """Return the body, at its beginning, and its length in bytes.

    at_most: bytes that anybody may send. may_send: asked once when there are more, with
    how many there are so far, how many this caller may send; None where `at_most` is
    the answer already. folder: where a body over IN_MEMORY_BYTES is kept. The caller
    closes what it is given. Raises: BodyRefused by body_too_large (413) and
    body_too_slow (408); CutOff; and what `may_send` raises. Source: Ours: RFC 9110,
    15.5.9 and 15.5.14, leave the bounds to the server.
    """
    clock = asyncio.get_running_loop().time
    began, received = clock(), 0
    total = TOTAL_S if may_send else TOTAL_KNOWN_S
    body: IO[bytes] = SpooledTemporaryFile(IN_MEMORY_BYTES, dir=folder)  # noqa: SIM115 - the caller closes it
    try:
        more = True
        while more:
            allowed_s = min(START_S + received / LEAST_BYTES_PER_S, total)
            try:
                async with asyncio.timeout_at(began + allowed_s):
                    message = await receive()
            except TimeoutError:
                raise BodyRefused(
                    408, "body_too_slow", "The body arrived too slowly. Send it again."
                ) from None
            if message["type"] != "http.request":
                raise CutOff  # noqa: TRY301 - as below: one place closes the body
            chunk = message["body"]
            received += len(chunk)
            if received > at_most and may_send is not None:
                at_most, may_send, total = await may_send(received), None, TOTAL_KNOWN_S
            if received > at_most:
                limit = f"{at_most / 2**20:g} MB"
                sentence = f"The body is too large. It can have at most {limit}."
                raise BodyRefused(413, "body_too_large", sentence)  # noqa: TRY301
            body.write(chunk)
            more = message["more_body"]
        body.seek(0)
    except BaseException:
        body.close()
        raise
    return body, received
