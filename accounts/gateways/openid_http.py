"""One bounded call to an OpenID provider, at public addresses alone.

The address that is checked is the one that is connected to, so that no name can lead
elsewhere in between. Must not be here: what is asked, or what an answer means (openid).
"""

from __future__ import annotations

import socket
import ssl
import time
from functools import cache
from typing import Any

import httpx
import orjson
from django.conf import settings

from accounts.gateways.base import ProviderRefused, ProviderUnavailable
from portal.lib.addresses import is_public, read_address

# For connecting, and for each silence within an answer: a browser waits meanwhile.
_SILENCE_S = 5.0
_CALL_S = 15.0
_ANSWER_MAX_BYTES = 1024 * 1024


def ask(
    method: str,
    url: str,
    *,
    form: dict[str, str] | None = None,
    basic: tuple[str, str] | None = None,
    bearer: str = "",
) -> dict[str, Any]:
    """Call once and give the JSON object that came back; redirects are not followed.

    Secrets go into `form`, `basic` or `bearer`, never into the address. Raises:
    ProviderUnavailable; ProviderRefused (400 and such).
    """
    headers = {"User-Agent": "Assay", "Accept": "application/json"}
    if bearer:
        headers["Authorization"] = f"Bearer {bearer}"
    ends = time.monotonic() + _CALL_S
    try:
        with (
            httpx.Client(transport=_Guard(), timeout=_SILENCE_S) as client,
            client.stream(
                method,
                url,
                data=form,
                auth=httpx.BasicAuth(*basic) if basic else None,
                headers=headers,
            ) as answer,
        ):
            content = _read(answer, ends)
    except httpx.TimeoutException:
        raise ProviderUnavailable("timeout") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError):
        # Its text may name the address with all its parameters.
        raise ProviderUnavailable("no_answer") from None
    if answer.is_server_error or answer.is_redirect:
        raise ProviderUnavailable(f"http_{answer.status_code}")
    if not answer.is_success:
        raise ProviderRefused(f"http_{answer.status_code}")
    try:
        told = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise ProviderUnavailable("not_json") from None
    if not isinstance(told, dict):
        raise ProviderUnavailable("not_json")
    return told


class _Guard(httpx.BaseTransport):
    """Connects to a public address of the host, or to a host that a setting names."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport(verify=_tls())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        if host.lower() not in settings.SINGLE_SIGN_ON_LOCAL_HOSTS:
            address = _public_address(host, request.url.port or 443)
            # The certificate and the Host header stay those of the name.
            request.extensions = {**request.extensions, "sni_hostname": host}
            request.url = request.url.copy_with(host=address)
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def _public_address(host: str, port: int) -> str:
    """An address of the host that may be called. Raises: ProviderUnavailable."""
    for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        found = read_address(str(place[0]))
        if found is not None and is_public(found):
            return str(found)
    raise ProviderUnavailable("address")


@cache
def _tls() -> ssl.SSLContext:
    """Reading the roots takes longer than a call; a context serves any number."""
    return httpx.create_ssl_context()


def _read(answer: httpx.Response, ends: float) -> bytes:
    """The whole answer. Raises: ProviderUnavailable: too much of it, or too slow."""
    parts: list[bytes] = []
    size = 0
    for part in answer.iter_bytes():
        size += len(part)
        if size > _ANSWER_MAX_BYTES:
            raise ProviderUnavailable("too_long")
        if time.monotonic() > ends:
            raise ProviderUnavailable("timeout")
        parts.append(part)
    return b"".join(parts)
