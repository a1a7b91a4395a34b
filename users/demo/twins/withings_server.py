"""Serve the twin of Withings: its sign-in page, and its calls by POST."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from users.demo.twins.withings import WithingsTwin

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = """<!doctype html><html lang="en"><title>Sign in</title>
<h1>Withings, a twin</h1><p>Nobody real. Share measures and nights?</p>
<form method="post"><button name="answer" value="allow">Allow</button>
<button name="answer" value="deny">Deny</button></form></html>"""


class _Handler(BaseHTTPRequestHandler):
    twin: WithingsTwin

    def do_GET(self) -> None:
        self._send(200, _PAGE.encode(), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        form = dict(parse_qsl(self.rfile.read(size).decode()))
        parts = urlsplit(self.path)
        if parts.path == "/oauth2_user/authorize2":
            self._go_back(parse_qs(parts.query), form)
            return
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        status, body = self.twin.answer(parts.path.strip("/"), form, bearer)
        if status < 0:
            self._send(-status, b"Internal error", "text/plain")
            return
        said = {"status": status, "body": body}
        if status:
            said["error"] = f"Twin: status {status}"
        self._send(200, json.dumps(said).encode(), "application/json")

    def _go_back(self, asked: dict[str, list[str]], form: dict[str, str]) -> None:
        (back,), (state,) = asked["redirect_uri"], asked["state"]
        said = {"state": state, "error": "access_denied"}
        if form.get("answer") == "allow":
            said = {"state": state, "code": self.twin.issue_code(back)}
        self.send_response(302)
        self.send_header("Location", f"{back}?{urlencode(said)}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args: object) -> None:
        pass


def build_withings_server(twin: WithingsTwin, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the twin on this machine; the caller serves and closes it."""
    handler = type("Handler", (_Handler,), {"twin": twin})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    twin.url = f"http://127.0.0.1:{server.server_port}"
    return server


@contextmanager
def running_withings(**options: Any) -> Iterator[WithingsTwin]:
    """Serve a twin while the context lasts."""
    twin = WithingsTwin(**options)
    server = build_withings_server(twin)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield twin
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
