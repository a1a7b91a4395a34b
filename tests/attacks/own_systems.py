"""A team's own systems, which take results by MLLP (`hl7`) and by SFTP (`asyncssh`).

Each keeps its books: which message came, how often, with which bytes and in which
order.
"""

from __future__ import annotations

import asyncio
import threading
from base64 import b64decode
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import hl7
from hl7.mllp import InvalidBlockError, start_hl7_server

from tests.attacks.lab_peer import HOST, SILENT_EVERY
from tests.labs.operations.connections.sftp_server import running_sftp_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.labs.operations.connections.sftp_server import RunningServer

POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class ReceivedResults:
    """What a message said: our id of the order, its value and its document."""

    control_id: str
    order: str
    status: str
    value: str
    document: bytes


@dataclass
class ReceivedBooks:
    """What came, in the order of first arrival."""

    counts: Counter[str] = field(default_factory=Counter)
    contents: dict[str, set[str]] = field(default_factory=dict)
    received: list[ReceivedResults] = field(default_factory=list)

    def enter(self, message: hl7.Message) -> bool:
        """Enter a message; whether it is answered this time."""
        control_id = str(message.segment("MSH")[10])
        self.counts[control_id] += 1
        self.contents.setdefault(control_id, set()).add(str(message))
        if self.counts[control_id] == 1:
            self.received.append(_read_results(control_id, message))
        is_silent = len(self.counts) % SILENT_EVERY == 0
        return self.counts[control_id] > 1 or not is_silent


def _read_results(control_id: str, message: hl7.Message) -> ReceivedResults:
    line = message.segment("OBX")
    is_document = str(line[2]) == "ED"
    return ReceivedResults(
        control_id,
        str(message.segment("OBR")[2][0][0]),
        str(line[11]),
        "" if is_document else str(line[5]),
        b64decode(str(line[5][0][4])) if is_document else b"",
    )


class MllpSystem:
    """A server by MLLP, which leaves every so many messages without an answer."""

    def __init__(self, port: int) -> None:
        self.books = ReceivedBooks()
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=[self._live()], daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(30)

    async def _live(self) -> None:
        server = await start_hl7_server(
            self._serve, HOST, self._port, encoding="utf-8", limit=1 << 20
        )
        await self._ending.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader, writer) -> None:
        with suppress(asyncio.IncompleteReadError, InvalidBlockError, OSError):
            while True:
                message = await reader.readmessage()
                if not self.books.enter(message):
                    break
                writer.writemessage(message.create_ack("AA"))
                await writer.drain()
        writer.close()


class SftpSystem:
    """A server of files, and who reads and acknowledges them."""

    def __init__(self, server: RunningServer) -> None:
        self.books = ReceivedBooks()
        self.server = server
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        self._thread.join(30)

    def _work(self) -> None:
        while not self._ending.wait(POLL_S):
            for path in sorted((self.server.folder / "to-lab").glob("*.hl7")):
                message = hl7.parse(path.read_bytes().decode())
                control_id = str(message.segment("MSH")[10])
                self.books.enter(message)
                answer = str(message.create_ack("AA"))
                self.server.put(f"ack-{control_id}.hl7", answer.encode())
                path.unlink()


@contextmanager
def running_sftp_system(folder: Path) -> Iterator[SftpSystem]:
    with running_sftp_server(folder) as server:
        system = SftpSystem(server)
        try:
            yield system
        finally:
            system.end()
