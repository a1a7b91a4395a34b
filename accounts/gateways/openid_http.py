"""Make one bounded HTTP call to an OpenID provider at public addresses.

All calls of a sign-in share one end: a provider that is slow in each of them, or sends
byte by byte, holds no process for longer than EXCHANGE_S.

The address that is checked is the one that is connected to, so that no name can lead
elsewhere in between.
"""

from __future__ import annotations

import ssl
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
from django.conf import settings

from accounts.gateways.base import ProviderRefused, ProviderUnavailable
from portal.lib.network.addresses import is_public_ip_address, parse_ip_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

# Seconds for all that one request asks of a provider: a browser waits meanwhile.
EXCHANGE_S = 15.0
# For connecting, and for each silence within an answer.
_SILENCE_S = 5.0
_ANSWER_MAX_BYTES = 1024 * 1024


def compute_openid_call_deadline() -> float:
    """Return the deadline of calls that start now, in `time.monotonic` seconds."""
    return time.monotonic() + EXCHANGE_S


def request_json_without_redirects(
    method: str,
    url: str,
    *,
    deadline: float,
    form: dict[str, str] | None = None,
    basic: tuple[str, str] | None = None,
    bearer: str = "",
) -> dict[str, Any]:
    """Make one call and return the JSON object; do not follow redirects.

    `deadline` is from compute_openid_call_deadline. Secrets go into `form`, `basic`
    or `bearer`, never into the URL. Raises: ProviderUnavailable; ProviderRefused (4xx).
    """
    import httpx  # loads with the first call, as does what is built on it

    from portal.lib.network.outgoing import DeadlineTransport

    headers = {
        "User-Agent": "Assay",
        "Accept": "application/json",
        # What is packed could be a thousand times what is read.
        "Accept-Encoding": "identity",
    }
    if bearer:
        headers["Authorization"] = f"Bearer {bearer}"
    transport = DeadlineTransport(
        ssl_context=_tls_context(), ends=deadline, choose=_choose_address
    )
    try:
        with (
            httpx.Client(transport=transport, timeout=_SILENCE_S) as client,
            client.stream(
                method,
                url,
                data=form,
                auth=httpx.BasicAuth(*basic) if basic else None,
                headers=headers,
            ) as answer,
        ):
            content = _read_body(answer)
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
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise ProviderUnavailable("not_json") from None
    if not isinstance(document, dict):
        raise ProviderUnavailable("not_json")
    return document


def _choose_address(host: str, addresses: Sequence[str]) -> Sequence[str]:
    """Return a host's public addresses; all of a host named in a setting.

    Raises: ProviderUnavailable: there is none.
    """
    if host.lower() in settings.SINGLE_SIGN_ON_LOCAL_HOSTS:
        return addresses
    public = [
        address
        for address in addresses
        if (read := parse_ip_address(address)) is not None
        and is_public_ip_address(read)
    ]
    if not public:
        raise ProviderUnavailable("address")
    return public


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the TLS context, created once: loading root certificates is slow."""
    import httpx

    return httpx.create_ssl_context()


def _read_body(answer: httpx.Response) -> bytes:
    """Return the whole body. Raises: ProviderUnavailable if it is too large."""
    content = bytearray()
    for part in answer.iter_raw():
        content += part
        if len(content) > _ANSWER_MAX_BYTES:
            raise ProviderUnavailable("too_long")
    return bytes(content)
