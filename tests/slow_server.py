"""A server on this machine that is never done: it sends a little, for ever."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
# What is sent at first, and then again and again; empty: nothing is ever sent.
WAYS = {
    "silent": (b"", b""),
    "head": (HEAD + b"X-Slow: ", b"a"),
    "interim answers": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "body": (HEAD + b"Content-Length: 1000000\r\n\r\n", b" "),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "no length": (HEAD + b"\r\n", b" "),
}
STEP_S = 0.01
# Long after any test has ended; nobody is left waiting.
GIVE_UP_S = 30.0


class SlowServer:
    """Its address, and whether who called it has gone."""

    def __init__(self, first: bytes, more: bytes) -> None:
        self.first, self.more = first, more
        self._called, self._hung_up = Event(), Event()
        self._ends = Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                opened, _ = self._listener.accept()
                self._called.set()
                with opened:
                    self._drip(opened)

    def _drip(self, opened: socket.socket) -> None:
        opened.settimeout(GIVE_UP_S)
        with contextlib.suppress(OSError):
            opened.sendall(self.first)
            if not self.more:
                while opened.recv(65536):
                    pass
            while self.more and not self._ends.wait(STEP_S):
                opened.sendall(self.more)
        self._hung_up.set()

    def is_left(self) -> bool:
        """Whether nobody is connected any more; waits for it.

        On a busy machine a caller's time may be over before it has connected.
        """
        return not self._called.is_set() or self._hung_up.wait(GIVE_UP_S)

    def end(self) -> None:
        self._ends.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def serve_slowly(first: bytes, more: bytes = b"") -> Iterator[SlowServer]:
    """Send `first` to whoever connects, then `more` again and again."""
    server = SlowServer(first, more)
    thread = Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join(GIVE_UP_S)
