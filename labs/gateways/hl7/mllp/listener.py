"""The MLLP server: one port for each connection, with limits for every peer."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from labs.gateways.hl7.acknowledgements import (
    build_hl7_acknowledgement,
    parse_hl7_message_header,
)
from labs.gateways.hl7.messages import (
    DATA_TYPE_ERROR,
    SEQUENCE_ERROR,
    MalformedMessage,
)
from labs.gateways.hl7.mllp.frames import (
    CHUNK_BYTES,
    FrameReader,
    FrameRefused,
    Oversized,
    Unframed,
    write_frame,
)
from labs.gateways.hl7.mllp.tls import is_pinned
from labs.gateways.hl7.networks import may_go_unencrypted

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    # Stores a message of a connection and returns its acknowledgement, b"" for none;
    # None where it could not be stored.
    Receive = Callable[[UUID, bytes], Awaitable[bytes | None]]

logger = logging.getLogger(__name__)

HANDSHAKE_S = 10
MESSAGE_S = 120
ANSWER_S = 30
# Ours: a lab has one connection, and another while it reconnects.
CONNECTIONS_PER_PORT = 4
CONNECTIONS_PER_PEER = 16
CONNECTIONS = 200
# Messages that are stored at the same time, and long ones that are read at once.
WORKERS = 4
LARGE_MESSAGES = 4
BACKLOG = 64
STOP_S = 30
# Peers that are gone without a word are found after two minutes.
_KEEP_ALIVE = {
    socket.TCP_KEEPIDLE: 60,
    socket.TCP_KEEPINTVL: 15,
    socket.TCP_KEEPCNT: 4,
}
_REFUSALS = {
    Oversized: MalformedMessage(
        DATA_TYPE_ERROR, "", "The message is larger than 10 MB."
    ),
    Unframed: MalformedMessage(
        SEQUENCE_ERROR, "", "The message is not in an MLLP frame of its own."
    ),
}


@dataclass(frozen=True, slots=True)
class PortSettings:
    """A port and who may connect to it; `tls` None: unencrypted."""

    connection_id: UUID
    port: int
    tls: ssl.SSLContext | None = field(default=None, compare=False)
    peer_certificates: str = ""
    # Changes with this server's own certificate.
    version: str = ""


@dataclass(eq=False, slots=True)
class _OpenPort:
    settings: PortSettings
    listening: socket.socket
    accepting: asyncio.Task[None] | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


class MllpListener:
    """Ports that are open, and the connections to them."""

    def __init__(
        self, *, host: str, receive: Receive, now: Callable[[], datetime]
    ) -> None:
        self._host = host
        self._receive = receive
        self._now = now
        self._ports: dict[int, _OpenPort] = {}
        self._by_peer: Counter[str] = Counter()
        self._idle: set[asyncio.Task[None]] = set()
        self._work = asyncio.Semaphore(WORKERS)
        self._large = asyncio.Semaphore(LARGE_MESSAGES)

    def count_open(self, connection_id: UUID) -> int:
        """Return how many peers of a connection are connected."""
        return sum(
            len(port.tasks)
            for port in self._ports.values()
            if port.settings.connection_id == connection_id
        )

    def set_ports(self, wanted: list[PortSettings]) -> None:
        """Open and close ports until exactly these are open."""
        by_number = {one.port: one for one in wanted}
        for number, opened in list(self._ports.items()):
            if by_number.get(number) != opened.settings:
                self._close_port(number)
        for number in by_number.keys() - self._ports.keys():
            self._open_port(by_number[number])

    async def stop(self) -> None:
        """Close all ports; messages that are being stored are still answered."""
        tasks = [task for port in self._ports.values() for task in port.tasks]
        for number in list(self._ports):
            self._close_port(number)
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_S)

    def _open_port(self, wanted: PortSettings) -> None:
        try:
            listening = socket.create_server(
                (self._host, wanted.port),
                family=socket.AF_INET6 if ":" in self._host else socket.AF_INET,
                backlog=BACKLOG,
            )
        except OSError as error:
            logger.warning("port %s can't be opened: %s", wanted.port, error.strerror)
            return
        listening.setblocking(False)
        opened = self._ports[wanted.port] = _OpenPort(wanted, listening)
        opened.accepting = asyncio.create_task(self._accept(opened))
        logger.info("listening on port %s", wanted.port)

    def _close_port(self, number: int) -> None:
        """Close a port and its idle connections; the others end with their message."""
        opened = self._ports.pop(number)
        if opened.accepting is not None:
            opened.accepting.cancel()
        opened.listening.close()
        for task in opened.tasks & self._idle:
            task.cancel()
        logger.info("closed port %s", number)

    async def _accept(self, port: _OpenPort) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, address = await loop.sock_accept(port.listening)
            except OSError as error:  # such as too many open files
                logger.warning("no connection accepted: %s", error.strerror)
                await asyncio.sleep(0.1)
                continue
            peer = str(address[0])
            if why := self._find_refusal(port, peer):
                logger.warning(
                    "connection of %s to port %s refused: %s",
                    peer,
                    port.settings.port,
                    why,
                )
                accepted.close()
                continue
            self._by_peer[peer] += 1
            task = asyncio.create_task(self._serve(port, accepted, peer))
            port.tasks.add(task)
            task.add_done_callback(port.tasks.discard)

    def _find_refusal(self, port: _OpenPort, peer: str) -> str:
        if self._by_peer.total() >= CONNECTIONS:
            return "too many connections"
        if self._by_peer[peer] >= CONNECTIONS_PER_PEER:
            return "too many connections of this address"
        if len(port.tasks) >= CONNECTIONS_PER_PORT:
            return "too many connections to this port"
        if port.settings.tls is None and not may_go_unencrypted(peer):
            return "not a network without TLS"
        return ""

    async def _serve(self, port: _OpenPort, accepted: socket.socket, peer: str) -> None:
        writer: StreamWriter | None = None
        try:
            reader, writer = await _start_streams(accepted, port.settings)
            await self._exchange(port, reader, writer, peer)
        except ssl.SSLError as error:
            self._log(port, peer, f"TLS failed, {error.reason}")
        except (OSError, TimeoutError) as error:
            self._log(port, peer, type(error).__name__)
        finally:
            self._by_peer[peer] -= 1
            if not self._by_peer[peer]:
                del self._by_peer[peer]
            if writer is None:
                accepted.close()
            else:
                # Also of a peer that reads no more.
                writer.transport.abort() if _has_unsent(writer) else writer.close()

    async def _exchange(
        self, port: _OpenPort, reader: StreamReader, writer: StreamWriter, peer: str
    ) -> None:
        tls = writer.get_extra_info("ssl_object")
        if tls is not None and not is_pinned(tls, port.settings.peer_certificates):
            self._log(port, peer, "certificate of another account")
            return
        frames = FrameReader(reader, within_s=MESSAGE_S, large=self._large)
        while port.settings.port in self._ports:
            try:
                content = await self._wait_for_message(frames)
            except FrameRefused as refused:
                self._log(port, peer, type(refused).__name__.lower())
                await self._answer_refused(writer, refused)
                return
            if content is None:
                return
            async with self._work:
                answer = await self._receive(port.settings.connection_id, content)
            if answer is None:
                self._log(port, peer, "message not stored")
                return
            if answer:
                await write_frame(writer, answer, within_s=ANSWER_S)

    async def _wait_for_message(self, frames: FrameReader) -> bytes | None:
        """Read a message; meanwhile the connection may be closed at any time."""
        task = asyncio.current_task()
        if task is not None:
            self._idle.add(task)
        try:
            return await frames.read()
        finally:
            if task is not None:
                self._idle.discard(task)

    async def _answer_refused(
        self, writer: StreamWriter, refused: FrameRefused
    ) -> None:
        """Answer what begins like a message; silence makes others send it again."""
        refusal = _REFUSALS.get(type(refused))
        if refusal is None or not refused.head.lstrip(b"\x0b").startswith(b"MSH"):
            return
        answer = build_hl7_acknowledgement(
            parse_hl7_message_header(refused.head.lstrip(b"\x0b")),
            control_id=f"REF{self._now():%Y%m%d%H%M%S%f}"[:20],
            at=self._now(),
            refusal=refusal,
        )
        await write_frame(writer, answer, within_s=ANSWER_S)

    def _log(self, port: _OpenPort, peer: str, what: str) -> None:
        logger.warning(
            "connection of %s to port %s closed: %s", peer, port.settings.port, what
        )


async def _start_streams(
    accepted: socket.socket, settings: PortSettings
) -> tuple[StreamReader, StreamWriter]:
    """Open streams on an accepted socket, with TLS where the port has it."""
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEP_ALIVE.items():
        accepted.setsockopt(socket.IPPROTO_TCP, option, value)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=CHUNK_BYTES)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(
        lambda: protocol,
        accepted,
        ssl=settings.tls,
        ssl_handshake_timeout=HANDSHAKE_S if settings.tls else None,
        ssl_shutdown_timeout=HANDSHAKE_S if settings.tls else None,
    )
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _has_unsent(writer: StreamWriter) -> bool:
    return writer.transport.get_write_buffer_size() > 0
