"""MLLP frames: read with limits of size and time, and write."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from labs.gateways.hl7.messages import MAX_FILE_BYTES

if TYPE_CHECKING:
    from asyncio import Semaphore, StreamReader, StreamWriter

START, END = b"\x0b", b"\x1c\r"
# What a peer may send at once, and what a stream holds before it stops reading.
CHUNK_BYTES = 65_536
# A message that is longer takes one of few slots while it is read.
SMALL_BYTES = 262_144
HEAD_BYTES = 4_000
# Line ends that some senders put behind a frame.
BLANK = b"\r\n"
MAX_BLANKS = 64


class FrameRefused(Exception):
    """Bytes that are no message; the connection is of no further use.

    `head` is how they begin.
    """

    def __init__(self, head: bytes | bytearray = b"") -> None:
        super().__init__(type(self).__name__)
        self.head = bytes(head[:HEAD_BYTES])


class Unframed(FrameRefused):
    """Bytes outside a frame, or a frame inside a frame."""


class Oversized(FrameRefused):
    """A message of more than MAX_FILE_BYTES."""


class Stalled(FrameRefused):
    """A message whose end did not come in time."""


class CutOff(FrameRefused):
    """A connection that ended within a message."""


class FrameReader:
    """Reads one message after the other from a stream.

    within_s: from the first byte of a message to its last. `large` bounds how many long
    messages are read at once over all connections; others wait for their turn, unread.
    """

    def __init__(
        self, reader: StreamReader, *, within_s: float, large: Semaphore
    ) -> None:
        self._reader = reader
        self._within_s = within_s
        self._large = large
        self._rest = b""

    async def read(self) -> bytes | None:
        """Return the next message without its frame; None where the stream ends.

        Waits for its first byte without limit. Raises: FrameRefused.
        """
        start = await self._skip_blanks()
        if start is None:
            return None
        if not start.startswith(START):
            raise Unframed(start)
        data = bytearray(start[1:])
        try:
            async with asyncio.timeout(self._within_s):
                return await self._read_to_end(data)
        except TimeoutError:
            raise Stalled(data) from None

    async def _skip_blanks(self) -> bytes | None:
        skipped = 0
        while True:
            data = self._rest or await self._receive()
            self._rest = b""
            if not data:
                return None
            found = data.lstrip(BLANK)
            skipped += len(data) - len(found)
            if skipped > MAX_BLANKS:
                raise Unframed(data)
            if found:
                return found

    async def _read_to_end(self, data: bytearray) -> bytes:
        is_large = False
        try:
            searched = 0
            while (place := data.find(END, searched)) < 0:
                searched = max(len(data) - 1, 0)
                # A new start: its sender gave up the message before.
                if START in data or len(data) > MAX_FILE_BYTES:
                    break
                if len(data) > SMALL_BYTES and not is_large:
                    await self._large.acquire()
                    is_large = True
                received = await self._receive()
                if not received:
                    raise CutOff(data)
                data += received
            whole = data if place < 0 else data[:place]
            if START in whole or b"\x1c" in whole:
                raise Unframed(whole)
            if len(whole) > MAX_FILE_BYTES:
                raise Oversized(whole)
            self._rest = bytes(data[place + len(END) :])
            return bytes(whole)
        finally:
            if is_large:
                self._large.release()

    async def _receive(self) -> bytes:
        try:
            return await self._reader.read(CHUNK_BYTES)
        except OSError:  # reset by the peer, or the keep-alive found nobody
            return b""


async def write_frame(writer: StreamWriter, content: bytes, *, within_s: float) -> None:
    """Write one message in its frame. Raises: TimeoutError, OSError."""
    writer.write(START + content + END)
    async with asyncio.timeout(within_s):
        await writer.drain()
