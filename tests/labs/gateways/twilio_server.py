"""Twilio on this machine: a real server that answers with the documented shapes."""

from __future__ import annotations

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import Iterator

SID = "AC" + "0" * 31 + "1"
TOKEN = "12345"
NUMBER = "+15555550100"
SERVICE = "MG" + "0" * 31 + "2"
MESSAGE = "SM" + "0" * 31 + "3"


class TwilioServer:
    """One account, the forms of messages it was sent, and answers to give instead.

    A fault is a status with a body, bytes or JSON, and headers; one of status 0 hangs
    up after it has taken the message.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.token = TOKEN
        self.account_status = "active"
        self.sent: list[dict[str, str]] = []
        self.looked_up = 0
        self.faults: list[tuple[int, Any, dict[str, str]]] = []


class _Handler(BaseHTTPRequestHandler):
    twilio: TwilioServer

    def do_GET(self) -> None:
        self.twilio.looked_up += 1
        self._answer(200, {"sid": SID, "status": self.twilio.account_status})

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        form = dict(parse_qsl(self.rfile.read(size).decode()))
        assert self.path == f"/2010-04-01/Accounts/{SID}/Messages.json"
        self.twilio.sent.append(form)
        self._answer(201, {"sid": MESSAGE, "status": "queued", "error_code": None})

    def _answer(self, status: int, body: Any) -> None:
        pair = base64.b64encode(f"{SID}:{self.twilio.token}".encode()).decode()
        headers: dict[str, str] = {}
        if self.headers["Authorization"] != f"Basic {pair}":
            status, body = 401, {"code": 20003, "message": "Authenticate"}
        elif self.twilio.faults:
            status, body, headers = self.twilio.faults.pop(0)
        if not status:
            self.close_connection = True
            return
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


@contextmanager
def running_twilio() -> Iterator[TwilioServer]:
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    twilio = handler.twilio = TwilioServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield twilio
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
