"""Serve assistants: by stdio with one key, or by HTTP with the key of each request."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from rest_framework.exceptions import Throttled

from accounts.api.throttling import count_call_without_valid_key
from accounts.operations.assistants import admit_assistant
from portal.assistants.calls import ApiCalls, ToolRefused
from portal.assistants.server import build_assistant_server
from portal.lib.database.outages import close_dead_database_connection
from portal.lib.errors import NotAllowed
from portal.lib.web.proxies import find_client_ip_address, parse_ip_networks
from portal.server.connections import close_timed_out_connections, room

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    Scope = dict[str, Any]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    Receive = Callable[[], Awaitable[dict[str, Any]]]

PATH = "/mcp"
THREADS = 4
# An argument is an ID, a word or a day.
BODY_MAX_BYTES = 64 * 1024
_CALLER = "assay.caller"
_THIS_MACHINE = "127.0.0.1"


def serve_assistant_by_stdio(key: str) -> None:
    """Serve one assistant by standard input and output, until it closes them."""
    threads = ThreadPoolExecutor(THREADS)

    def find_caller(_context: ServerRequestContext[Any, Any]) -> ApiCalls:
        close_dead_database_connection()
        try:
            grant = admit_assistant(key=key, address=_THIS_MACHINE)
        except NotAllowed as refused:
            raise ToolRefused(refused.code, str(refused.message)) from None
        if grant is None:
            raise ToolRefused("key_invalid", "The key is not valid.")
        return ApiCalls(key, grant, _THIS_MACHINE)

    server = build_assistant_server(find_caller, threads)
    asyncio.run(_serve(server))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def build_assistant_application() -> AssistantGate:
    """Return the ASGI application of /mcp, which asks each request for a key."""
    threads = ThreadPoolExecutor(THREADS)
    server = build_assistant_server(_find_caller, threads)
    public = urlsplit(settings.PUBLIC_URL)
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        # Each request by itself: any process may answer it, and none keeps a session.
        stateless_http=True,
        json_response=True,
        max_request_body_size=BODY_MAX_BYTES,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[public.netloc, "127.0.0.1:*", "localhost:*"],
            allowed_origins=[f"{public.scheme}://{public.netloc}"],
        ),
    )
    return AssistantGate(application, threads)


class AssistantGate:
    """Admits requests with a key of an assistant; answers the others itself."""

    def __init__(self, application: Any, threads: ThreadPoolExecutor) -> None:
        self._application, self._threads = application, threads
        self._trusted = parse_ip_networks(settings.TRUSTED_PROXIES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or the life of the process."""
        if scope["type"] == "lifespan":
            room.per_address = settings.WEB_CONNECTIONS_PER_ADDRESS
            room.in_all = settings.WEB_CONNECTIONS
            room.trusted = self._trusted
            close_timed_out_connections(asyncio.get_running_loop())
        elif scope["path"] == "/healthz":
            await _reply(send, HTTPStatus.OK, {"status": "ok"})
            return
        else:
            refusal = await asyncio.get_running_loop().run_in_executor(
                self._threads, self._admit, scope
            )
            if refusal is not None:
                await _reply(send, *refusal)
                return
        await self._application(scope, receive, send)

    def _admit(self, scope: Scope) -> tuple[HTTPStatus, dict[str, str]] | None:
        """Put the caller into the scope, or return why there is none."""
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        peer = (scope.get("client") or ("",))[0]
        forwarded = headers.get("x-forwarded-for", "")
        address = find_client_ip_address(
            peer=peer, forwarded=forwarded, trusted=self._trusted
        )
        key = headers.get("x-service-api-key", "") or _bearer(headers)
        close_dead_database_connection()
        try:
            grant = admit_assistant(key=key, address=address) if key else None
            if grant is None:
                count_call_without_valid_key(address)
                return HTTPStatus.UNAUTHORIZED, {"error": "key_invalid"}
        except Throttled:
            return HTTPStatus.TOO_MANY_REQUESTS, {"error": "rate_limited"}
        except NotAllowed as refused:
            return HTTPStatus.FORBIDDEN, {"error": refused.code}
        scope[_CALLER] = (key, grant, peer, forwarded)
        return None


def _find_caller(context: ServerRequestContext[Any, Any]) -> ApiCalls:
    request = context.request
    if request is None or _CALLER not in request.scope:
        raise ToolRefused("key_invalid", "The key is not valid.")
    return ApiCalls(*request.scope[_CALLER])


def _bearer(headers: dict[str, str]) -> str:
    scheme, _, text = headers.get("authorization", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


async def _reply(send: Send, status: HTTPStatus, body: dict[str, str]) -> None:
    headers = [(b"content-type", b"application/json")]
    if status == HTTPStatus.UNAUTHORIZED:
        headers.append((b"www-authenticate", b'Bearer realm="assay"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps(body)})
