"""A laboratory by the `hl7` package's own client and server, which keeps its books.

It takes orders and, for each, sends results with a document, then their correction with
the next document. A message is repeated under its control id until it is acknowledged.
`Books` and `make_results` are those of the other labs as well.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import hl7
from hl7.mllp import InvalidBlockError, open_hl7_connection, start_hl7_server

from tests.factories.hl7 import make_oru, make_test, obx, obx_with_document
from tests.factories.reports import make_pdf

HOST = "127.0.0.1"
ANSWER_S = 20
# Every so many orders are taken and not answered, as by a lab that fails just then.
SILENT_EVERY = 7
DOCUMENTS = tuple(make_pdf(pages=pages) for pages in (1, 2))


@dataclass
class Books:
    """What the lab received and what it sent; control ids count how often."""

    orders: Counter[str] = field(default_factory=Counter)
    contents: dict[str, set[str]] = field(default_factory=dict)
    # By placer number: the value of the correction.
    values: dict[str, str] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    acknowledged: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def enter_order(self, message: hl7.Message) -> str:
        """Enter an order as received once more; returns its control id."""
        control_id = str(message.segment("MSH")[10])
        self.orders[control_id] += 1
        self.contents.setdefault(control_id, set()).add(str(message))
        return control_id

    def is_first(self, control_id: str) -> bool:
        """Whether it is a new order, which came for the first time."""
        return self.orders[control_id] == 1 and control_id.startswith("NW")


def make_results(message: hl7.Message, books: Books) -> list[tuple[str, bytes]]:
    """The results of an order and their correction, each by its control id."""
    placer = str(message.segment("ORC")[2])
    number = len(books.values) + 1
    first, last = str(100 + number % 50), str(60 + number % 30)
    books.values[placer] = last
    code = str(message.segment("OBR")[4][0][0])
    patient = str(message.segment("PID"))
    made = []
    for version, (value, status) in enumerate(((first, "F"), (last, "C")), 1):
        test = make_test(
            obx(value, status=status),
            obx_with_document(DOCUMENTS[version - 1], status=status),
            code=code,
            placer=placer,
            filler=f"F-{number}",
            status=status,
        )
        control_id = f"R{number:06}.{version}"
        made.append(
            (control_id, make_oru(test, patient=patient, control_id=control_id))
        )
    return made


class LabPeer:
    """Runs in a thread of its own until `end`."""

    def __init__(self, *, port: int, assay_port: int) -> None:
        self.books = Books()
        self._port, self._assay_port = port, assay_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether all results of the orders it has are acknowledged."""
        books = self.books
        return len(books.acknowledged) >= 2 * len(books.values)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(30)

    def _run(self) -> None:
        self._loop.run_until_complete(self._live())
        self._loop.close()

    async def _live(self) -> None:
        self._ending = asyncio.Event()
        self._waiting: asyncio.Queue[list[bytes]] = asyncio.Queue()
        server = await start_hl7_server(
            self._serve, HOST, self._port, encoding="utf-8", limit=1 << 20
        )
        senders = [asyncio.create_task(self._send_all()) for _ in range(3)]
        await self._ending.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*senders, *others, return_exceptions=True)

    async def _serve(self, reader, writer) -> None:
        with suppress(asyncio.IncompleteReadError, InvalidBlockError, OSError):
            while True:
                message = await reader.readmessage()
                is_answered = self._take(message)
                if not is_answered:
                    break
                writer.writemessage(message.create_ack("AA"))
                await writer.drain()
        writer.close()

    def _take(self, message: hl7.Message) -> bool:
        books = self.books
        control_id = books.enter_order(message)
        if books.is_first(control_id):
            results = make_results(message, books)
            self._waiting.put_nowait([content for _, content in results])
        number = len(books.orders)
        return books.orders[control_id] > 1 or number % SILENT_EVERY != 0

    async def _send_all(self) -> None:
        streams = None
        while True:
            for content in await self._waiting.get():
                while True:
                    try:
                        if streams is None:
                            streams = await open_hl7_connection(
                                HOST,
                                self._assay_port,
                                encoding="utf-8",
                                limit=1 << 20,
                            )
                        if await self._send(streams, content):
                            break
                    except (OSError, EOFError, TimeoutError, InvalidBlockError):
                        if streams is not None:
                            streams[1].close()
                        streams = None
                        await asyncio.sleep(0.1)

    async def _send(self, streams, content: bytes) -> bool:
        reader, writer = streams
        message = hl7.parse(content.decode())
        control_id = str(message.segment("MSH")[10])
        self.books.sent[control_id] += 1
        writer.writemessage(message)
        await writer.drain()
        answer = await asyncio.wait_for(reader.readmessage(), ANSWER_S)
        told = answer.segment("MSA")
        if str(told[2]) != control_id:
            raise OSError("an answer to another message")
        if str(told[1]) == "AA":
            self.books.acknowledged[control_id] += 1
            return True
        self.books.refused[f"{told[1]}"] += 1
        return False
