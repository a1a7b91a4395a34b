"""What twins of REST providers share: sign-in, tokens that end, limits and a server.

A twin holds one person's account. What it was asked is kept for tests.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from users.demo.twins.pushes import PushSender

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PAGE = """<!doctype html><html lang="en"><title>Sign in</title>
<h1>{name}, a twin</h1><p>Nobody real. Share health data?</p>
<form method="post"><button name="answer" value="allow">Allow</button>
<button name="answer" value="deny">Deny</button></form></html>"""


@dataclass(frozen=True, slots=True)
class TwinCall:
    """A call to a twin; header names in small letters."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    content: bytes = b""

    @property
    def form(self) -> dict[str, str]:
        """Return the fields of a form."""
        return dict(parse_qsl(self.content.decode()))

    @property
    def bearer(self) -> str:
        """Return the access token."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True, slots=True)
class TwinAnswer:
    """An answer: JSON unless `body` is None or bytes."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class RestTwin:
    """One person's account, and an application that may read it.

    `clock` returns seconds since 1970. `faults` are statuses to answer first, one each.
    `log` holds (when, method, path, status).
    """

    name: ClassVar[str] = ""
    sign_in_path: ClassVar[str] = ""
    token_path: ClassVar[str] = ""
    code_seconds: ClassVar[int] = 600
    access_seconds: ClassVar[int] = 3600
    # Pairs of calls and seconds, of the application.
    limits: ClassVar[tuple[tuple[int, int], ...]] = ()

    client_id: str = "twin-id"
    client_secret: str = "twin-secret"  # noqa: S105 - of no real application
    user_id: int = 10_129
    clock: Callable[[], float] = time.time
    faults: deque[int] = field(default_factory=deque)
    log: list[tuple[float, str, str, int]] = field(default_factory=list)
    access_token: str = ""
    refresh_token: str = ""
    expires_at: float = 0.0
    trades: int = 0
    # How often a refresh token was sent that had been exchanged already.
    replays: int = 0
    sender: PushSender = field(default_factory=PushSender)

    def __post_init__(self) -> None:
        """Begin without codes and calls."""
        self.url = ""
        self.lock = threading.RLock()
        self._codes: dict[str, tuple[float, str]] = {}
        self._calls: deque[float] = deque()
        self._spent: set[str] = set()

    def issue_code(self, redirect_uri: str) -> str:
        """Return a code, as after somebody allowed it."""
        code = secrets.token_hex(8)
        self._codes[code] = (self.clock() + self.code_seconds, redirect_uri)
        return code

    def revoke_consent(self) -> None:
        """End what the user allowed, as in the provider's own app."""
        self.access_token = self.refresh_token = ""

    def count_most_calls(self, seconds: int) -> int:
        """Return the most calls that came within any so many seconds."""
        times = sorted(at for at, *_ in self.log)
        first = most = 0
        for number, at in enumerate(times):
            while times[first] <= at - seconds:
                first += 1
            most = max(most, number - first + 1)
        return most

    def answer(self, call: TwinCall) -> TwinAnswer:
        """Answer a call, and log it."""
        with self.lock:
            now = self.clock()
            answer = self._hold_back(now) or self._answer(call, now)
            self.log.append((now, call.method, call.path, answer.status))
        return answer

    def read(self, call: TwinCall) -> TwinAnswer:
        """Answer a call of somebody whose token is good."""
        raise NotImplementedError

    def serve_application(self, call: TwinCall) -> TwinAnswer | None:  # noqa: ARG002 - for those with some
        """Answer a call of the application itself; None for one of a user."""
        return None

    def is_client(self, call: TwinCall, form: dict[str, str]) -> bool:  # noqa: ARG002 - for HTTP Basic
        """Return whether a call for tokens is of the application."""
        return (form.get("client_id"), form.get("client_secret")) == (
            self.client_id,
            self.client_secret,
        )

    def give_tokens(self, *, now: float) -> dict[str, Any]:
        """Make new tokens and return them."""
        self.trades += 1
        if self.refresh_token:
            self._spent.add(self.refresh_token)
        self.access_token = f"access-{self.trades}-{secrets.token_hex(4)}"
        self.refresh_token = f"refresh-{self.trades}-{secrets.token_hex(4)}"
        self.expires_at = now + self.access_seconds
        return {
            "access_token": self.access_token,
            "refresh_token": self.refresh_token,
            "expires_in": self.access_seconds,
            "token_type": "bearer",
        }

    def _hold_back(self, now: float) -> TwinAnswer | None:
        if self.faults:
            return TwinAnswer(self.faults.popleft(), {"title": "fault of the twin"})
        longest = max((seconds for _, seconds in self.limits), default=0)
        while self._calls and self._calls[0] <= now - longest:
            self._calls.popleft()
        for calls, seconds in self.limits:
            within = [at for at in self._calls if at > now - seconds]
            if len(within) >= calls:
                wait = int(within[0] + seconds - now) + 1
                return TwinAnswer(429, {}, {"X-RateLimit-Reset": str(wait)})
        self._calls.append(now)
        return None

    def _answer(self, call: TwinCall, now: float) -> TwinAnswer:
        if call.path == self.token_path:
            return self._trade(call, now)
        served = self.serve_application(call)
        if served is not None:
            return served
        if call.bearer != self.access_token or not call.bearer or now > self.expires_at:
            return TwinAnswer(401, {"title": "Unauthorized"})
        return self.read(call)

    def _trade(self, call: TwinCall, now: float) -> TwinAnswer:
        form = call.form
        if not self.is_client(call, form):
            return TwinAnswer(401, {"error": "invalid_client"})
        if form.get("grant_type") == "authorization_code":
            until, redirect_uri = self._codes.pop(form.get("code", ""), (0.0, ""))
            is_good = until >= now and form.get("redirect_uri") == redirect_uri
        else:
            given = form.get("refresh_token", "")
            is_good = bool(given) and given == self.refresh_token
            if given in self._spent:
                # A token sent twice is taken for stolen (RFC 9700, 4.14.2).
                self.replays += 1
                self.revoke_consent()
        if not is_good:
            return TwinAnswer(400, {"error": "invalid_grant"})
        return TwinAnswer(200, self.give_tokens(now=now))


class _Handler(BaseHTTPRequestHandler):
    twin: RestTwin

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        call = TwinCall(
            self.command,
            parts.path,
            dict(parse_qsl(parts.query)),
            {name.lower(): text for name, text in self.headers.items()},
            self.rfile.read(size),
        )
        if call.path == self.twin.sign_in_path:
            self._sign_in(call)
            return
        answer = self.twin.answer(call)
        if isinstance(answer.body, bytes):
            kind = "application/octet-stream"
            self._send(answer.status, answer.body, kind, answer.headers)
            return
        content = b"" if answer.body is None else json.dumps(answer.body).encode()
        self._send(answer.status, content, "application/json", answer.headers)

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _sign_in(self, call: TwinCall) -> None:
        if call.method == "GET":
            page = _PAGE.format(name=self.twin.name)
            self._send(200, page.encode(), "text/html; charset=utf-8", {})
            return
        back, state = call.query["redirect_uri"], call.query["state"]
        said = {"state": state, "error": "access_denied"}
        if call.form.get("answer") == "allow":
            said = {"state": state, "code": self.twin.issue_code(back)}
        self._send(302, b"", "text/plain", {"Location": f"{back}?{urlencode(said)}"})

    def _send(
        self, status: int, content: bytes, kind: str, headers: dict[str, str]
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args: object) -> None:
        pass


def build_twin_server(twin: RestTwin, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a twin on this machine; the caller serves and closes it."""
    handler = type("Handler", (_Handler,), {"twin": twin})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    twin.url = f"http://127.0.0.1:{server.server_port}"
    return server


@contextmanager
def running_twin(twin: RestTwin) -> Iterator[None]:
    """Serve a twin while the context lasts."""
    server = build_twin_server(twin)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
