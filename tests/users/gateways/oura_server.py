"""Oura on this machine: a real server that answers with the documented shapes."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from tests.factories.oura import PERSONAL_INFO
from users.gateways.oura.gateway import PORTALS, Portal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # Answers by itself; what it returns is of no account.
    Fault = Callable[["_Handler"], Any]

_COLLECTIONS = "/v2/usercollection/"
_HEART_RATE_DAYS_MAX = 30


class OuraServer:
    """Holds one user's documents and tokens, and what it was asked.

    `faults` are answers to give instead, by collection or path, in turn. A collection
    in `refused` was not granted.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.collections: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.collections["personal_info"] = [PERSONAL_INFO]
        self.page_size = 100
        self.access_token = "access-1"
        self.refresh_token = "refresh-1"
        self.code = "code-1"
        self.scope: str | None = None
        self.trades = 0
        self.refused: set[str] = set()
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def portal(self) -> Portal:
        return Portal(
            authorise_url=f"{self.url}/oauth/authorize",
            token_url=f"{self.url}/oauth/token",
            revoke_url=f"{self.url}/oauth/revoke",
            old_revoke_url="",
            api_url=self.url,
            scopes=PORTALS["developer"].scopes,
        )

    def asked_for(self, name: str) -> list[dict[str, str]]:
        return [params for asked, params in self.asked if asked == name]

    def read(self, name: str, params: dict[str, str]) -> tuple[int, Any]:
        if name == "personal_info":
            return 200, self.collections[name][0]
        documents = self.collections[name]
        if name == "heartrate":
            first, last = params["start_datetime"], params["end_datetime"]
            if _days_between(first, last) > _HEART_RATE_DAYS_MAX:
                return 400, {"detail": "too long"}
            documents = [
                each for each in documents if first <= each["timestamp"] < last
            ]
        elif "start_date" in params:
            first, last = params["start_date"], params["end_date"]
            documents = [each for each in documents if first <= _day(each) < last]
        at = int(params.get("next_token", "0"))
        ends = at + self.page_size
        token = str(ends) if ends < len(documents) else None
        return 200, {"data": documents[at:ends], "next_token": token}

    def trade(self, form: dict[str, str]) -> tuple[int, Any]:
        if (form["client_id"], form["client_secret"]) != ("our-id", "our-secret"):
            return 401, {"error": "invalid_client"}
        given = form.get("code") or form.get("refresh_token")
        is_code = form["grant_type"] == "authorization_code"
        wanted = self.code if is_code else self.refresh_token
        if given != wanted or (is_code and not form["code_verifier"]):
            return 400, {"error": "invalid_grant"}
        self.trades += 1
        self.code = ""
        self.access_token = f"access-{self.trades}"
        self.refresh_token = f"refresh-{self.trades}"
        tokens = {
            "token_type": "bearer",
            "access_token": self.access_token,
            "refresh_token": self.refresh_token,
            "expires_in": 86_400,
        }
        return 200, tokens | ({"scope": self.scope} if self.scope else {})


class _Handler(BaseHTTPRequestHandler):
    oura: OuraServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        name = parts.path.removeprefix(_COLLECTIONS)
        params = dict(parse_qsl(parts.query))
        self.oura.asked.append((name, params))
        if self._is_faulty(name):
            return
        granted = f"Bearer {self.oura.access_token}"
        if self.headers["Authorization"] != granted or name in self.oura.refused:
            self.answer(401, {"status": 401, "title": "Unauthorized"})
        else:
            self.answer(*self.oura.read(name, params))

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        form = dict(parse_qsl(self.rfile.read(size).decode()))
        self.oura.asked.append((self.path, form))
        if self._is_faulty(self.path):
            return
        if self.path == "/oauth/revoke":
            self.answer(200, {})
        else:
            self.answer(*self.oura.trade(form))

    def _is_faulty(self, name: str) -> bool:
        waiting = self.oura.faults[name]
        if not waiting:
            return False
        waiting.pop(0)(self)
        return True

    def answer(self, status: int, body: Any, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args: object) -> None:
        pass


def status(code: int, body: Any = None, **headers: str) -> Fault:
    """An answer of this status; headers with _ for -."""
    return lambda handler: handler.answer(code, body or {"title": "no"}, **headers)


def garbage(handler: _Handler) -> None:
    """A success that is no JSON."""
    handler.answer(200, b"<html>maintenance</html>")


def cut(handler: _Handler) -> None:
    """Half of an answer, then nothing."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')


@contextmanager
def running_oura() -> Iterator[OuraServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    oura = OuraServer(server.server_address[1])
    server.RequestHandlerClass = type("Handler", (_Handler,), {"oura": oura})
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield oura
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _day(document: dict[str, Any]) -> str:
    """What Oura narrows by: a day that starts after midnight is not before it."""
    return str(document.get("day") or document["start_day"])


def _days_between(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).days
