"""What one client may hold of a web process: connections, headers, unread answers.

Counted in each process by itself. A connection that waits for its client (idle, in its
headers, in its body, in taking an answer) is closed in favour of a new one where its
address, or the whole process, has no more room; one that a thread works for never is.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from portal.lib.web.proxies import find_client_network, is_in_ip_networks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portal.lib.web.proxies import Network

# Seconds for the whole of a request's line and headers.
HEADERS_S = 10
# Seconds without a request. Longer than proxies keep theirs (nginx: 60), so that the
# proxy closes first and none of its requests meets a connection that is going.
IDLE_S = 75
# Bytes of a request's line and headers, and again of a body's trailers.
HEADERS_MAX_BYTES = 64 * 1024
# An answer must be taken at this rate, looked at once a STALL_S.
STALL_S = 20
TAKEN_MIN_BYTES_PER_S = 512
# How often deadlines are looked at, seconds.
SWEEP_S = 1

_NO_ROOM = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n"
    b"retry-after: 5\r\nconnection: close\r\n\r\n"
)
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
)
# Some clients, such as Java's, offer HTTP/2 with each request on plain HTTP. The parser
# would then read no body.
_UPGRADE = re.compile(rb"\n[Uu][Pp][Gg][Rr][Aa][Dd][Ee](?=[ \t]*:)")
_IGNORED = b"\nx_upgrade"  # dropped, as every name with an underscore


@dataclass(slots=True)
class Room:
    """How many connections a process holds: of one address (IPv6: one /64), in all.

    Trusted proxies speak for many clients and bound each of those themselves: only the
    whole counts for them. Set once, before the first connection.
    """

    per_address: int = 100
    in_all: int = 1000
    trusted: Sequence[Network] = ()

    def group(self, address: str) -> str | None:
        """Return the clients that an address counts with; None for a trusted proxy."""
        if not address or is_in_ip_networks(
            address, self.trusted
        ):  # a Unix socket has none
            return None
        return find_client_network(address)


room = Room()
_open: set[BoundedConnection] = set()
_by_group: dict[str, set[BoundedConnection]] = defaultdict(set)


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's HTTP/1.1, with bounds on time, size and number.

    `at_work`: a thread works on a request of it. Header names with an underscore are
    dropped, as `X_Forwarded_For` would pass for `X-Forwarded-For`, and so are trailers,
    which come after a request was judged by its headers. An offer to upgrade is ignored
    (RFC 9110, 7.8). Answers 400 to headers over
    HEADERS_MAX_BYTES and to a transfer coding other than chunked; 408 to headers that
    take longer than HEADERS_S; 503 where there is no room.
    """

    at_work = False
    in_body = False
    is_gone = False
    since: float  # it has waited for its client since then
    deadline: float | None
    group: str | None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        self.deadline = self.since + HEADERS_S
        self.in_headers = False
        self.header_bytes = 0
        self.unsent, self.unsent_since = 0, 0.0
        self.group = room.group(self.client[0] if self.client else "")
        if not _make_room(self.group):
            transport.write(_NO_ROOM)
            transport.close()
            return
        _open.add(self)
        if self.group is not None:
            _by_group[self.group].add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_gone = True
        _forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.in_body:
            headers, end, body = data.partition(b"\r\n\r\n")
            if _UPGRADE.search(headers):
                data = _UPGRADE.sub(_IGNORED, headers) + end + body
        super().data_received(data)

    # Of the parser.

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]
        self.in_headers, self.header_bytes = True, 0
        self.deadline = self.loop.time() + HEADERS_S

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        if self.in_headers and b"_" not in name:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.in_headers, self.header_bytes, self.in_body = False, 0, True
        self.since, self.deadline = self.loop.time(), None
        for name, value in self.headers:
            if name == b"transfer-encoding" and value.strip().lower() != b"chunked":
                raise ValueError("a transfer coding other than chunked")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        self.deadline = self.since + IDLE_S
        super().on_response_complete()

    def _count(self, more: int) -> None:
        self.header_bytes += more
        if self.header_bytes > HEADERS_MAX_BYTES:
            raise ValueError("headers are too large")

    def resume_writing(self) -> None:
        self.unsent = 0
        super().resume_writing()

    # Of the sweep.

    @property
    def is_answering(self) -> bool:
        """Whether a request has come whose answer is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def close_if_timed_out(self, now: float) -> None:
        """Close the connection if it is past its deadline or reads too slowly."""
        if self.deadline is not None and now > self.deadline and not self.is_answering:
            if self.transport.is_closing():  # what it was sent is still not taken
                self.transport.abort()
                return
            if self.in_headers:
                self.transport.write(_TOO_SLOW)
            self.transport.close()
            self.deadline = now + HEADERS_S
        if not self.flow.write_paused:
            self.unsent = 0
            return
        waiting = self.transport.get_write_buffer_size()
        if not self.unsent:
            self.unsent, self.unsent_since = waiting, now
        elif now - self.unsent_since >= STALL_S:
            if self.unsent - waiting < STALL_S * TAKEN_MIN_BYTES_PER_S:
                self.transport.abort()
            self.unsent, self.unsent_since = waiting, now


def close_timed_out_connections(loop: asyncio.AbstractEventLoop) -> None:
    """Close connections of clients that timed out, now and every SWEEP_S seconds."""
    now = loop.time()
    for connection in tuple(_open):
        connection.close_if_timed_out(now)
    loop.call_later(SWEEP_S, close_timed_out_connections, loop)


def _make_room(group: str | None) -> bool:
    """Whether one more may come, after closing another where that has to be."""
    mine = _by_group.get(group, set()) if group is not None else set()
    if group is not None and len(mine) >= room.per_address and not _close_one(mine):
        return False
    if len(_open) < room.in_all:
        return True
    largest = max(_by_group.values(), key=len, default=_open)
    return _close_one(largest) or _close_one(_open)


def _close_one(connections: set[BoundedConnection]) -> bool:
    """Close the one that has waited longest for its client; False where none waits.

    One without a request goes before one whose body is on its way.
    """
    waiting = [each for each in connections if not each.at_work]
    if not waiting:
        return False
    oldest = min(waiting, key=lambda each: (each.is_answering, each.since))
    _forget(oldest)
    oldest.transport.abort()
    return True


def _forget(connection: BoundedConnection) -> None:
    _open.discard(connection)
    if connection.group is not None and (mine := _by_group.get(connection.group)):
        mine.discard(connection)
        if not mine:
            del _by_group[connection.group]
