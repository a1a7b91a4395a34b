"""The MLLP client: a kept connection over which one message waits for its answer."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.gateways.hl7.faults import ConnectionFailed
from labs.gateways.hl7.messages import MalformedMessage, parse_hl7_message
from labs.gateways.hl7.mllp.frames import (
    CHUNK_BYTES,
    FrameReader,
    FrameRefused,
    write_frame,
)
from labs.gateways.hl7.mllp.tls import is_pinned, make_client_context
from labs.gateways.hl7.networks import look_up_lab, may_go_unencrypted
from labs.states.connections import TransportFault

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

CONNECT_S = 10
ANSWER_S = 30
# Answers to other messages that are skipped: those of an earlier attempt came late.
MAX_SKIPPED = 20


@dataclass(frozen=True, slots=True)
class Destination:
    """Where to connect. `peer_certificates` are PEM, as in Hl7Connection."""

    host: str
    port: int
    is_unencrypted: bool = False
    peer_certificates: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An acknowledgement: MSA-1, the code of ERR-3 or MSA-6, and all of it."""

    code: str
    error_code: str
    content: bytes


class MllpClient:
    """One connection to a destination, opened when first needed and kept."""

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._streams: tuple[FrameReader, StreamReader, StreamWriter] | None = None

    @property
    def is_open(self) -> bool:
        """Return whether a connection is open, as far as can be seen."""
        if self._streams is None:
            return False
        _, reader, writer = self._streams
        return not (writer.transport.is_closing() or reader.at_eof())

    async def exchange(self, content: bytes, *, control_id: str) -> Answer:
        """Send a message and return the answer to it.

        After a failure the connection is closed, and whether the message arrived is not
        known: repeat it under the same control id. Raises: ConnectionFailed.
        """
        if not self.is_open:
            self.close()
            await self.open()
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._exchange(content, control_id)
        except BaseException as error:
            self.close()
            if isinstance(error, (OSError, TimeoutError, FrameRefused)):
                raise ConnectionFailed(TransportFault.NO_ANSWER) from None
            raise

    async def open(self) -> None:
        """Connect. Raises: ConnectionFailed."""
        to = self.destination
        address = await look_up_lab(to.host, to.port)
        context = None
        if not to.is_unencrypted:
            context = make_client_context(to.peer_certificates)
        elif not may_go_unencrypted(address):
            raise ConnectionFailed(TransportFault.NOT_ALLOWED)
        try:
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection(
                    address,
                    to.port,
                    limit=CHUNK_BYTES,
                    ssl=context,
                    server_hostname=to.host if context else None,
                )
        except ssl.SSLError:
            raise ConnectionFailed(TransportFault.CERTIFICATE) from None
        except (OSError, TimeoutError):
            raise ConnectionFailed(TransportFault.UNREACHABLE) from None
        tls = writer.get_extra_info("ssl_object")
        frames = FrameReader(reader, within_s=ANSWER_S, large=asyncio.Semaphore(1))
        self._streams = frames, reader, writer
        pinned = to.peer_certificates
        if tls is not None and pinned and not is_pinned(tls, pinned):
            self.close()
            raise ConnectionFailed(TransportFault.CERTIFICATE)

    def close(self) -> None:
        """Close the connection; without an open one do nothing."""
        if self._streams is not None:
            self._streams[2].transport.abort()
            self._streams = None

    async def _exchange(self, content: bytes, control_id: str) -> Answer:
        if self._streams is None:  # opened by the caller
            raise ConnectionFailed(TransportFault.UNREACHABLE)
        frames, _, writer = self._streams
        await write_frame(writer, content, within_s=ANSWER_S)
        for _ in range(MAX_SKIPPED):
            received = await frames.read()
            if received is None:
                raise ConnectionFailed(TransportFault.NO_ANSWER)
            found = read_answer(received)
            if found is None:
                raise ConnectionFailed(TransportFault.BAD_ANSWER)
            answered, answer = found
            if answered == control_id:
                return answer
        raise ConnectionFailed(TransportFault.BAD_ANSWER)


def read_answer(content: bytes) -> tuple[str, Answer] | None:
    """Return the control id an acknowledgement answers, and the answer; else None."""
    try:
        segments = parse_hl7_message(content).segments
    except MalformedMessage:
        return None
    by_name = {one.name: one for one in reversed(segments)}
    answer, error = by_name.get("MSA"), by_name.get("ERR")
    if answer is None:
        return None
    code = answer.text(6)
    if error is not None:
        # ERR-3 from v2.5 on, the fourth component of ERR-1 before.
        code = error.text(3) or error.text(1, 4) or code
    return answer.text(2), Answer(answer.text(1)[:2], code[:20], content)


async def check_mllp_destination(destination: Destination) -> None:
    """Connect and close again; nothing is sent. Raises: ConnectionFailed."""
    client = MllpClient(destination)
    try:
        await client.open()
    finally:
        client.close()
