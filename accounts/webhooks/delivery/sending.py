"""Send the POST of one message and judge its outcome."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from accounts.webhooks.delivery.connections import Connections, NotConnected, Origin
from accounts.webhooks.delivery.http_response import AnswerInvalid
from accounts.webhooks.signing import sign_webhook_message
from accounts.webhooks.states import DeliveryFault

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from accounts.webhooks.delivery.http_response import Answer

TIMEOUT_S = 15.0  # Contract 8.5
HEADERS_MAX = 50
HEADER_MAX_LENGTH = 500
_GONE = 410
_MAY_WAIT = (429, 503)
_PORTS = {"http": 80, "https": 443}
USER_AGENT = "Assay-Webhooks/1.0"
# What a URL may hold as it is (RFC 3986); "%" too, as it is encoded already.
_PATH_MARKS = "/%:@!$&'()*+,;=~"
_QUERY_MARKS = _PATH_MARKS + "?"
_REQUEST = (
    b"%b\r\n"
    b"webhook-id: %b\r\n"
    b"webhook-timestamp: %d\r\n"
    b"webhook-signature: %b\r\n"
    b"Content-Length: %d\r\n"
    b"\r\n%b"
)


class Target(NamedTuple):
    """Where messages of an endpoint go, and what each of their requests begins with."""

    origin: Origin
    head: bytes


class Message(NamedTuple):
    """What is posted: a body under its id, to a target, signed with these keys."""

    target: Target
    message_id: str
    body: bytes
    keys: tuple[bytes, ...]


@dataclass(slots=True)
class SendOutcome:
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
    headers: list[tuple[str, str]] | None = None
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


def parse_endpoint_target(url: str, headers: Mapping[str, str]) -> Target:
    """Parse an endpoint's checked URL and custom headers into a request target."""
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    host = parts.hostname or ""
    with contextlib.suppress(UnicodeError):  # it resolves to nothing then
        host = host.encode("idna").decode()
    shown = f"[{host}]" if ":" in host else host
    accepts = any(each.lower() == "accept" for each in headers)
    port = parts.port or _PORTS[parts.scheme]
    path = quote(parts.path, safe=_PATH_MARKS) or "/"
    query = "?" + quote(parts.query, safe=_QUERY_MARKS) if parts.query else ""
    lines = [
        f"POST {path}{query} HTTP/1.1",
        f"Host: {shown}" if port == _PORTS[parts.scheme] else f"Host: {shown}:{port}",
        *([] if accepts else ["Accept: */*"]),
        *(f"{name}: {value}" for name, value in headers.items()),
        "Content-Type: application/json",
        f"User-Agent: {USER_AGENT}",
    ]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header breaks its line")
    return Target(Origin(host, port, is_tls), "\r\n".join(lines).encode())


class Sender:
    """Posts messages over the connections of a worker."""

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None) -> None:
        self._connections = Connections(ssl_context=ssl_context)

    async def __aenter__(self) -> Sender:
        await self._connections.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connections.__aexit__()

    async def send(self, message: Message) -> SendOutcome:
        """Post once and judge the answer; raises nothing but cancellation."""
        now, began = time.time(), asyncio.get_running_loop().time()
        stamp = int(now)
        signature = sign_webhook_message(
            message.keys, message.message_id, stamp, message.body
        )
        outcome = SendOutcome(now, stamp, signature)
        try:
            await self._post(message, outcome, began)
        except TimeoutError:
            outcome.fault = DeliveryFault.TIMEOUT
        except NotConnected as error:
            outcome.fault = error.fault
        except AnswerInvalid:
            outcome.fault = DeliveryFault.GARBAGE
        except Exception:  # noqa: BLE001 - a receiver may do anything
            outcome.fault = DeliveryFault.RESET
        outcome.total_ms = _since(began, asyncio.get_running_loop().time())
        return outcome

    async def _post(self, message: Message, outcome: SendOutcome, began: float) -> None:
        target = message.target
        until = began + TIMEOUT_S
        connection = self._connections.take(target.origin)
        if connection is None:
            connection = await self._connections.open(target.origin, until=until)
            outcome.dns_ms = connection.dns_ms
            outcome.connect_ms = connection.connect_ms
        outcome.address = connection.address
        request = _REQUEST % (
            target.head,
            message.message_id.encode(),
            outcome.sent_timestamp,
            outcome.signature.encode(),
            len(message.body),
            message.body,
        )
        answer = await connection.post(request, until=until)
        outcome.first_byte_ms = _since(began, connection.answered_at)
        self._connections.keep(connection)
        _judge(outcome, answer)


def _judge(outcome: SendOutcome, answer: Answer) -> None:
    """A status that came in time is an answer, however long its body drags on."""
    outcome.code = answer.code
    outcome.headers = [
        (name, value[:HEADER_MAX_LENGTH])
        for name, value in answer.headers[:HEADERS_MAX]
    ]
    outcome.body = bytes(answer.body)
    outcome.body_is_cut = answer.is_cut
    if answer.code in _MAY_WAIT:
        outcome.retry_after_s = _retry_after(answer)
    if 300 <= answer.code < 400:
        outcome.fault = DeliveryFault.REDIRECT
    elif not 200 <= answer.code < 300:
        outcome.fault = DeliveryFault.STATUS


def _retry_after(answer: Answer) -> float | None:
    """Seconds; the form with a date is not used, as the clocks may differ."""
    text = answer.header("retry-after")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _since(began: float, then: float) -> float:
    return round((then - began) * 1000, 2)
