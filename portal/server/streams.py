"""An answer in parts, on its way from a thread that makes it to a client that takes it.

The thread never waits for the client: what is not yet taken is kept, in memory and then
in a file without a name, as by a buffering proxy.
"""

from __future__ import annotations

import asyncio
import threading
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

IN_MEMORY_BYTES = 1024 * 1024
_PART_BYTES = 64 * 1024


class Gone(Exception):
    """The client went away; nothing more need be made."""


class Stream:
    """Written by one thread, read by the event loop; closed by who reads it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, folder: str) -> None:
        self._loop = loop
        self._more = asyncio.Event()
        self._lock = threading.Lock()
        self._kept: IO[bytes] = SpooledTemporaryFile(IN_MEMORY_BYTES, dir=folder)  # noqa: SIM115 - until close()
        self._written = self._read = 0
        self._is_whole = self._is_cut = self._is_closed = False

    def write(self, chunk: bytes) -> None:
        """Add to it, from the thread. Raises: Gone."""
        with self._lock:
            if self._is_closed:
                raise Gone
            self._kept.seek(self._written)
            self._kept.write(chunk)
            self._written += len(chunk)
        self._loop.call_soon_threadsafe(self._more.set)

    def end(self, *, is_whole: bool) -> None:
        """Say that nothing more comes; where not whole, the answer is cut off."""
        self._is_whole, self._is_cut = is_whole, not is_whole
        self._loop.call_soon_threadsafe(self._more.set)

    async def parts(self) -> AsyncIterator[bytes]:
        """What was written, in order, as it comes. Raises: Gone for a broken answer."""
        while True:
            self._more.clear()
            ended = self._is_whole or self._is_cut
            with self._lock:
                self._kept.seek(self._read)
                part = self._kept.read(_PART_BYTES)
            self._read += len(part)
            if part:
                yield part
            elif self._is_cut:
                raise Gone
            elif ended:
                return
            else:
                await self._more.wait()

    def close(self) -> None:
        """Drop what is kept."""
        with self._lock:
            self._is_closed = True
            self._kept.close()
