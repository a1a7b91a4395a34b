"""The POST of one message and its verdict; the only place here that opens a socket.

Must not be here: which deliveries are due, or what follows from a verdict.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from contextvars import ContextVar
from dataclasses import dataclass
from io import BytesIO
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.resolver import ThreadedResolver

from accounts.webhooks.addresses import is_local_host, is_public
from accounts.webhooks.signing import sign
from accounts.webhooks.states import DeliveryFault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiohttp.abc import ResolveResult
    from aiohttp.client_proto import ResponseHandler

TIMEOUT_S = 15.0  # Contract 8.5
ANSWER_MAX = 16 * 1024
# From here on aiohttp wants a stream, so that writing it holds up nothing else.
_LARGE = 2**20
_HEADERS_MAX = 50
_HEADER_MAX_LENGTH = 500
_GONE = 410
_MAY_WAIT = (429, 503)
# Below what servers commonly keep an idle connection open, so that none is used dying.
_KEEPALIVE_S = 4.0
USER_AGENT = "Assay-Webhooks/1.0"
# Where a request notes its steps: the socket's factory is told nothing of the request.
_marks: ContextVar[dict[str, Any]] = ContextVar("marks")


class Message(NamedTuple):
    """What is posted: a body under its id, to an address, signed with these keys."""

    url: str
    host: str
    message_id: str
    body: bytes
    keys: tuple[bytes, ...]
    headers: Mapping[str, str]


@dataclass(slots=True)
class Verdict:
    """What became of one POST; `fault` None is a 2xx answer in time.

    Times are milliseconds from the start; `started_at` and `sent_timestamp` are Unix
    seconds by this machine's clock. `retry_after_s` is what the receiver asked for.
    """

    started_at: float
    sent_timestamp: int
    signature: str
    fault: DeliveryFault | None = None
    code: int | None = None
    retry_after_s: float | None = None
    address: str = ""
    headers: list[list[str]] | None = None
    body: bytes = b""
    body_is_cut: bool = False
    dns_ms: float | None = None
    connect_ms: float | None = None
    first_byte_ms: float | None = None
    total_ms: float = 0.0

    @property
    def is_gone(self) -> bool:
        """Whether the receiver wants nothing ever more."""
        return self.code == _GONE


class Sender:
    """Posts messages; use it as an asynchronous context.

    Public hosts and the hosts of WEBHOOK_LOCAL_HOSTS have a connector each, so that a
    kept connection of the one is never used for the other.
    """

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None) -> None:
        self._ssl = ssl_context or ssl.create_default_context()
        # By host, for requests that go over a kept connection.
        self._addresses: dict[str, str] = {}

    async def __aenter__(self) -> Sender:
        self._public = self._session(is_guarded=True)
        self._local = self._session(is_guarded=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._public.close()
        await self._local.close()

    async def send(self, message: Message) -> Verdict:
        """Post once and judge the answer; raises nothing but cancellation."""
        stamp = int(time.time())
        signature = sign(message.keys, message.message_id, stamp, message.body)
        verdict = Verdict(time.time(), stamp, signature)
        began = time.monotonic()
        session = self._local if is_local_host(message.host) else self._public
        try:
            await self._post(session, message, verdict, began)
        except TimeoutError:
            # A status that came in time is an answer, however long its body drags on.
            if verdict.code is None:
                verdict.fault = DeliveryFault.TIMEOUT
        except Exception as error:  # noqa: BLE001 - a receiver may do anything
            if verdict.code is None:
                verdict.fault = _fault(error)
        verdict.total_ms = _since(began)
        return verdict

    async def _post(
        self,
        session: aiohttp.ClientSession,
        message: Message,
        verdict: Verdict,
        began: float,
    ) -> None:
        marks: dict[str, Any] = {}
        _marks.set(marks)
        answer = await session.post(
            message.url,
            data=message.body if len(message.body) < _LARGE else BytesIO(message.body),
            allow_redirects=False,
            headers={
                **message.headers,
                "Content-Type": "application/json",
                "User-Agent": USER_AGENT,
                "webhook-id": message.message_id,
                "webhook-timestamp": str(verdict.sent_timestamp),
                "webhook-signature": verdict.signature,
            },
        )
        try:
            verdict.first_byte_ms = _since(began)
            verdict.dns_ms = marks.get("dns")
            verdict.connect_ms = marks.get("connect")
            verdict.code = answer.status
            verdict.headers = _short_headers(answer)
            known = self._addresses.get(message.host, "")
            verdict.address = marks.get("address", known)
            self._addresses[message.host] = verdict.address
            if answer.status in _MAY_WAIT:
                verdict.retry_after_s = _retry_after(answer)
            if 300 <= answer.status < 400:
                verdict.fault = DeliveryFault.REDIRECT
            elif not 200 <= answer.status < 300:
                verdict.fault = DeliveryFault.STATUS
            await _read_some(answer, verdict)
        finally:
            if answer.content.at_eof():
                answer.release()
            else:
                answer.close()  # what is not read is not waited for

    def _session(self, *, is_guarded: bool) -> aiohttp.ClientSession:
        connector = _Connector(
            limit=0,
            ttl_dns_cache=10,
            keepalive_timeout=_KEEPALIVE_S,
            ssl=self._ssl,
            resolver=_Resolver(is_guarded=is_guarded),
            socket_factory=_guarded_socket if is_guarded else _plain_socket,
        )
        return aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            # To the answer's last byte; exactly, where aiohttp rounds up to a second.
            timeout=aiohttp.ClientTimeout(
                total=TIMEOUT_S, ceil_threshold=TIMEOUT_S + 1
            ),
        )


class _Blocked(OSError):
    """An address is not public."""


class _Resolver(AbstractResolver):
    """Resolves, to public addresses alone where it is guarded, and notes how long."""

    def __init__(self, *, is_guarded: bool) -> None:
        self._is_guarded = is_guarded
        self._under = ThreadedResolver()

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,
    ) -> list[ResolveResult]:
        began = time.monotonic()
        try:
            found = await self._under.resolve(host, port, family)
        finally:
            _mark("dns", _since(began))
        if not self._is_guarded:
            return found
        public = [each for each in found if _may_connect(each["host"])]
        if not public:
            raise _Blocked("no public address")
        return public

    async def close(self) -> None:
        await self._under.close()


class _Connector(aiohttp.TCPConnector):
    """Notes how long a new connection took, its look-up and TLS included.

    Not by aiohttp's traces: they cost each request a fifth of what sending it does.
    """

    async def _create_connection(self, *args: Any, **options: Any) -> ResponseHandler:
        began = time.monotonic()
        try:
            return await super()._create_connection(*args, **options)
        finally:
            _mark("connect", _since(began))


def _mark(name: str, value: object) -> None:
    marks = _marks.get(None)
    if marks is not None:
        marks[name] = value


def _guarded_socket(info: Any) -> socket.socket:
    """The last gate: a socket for the very address that is connected to."""
    if not _may_connect(info[4][0]):
        raise _Blocked("not a public address")
    return _plain_socket(info)


def _plain_socket(info: Any) -> socket.socket:
    _mark("address", info[4][0])
    return socket.socket(family=info[0], type=info[1], proto=info[2])


def _may_connect(address: str) -> bool:
    try:
        return is_public(ip_address(address.partition("%")[0]))
    except ValueError:
        return False


async def _read_some(answer: aiohttp.ClientResponse, verdict: Verdict) -> None:
    """Keep the first ANSWER_MAX bytes; what goes wrong here changes no verdict."""
    if answer.content.at_eof():
        return
    kept = bytearray()
    with contextlib.suppress(aiohttp.ClientError, OSError):
        while len(kept) <= ANSWER_MAX:
            chunk = await answer.content.read(ANSWER_MAX + 1 - len(kept))
            if not chunk:
                break
            kept += chunk
            # Kept as it grows, as time may run out.
            verdict.body = bytes(kept[:ANSWER_MAX])
    verdict.body_is_cut = len(kept) > ANSWER_MAX


def _short_headers(answer: aiohttp.ClientResponse) -> list[list[str]]:
    pairs: Sequence[tuple[str, str]] = list(answer.headers.items())[:_HEADERS_MAX]
    return [[name, value[:_HEADER_MAX_LENGTH]] for name, value in pairs]


def _retry_after(answer: aiohttp.ClientResponse) -> float | None:
    """Seconds; the form with a date is not used, as the clocks may differ."""
    text = answer.headers.get("Retry-After", "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _fault(error: BaseException) -> DeliveryFault:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _Blocked):
            return DeliveryFault.BLOCKED
        cause = cause.__cause__ or getattr(cause, "os_error", None)
    if isinstance(getattr(error, "os_error", None), ConnectionResetError):
        return DeliveryFault.TLS  # it connected, and was closed in the handshake
    known: tuple[tuple[type[BaseException], DeliveryFault], ...] = (
        (aiohttp.ClientConnectorCertificateError, DeliveryFault.CERTIFICATE),
        (aiohttp.ClientConnectorSSLError, DeliveryFault.TLS),
        (aiohttp.ClientConnectorDNSError, DeliveryFault.DNS),
        (aiohttp.ClientConnectorError, DeliveryFault.REFUSED),
        (aiohttp.ClientResponseError, DeliveryFault.GARBAGE),
        (aiohttp.ClientPayloadError, DeliveryFault.GARBAGE),
    )
    for kind, fault in known:
        if isinstance(error, kind):
            return fault
    return DeliveryFault.RESET


def _since(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 2)
