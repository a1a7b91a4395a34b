"""Receive webhooks on localhost, verify and print each request.

What it says holds no health data unless bodies are asked for.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import orjson
from aiohttp import web

from accounts.webhooks.signing import SignatureInvalid, verify_webhook_signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BODY_MAX_BYTES = 20 * 1024 * 1024
SEEN_MAX = 10_000
STOP_TIMEOUT_S = 2.0
_NO_CONTENT, _UNAUTHORIZED = 204, 401


class Listener:
    """Answers POSTs to any path: 204 when signed with one of the keys, else 401.

    `/status/503` answers with that status, for a look at what is done about it. `keys`
    is asked anew when none of the known ones fits, as secrets are rotated.
    """

    def __init__(
        self,
        *,
        keys: Callable[[], Iterable[bytes]],
        say: Callable[[str], None],
        shows_bodies: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ask = keys
        self._keys: list[bytes] = []
        self._say = say
        self._shows_bodies = shows_bodies
        self._clock = clock
        self._seen: dict[str, None] = {}

    def app(self) -> web.Application:
        """Return what a web server serves."""
        app = web.Application(client_max_size=BODY_MAX_BYTES)
        app.router.add_post("/status/{status:[2-5][0-9][0-9]}", self.handle)
        app.router.add_post("/{path:.*}", self.handle)
        return app

    async def handle(self, request: web.Request) -> web.Response:
        """Take one message."""
        body = await request.read()
        message_id = request.headers.get("webhook-id", "")
        reason = await self._find_rejection_reason(request, message_id, body)
        status = int(request.match_info.get("status", _NO_CONTENT))
        if reason:
            status = _UNAUTHORIZED
        self._say(self._line(message_id, body, reason, status))
        if self._shows_bodies and not reason:
            self._say(_indented(body))
        return web.Response(status=status)

    async def _find_rejection_reason(
        self, request: web.Request, message_id: str, body: bytes
    ) -> str:
        """Why the signature is not taken, or nothing."""
        reason = self._check(request, message_id, body)
        if reason:
            self._keys = await asyncio.to_thread(lambda: list(self._ask()))
            reason = self._check(request, message_id, body)
        return reason

    def _check(self, request: web.Request, message_id: str, body: bytes) -> str:
        reason = "no secret found"
        for key in self._keys:
            try:
                verify_webhook_signature(
                    key,
                    message_id=message_id,
                    timestamp=request.headers.get("webhook-timestamp", ""),
                    signature=request.headers.get("webhook-signature", ""),
                    body=body,
                    now=self._clock(),
                )
            except SignatureInvalid as invalid:
                reason = str(invalid)
            else:
                return ""
        return reason

    def _line(self, message_id: str, body: bytes, reason: str, status: int) -> str:
        at = time.strftime("%H:%M:%S", time.gmtime(self._clock()))
        size = f"{len(body) / 1000:.1f} kB"
        if reason:
            # Nobody vouches for what such a message says.
            return f"{at}  NOT VERIFIED ({reason})  {size}, response {status}"
        again = ", repeated" if message_id in self._seen else ""
        self._seen[message_id] = None
        if len(self._seen) > SEEN_MAX:
            del self._seen[next(iter(self._seen))]
        kind = _event_type(body)
        return f"{at}  verified  {kind}  {message_id}  {size}, response {status}{again}"


async def start_local_webhook_listener(
    app: web.Application, *, port: int
) -> web.AppRunner:
    """Start a webhook receiver on localhost; the caller cleans up. Raises: OSError."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=STOP_TIMEOUT_S)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
    except OSError:
        await runner.cleanup()
        raise
    return runner


def _event_type(body: bytes) -> str:
    try:
        return str(orjson.loads(body)["event_type"])
    except (ValueError, KeyError, TypeError):
        return "no event"


def _indented(body: bytes) -> str:
    try:
        return orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode()
    except ValueError:
        return body.decode(errors="replace")
