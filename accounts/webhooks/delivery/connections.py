"""Open and reuse connections to receivers, and send one POST at a time on each.

A client of our own: one that knows all of HTTP takes two to three times the CPU to post
here (tests/bench/webhooks/delivery.py), and the address that was checked is the very
one that is connected to.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from accounts.webhooks.addresses import (
    is_allowed_local_webhook_host,
    is_public_ip_address,
)
from accounts.webhooks.delivery.http_response import Answer, AnswerInvalid
from accounts.webhooks.states import DeliveryFault
from portal.lib.network.addresses import parse_ip_address

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Below what servers commonly keep an idle connection open, so that none is used dying.
KEPT_S = 4.0
LOOKUP_TTL_S = 10.0
# How long an address may take until the next one is tried beside it (RFC 8305).
STAGGER_S = 0.25
ADDRESSES_MAX = 8
# Of what is longer, a piece waits until the one before is on its way.
PIECE = 256 * 1024


class Origin(NamedTuple):
    """The host and port of a connection, by which open connections are found."""

    host: str
    port: int
    is_tls: bool


class _Target(NamedTuple):
    """An address as getaddrinfo gives it."""

    family: int
    kind: int
    protocol: int
    name: str
    address: tuple[Any, ...]


class NotConnected(Exception):
    """No connection came about; `fault` says why."""

    def __init__(self, fault: DeliveryFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class Connection(asyncio.Protocol):
    """An open connection, for one message at a time.

    `address` is the checked one that it goes to. `dns_ms` and `connect_ms` are what its
    opening took, None for a look-up that was known; the latter holds the former, and
    TLS. `answered_at` is when the head of the last answer was whole. Times of clocks
    are the loop's.
    """

    def __init__(
        self, origin: Origin, address: str, on_close: Callable[[Connection], None]
    ) -> None:
        self.origin = origin
        self.address = address
        self.dns_ms: float | None = None
        self.connect_ms: float | None = None
        self.answered_at = 0.0
        self._on_close = on_close
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._answer = Answer()
        self._over: asyncio.Future[None] | None = None
        self._may_write = asyncio.Event()
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_usable(self) -> bool:
        """Whether another message may be posted."""
        return self._transport is not None and self._loop.time() < self._until

    async def post(self, request: bytes, *, until: float) -> Answer:
        """Send a request and return its response.

        Whatever is not read to its end closes the connection. Raises, while there is no
        status: TimeoutError, ConnectionError, AnswerInvalid.
        """
        if self._transport is None:
            raise ConnectionResetError
        answer = self._answer = Answer()
        over = self._over = self._loop.create_future()
        self.answered_at = 0.0
        self._end_at(until)
        try:
            if len(request) <= PIECE:
                self._transport.write(request)
            else:
                await self._write_pieces(request, over)
            await over
        finally:
            self._over = None
            if answer.keeps_open and self._transport is not None:
                self._end_at(self._loop.time() + KEPT_S)
            else:
                self.close()
        return answer

    async def _write_pieces(self, request: bytes, over: asyncio.Future[None]) -> None:
        for start in range(0, len(request), PIECE):
            await self._may_write.wait()
            if over.done() or self._transport is None:
                self._answer.keeps_open = False  # the rest was never sent
                return
            self._transport.write(request[start : start + PIECE])

    def close(self) -> None:
        """Close at once, whatever is on its way."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
            self._on_close(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio: it is open."""
        self._transport = cast("asyncio.Transport", transport)
        self._may_write.set()

    def data_received(self, data: bytes) -> None:
        """Asyncio: something came."""
        if self._over is None or self._over.done():
            self.close()  # nothing was asked
            return
        try:
            is_over = self._answer.feed(data)
        except AnswerInvalid as error:
            self._fail(error)
            return
        if not self.answered_at and self._answer.code:
            self.answered_at = self._loop.time()
        if is_over:
            self._over.set_result(None)
            self._may_write.set()

    def eof_received(self) -> None:
        """Asyncio: nothing more will come, and what is left to send has no use."""
        self._fail(ConnectionResetError())
        self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio: it is closed."""
        self._fail(exc or ConnectionResetError())
        self.close()

    def pause_writing(self) -> None:
        """Asyncio: too much waits to be sent."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """Asyncio: little waits to be sent."""
        self._may_write.set()

    def _fail(self, error: Exception) -> None:
        """End what is on its way; a status that came is an answer all the same."""
        if self._over is None or self._over.done():
            return
        if self._answer.code:
            self._over.set_result(None)
        else:
            self._over.set_exception(error)
        self._may_write.set()

    def _end_at(self, until: float) -> None:
        self._until = until
        if self._timer is not None:
            if self._timer.when() <= until:
                return  # it sets itself anew, so that a message costs no timer
            self._timer.cancel()
        self._timer = self._loop.call_at(until, self._end)

    def _end(self) -> None:
        self._timer = None
        if self._loop.time() < self._until:
            self._end_at(self._until)
        elif self._over is None:
            self.close()
        else:
            self._fail(TimeoutError())


class Connections:
    """The open connections of a worker; use it as an asynchronous context."""

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None) -> None:
        self._ssl = ssl_context
        self._kept: dict[Origin, list[Connection]] = {}
        self._lookups: dict[Origin, asyncio.Task[list[_Target]]] = {}

    async def __aenter__(self) -> Connections:
        return self

    async def __aexit__(self, *_: object) -> None:
        for connection in [each for kept in self._kept.values() for each in kept]:
            connection.close()
        for lookup in self._lookups.values():
            lookup.cancel()
        await asyncio.sleep(0)  # sockets are closed by the loop

    def take(self, origin: Origin) -> Connection | None:
        """Return an idle connection, the latest used so that others end, or None."""
        idle = self._kept.get(origin)
        while idle:
            connection = idle.pop()
            if connection.is_usable:
                return connection
            connection.close()
        return None

    def keep(self, connection: Connection) -> None:
        """Take back a connection after its message."""
        if connection.is_usable:
            self._kept.setdefault(connection.origin, []).append(connection)

    async def open(self, origin: Origin, *, until: float) -> Connection:
        """Open a connection, to a public address unless the host is a local one.

        Raises: NotConnected, TimeoutError.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with asyncio.timeout_at(until):
            is_known = origin in self._lookups and self._lookups[origin].done()
            targets = await self._look_up(origin)
            looked_up = loop.time()
            if not is_allowed_local_webhook_host(origin.host):
                targets = [each for each in targets if _is_public(each)]
            if not targets:
                raise NotConnected(DeliveryFault.BLOCKED)
            opened = await _connect_first(targets[:ADDRESSES_MAX])
            connection = await self._start(origin, opened)
        if not is_known:
            connection.dns_ms = _milliseconds(looked_up - began)
        connection.connect_ms = _milliseconds(loop.time() - began)
        return connection

    async def _look_up(self, origin: Origin) -> list[_Target]:
        """Once for all who ask at a time, and soon after."""
        lookup = self._lookups.get(origin)
        if lookup is None:
            lookup = asyncio.create_task(_resolve(origin))
            self._lookups[origin] = lookup
            lookup.add_done_callback(partial(self._keep_lookup, origin))
        # Who gives up leaves the others waiting for it.
        return await asyncio.shield(lookup)

    def _keep_lookup(self, origin: Origin, lookup: asyncio.Task[list[_Target]]) -> None:
        if lookup.cancelled() or lookup.exception() is not None:
            self._lookups.pop(origin, None)
        else:
            lookup.get_loop().call_later(LOOKUP_TTL_S, self._lookups.pop, origin, None)

    async def _start(
        self, origin: Origin, opened: tuple[socket.socket, str]
    ) -> Connection:
        """Speak over a socket, by TLS if it is asked for."""
        sock, address = opened
        if origin.is_tls and self._ssl is None:
            self._ssl = ssl.create_default_context()
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(origin, address, self._closed),
                sock=sock,
                ssl=self._ssl if origin.is_tls else None,
                server_hostname=origin.host.rstrip(".") if origin.is_tls else None,
            )
        except ssl.SSLCertVerificationError:
            raise NotConnected(DeliveryFault.CERTIFICATE) from None
        except OSError:  # of ssl too; and a peer may close in the handshake
            raise NotConnected(DeliveryFault.TLS) from None
        return connection

    def _closed(self, connection: Connection) -> None:
        idle = self._kept.get(connection.origin, [])
        if connection in idle:
            idle.remove(connection)
        if not idle:
            self._kept.pop(connection.origin, None)


async def _resolve(origin: Origin) -> list[_Target]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            origin.host,
            origin.port,
            type=socket.SOCK_STREAM,
            proto=socket.IPPROTO_TCP,
            flags=0 if parse_ip_address(origin.host) else socket.AI_ADDRCONFIG,
        )
    except (OSError, UnicodeError):
        raise NotConnected(DeliveryFault.DNS) from None
    return [_Target._make(each) for each in found]


def _is_public(target: _Target) -> bool:
    address = parse_ip_address(target.address[0])
    return address is not None and is_public_ip_address(address)


async def _connect_first(targets: Sequence[_Target]) -> tuple[socket.socket, str]:
    """A socket to the first of the addresses that answers, and which it is."""
    waiting, running = list(targets), set[asyncio.Task[tuple[socket.socket, str]]]()
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.create_task(_connect(waiting.pop(0))))
            done, running = await asyncio.wait(
                running,
                timeout=STAGGER_S if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            won = [task for task in done if task.exception() is None]
            running.update(won[1:])
            if won:
                return won[0].result()
    finally:
        for task in running:
            if not task.cancel() and task.exception() is None:
                task.result()[0].close()
    raise NotConnected(DeliveryFault.REFUSED)


async def _connect(target: _Target) -> tuple[socket.socket, str]:
    sock = socket.socket(target.family, target.kind, target.protocol)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, target.address)
    except BaseException:
        sock.close()
        raise
    return sock, target.address[0]


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 2)
