"""HTTP over bare sockets, and the web server in this process with bounds of a test."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any, BinaryIO

import uvicorn

from portal.server import connections
from portal.server.__main__ import OPTIONS
from portal.server.application import Application
from portal.server.connections import Room
from tests.portal.outages.nodes import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOST = "127.0.0.1"
TIMEOUT_S = 30


class Raw:
    """One connection; what is sent is sent as it is."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port), TIMEOUT_S)
        self.file = self.socket.makefile("rb")

    def send(self, *texts: str | bytes) -> None:
        for text in texts:
            self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def answer(self, method: str = "GET") -> HTTPResponse:
        """The next answer, read whole; its body is `.content`."""
        reply: Any = HTTPResponse(_Kept(self.file), method=method)
        reply.begin()
        reply.content = reply.read()
        return reply

    def rest(self) -> bytes:
        """All that comes until the server closes the connection."""
        found = b""
        with suppress(ConnectionResetError):
            while part := self.file.read1(65536):
                found += part
        return found

    def is_closed(self) -> bool:
        """Whether the server closes it; waits for it to."""
        return self.rest() == b""

    def close(self) -> None:
        self.file.close()
        self.socket.close()


class _Kept:
    """A file for several answers, each of which would close it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def makefile(self, _mode: str) -> _Kept:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def close(self) -> None:
        pass


def request(
    method: str, path: str, *headers: str, host: str = HOST, version: str = "1.1"
) -> str:
    """The head of a request."""
    lines = [f"{method} {path} HTTP/{version}", f"Host: {host}", *headers]
    return "\r\n".join([*lines, "", ""])


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


END = b"0\r\n\r\n"


class Served(Application):
    """The application of a test behind the real server, its threads and its bounds."""

    def __init__(self, handler: Callable[..., Any], room: Room, threads: int) -> None:
        super().__init__()
        self.test_handler, self.test_room, self.size_wanted = handler, room, threads

    def _load(self) -> None:
        self.wsgi = f"{__name__}"
        super()._load()
        self.handler, self.size = self.test_handler, self.size_wanted
        for bound in ("per_address", "in_all", "trusted"):
            setattr(connections.room, bound, getattr(self.test_room, bound))


def application(environ: Any, start_response: Any) -> Any:
    raise AssertionError("a test has an application of its own")


def flush_before_exit() -> None:
    pass


@contextmanager
def serving(
    handler: Callable[..., Any],
    *,
    threads: int = 2,
    per_address: int = 100,
    in_all: int = 1000,
) -> Iterator[int]:
    """Serve a WSGI application in a thread of this process; yields the port."""
    port = free_port()
    server = _Server(
        uvicorn.Config(
            Served(handler, Room(per_address, in_all), threads),
            host=HOST,
            port=port,
            **OPTIONS | {"timeout_graceful_shutdown": 1},
        )
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.ready.wait(TIMEOUT_S)
        yield port
    finally:
        server.should_exit = True
        thread.join(TIMEOUT_S)


class _Server(uvicorn.Server):
    """A server that says when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, *given: Any, **named: Any) -> None:
        await super().startup(*given, **named)
        self.ready.set()
