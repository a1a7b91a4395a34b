"""Bounded HTTPS calls to a source's server, with their failures classified.

Addresses come from code and settings, never from users. No text of a failure holds an
address, a token or a byte of the answer.
"""

from __future__ import annotations

import base64
import ssl
import time
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx
import orjson
from django.utils import timezone

from portal.lib.network.outgoing import DeadlineTransport
from users.gateways.base import CALL_TIMEOUT, NO_METER, SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from users.gateways.base import Meter

# For connecting, and for each silence within an answer.
SILENCE_TIMEOUT = timedelta(seconds=15)
# Ours: a month of five-minute values takes half a megabyte.
ANSWER_MAX_BYTES = 20 * 1024 * 1024
# What a source may ask us to wait; more is taken for a mistake.
LONGEST_WAIT = timedelta(hours=24)
_USER_AGENT = "Assay"


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer: status, and `body` as JSON data or None, or a file's bytes.

    `retry_after` is what it asks us to wait before the next call.
    """

    status: int
    body: Any
    retry_after: timedelta | None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class SourceHttp:
    """An HTTP client for one source; close it, or use it as a context.

    Redirects are not followed: they would carry tokens elsewhere. Every method raises
    SourceUnavailable for what may be repeated: no answer, a cut or endless one, 429 and
    5xx, a success that is no JSON, and what the meter holds back.
    """

    def __init__(
        self,
        *,
        call_timeout: timedelta = CALL_TIMEOUT,
        silence_timeout: timedelta = SILENCE_TIMEOUT,
        meter: Meter = NO_METER,
        account: str = "",
    ) -> None:
        self._meter, self._account = meter, account
        self._call_timeout = call_timeout
        self._transport = DeadlineTransport(ssl_context=_tls())
        self._client = httpx.Client(
            transport=self._transport,
            timeout=silence_timeout.total_seconds(),
            follow_redirects=False,
            headers={"User-Agent": _USER_AGENT, "Accept": "application/json"},
        )

    def __enter__(self) -> SourceHttp:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        access_token: str,
        units: int = 1,
    ) -> Answer:
        """Send a GET with a bearer token; `units` is what it counts for."""
        headers = {"Authorization": f"Bearer {access_token}"}
        request = self._client.build_request("GET", url, params=params, headers=headers)
        return self._call(request, units=units)

    def get_file(self, url: str, *, headers: Mapping[str, str]) -> Answer:
        """Send a GET for a file; `body` of a success is its bytes."""
        request = self._client.build_request("GET", url, headers=headers)
        return self._call(request, is_file=True)

    def post_form(
        self,
        url: str,
        form: Mapping[str, str],
        *,
        access_token: str = "",
        basic: tuple[str, str] | None = None,
    ) -> Answer:
        """Send a form by POST; secrets belong here, never in the URL.

        `basic` are the name and password of a client (RFC 7617).
        """
        headers = {"Authorization": f"Bearer {access_token}"} if access_token else {}
        if basic is not None:
            pair = base64.b64encode(":".join(basic).encode()).decode()
            headers = {"Authorization": f"Basic {pair}"}
        return self._call(
            self._client.build_request("POST", url, data=dict(form), headers=headers)
        )

    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send a call that is authenticated by headers, with a JSON body."""
        return self._call(
            self._client.build_request(method, url, headers=headers, json=body)
        )

    def hold_back(self, wait: timedelta | None) -> SourceUnavailable:
        """Hold back all calls of the application; return what to raise.

        For a source that says in its own way that calls are too many.
        """
        self._meter.block(wait)
        return SourceUnavailable("rate_limited", retry_after=wait)

    def _call(
        self, request: httpx.Request, *, units: int = 1, is_file: bool = False
    ) -> Answer:
        self._meter.take(self._account, units=units)
        self._transport.ends = time.monotonic() + self._call_timeout.total_seconds()
        try:
            response = self._client.send(request, stream=True)
            try:
                content = _read(response)
            finally:
                response.close()
        except httpx.HTTPError as error:
            # Its text may name the address with all its parameters.
            raise SourceUnavailable(_reason(error)) from None
        wait = _retry_after(response.headers)
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise self.hold_back(wait)
        if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise SourceUnavailable(f"http_{response.status_code}", retry_after=wait)
        if is_file and response.is_success:
            return Answer(response.status_code, content, wait)
        return Answer(response.status_code, _json(response, content), wait)


@cache
def _tls() -> ssl.SSLContext:
    """Return the shared TLS context; reading the roots is slow."""
    return httpx.create_ssl_context()


def _reason(error: httpx.HTTPError) -> str:
    return "timeout" if isinstance(error, httpx.TimeoutException) else "no_answer"


def _read(response: httpx.Response) -> bytes:
    """Read the whole answer. Raises: SourceUnavailable if too large."""
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if size > ANSWER_MAX_BYTES:
            raise SourceUnavailable("too_long")
        parts.append(part)
    return b"".join(parts)


def _json(response: httpx.Response, content: bytes) -> Any:
    """Parse the JSON of an answer. Raises: SourceUnavailable on success without it."""
    if not content:
        return None
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        if response.is_success:
            raise SourceUnavailable("not_json") from None
        return None


def _find_reset(headers: httpx.Headers) -> str:
    """Return the seconds until the shortest limit is reset, as sources name it.

    Polar names it RateLimit-Reset and lists those of both limits, WHOOP
    X-RateLimit-Reset; Ours: a longer one is asked for again when the shorter is over.
    """
    told = headers.get("ratelimit-reset") or headers.get("x-ratelimit-reset") or ""
    return told.partition(",")[0].strip()


def _retry_after(headers: httpx.Headers) -> timedelta | None:
    """Parse Retry-After: seconds or an HTTP date (RFC 9110, 10.2.3); else None."""
    text = headers.get("retry-after", "").strip() or _find_reset(headers)
    try:
        if text.isascii() and text.isdigit():
            wait = timedelta(seconds=min(int(text), LONGEST_WAIT.total_seconds()))
        else:
            wait = parsedate_to_datetime(text) - timezone.now()
    except (TypeError, ValueError):
        return None
    return min(max(wait, timedelta(0)), LONGEST_WAIT)
