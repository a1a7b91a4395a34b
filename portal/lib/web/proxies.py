"""Whose call it is, behind proxies: the client's address instead of the proxy's.

`X-Forwarded-For` is believed from TRUSTED_PROXIES alone, and of it only what they wrote
themselves: the last entry that is none of them. From anybody else it is what a client
says of itself.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network
    Address = ipaddress.IPv4Address | ipaddress.IPv6Address

HEADER = "HTTP_X_FORWARDED_FOR"
# Whoever has one address of IPv6 has the rest of its network as well.
IPV6_PREFIX = 64


class TrustedProxyMiddleware:
    """Put the client's address into REMOTE_ADDR; everything else reads it there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.TRUSTED_PROXIES:
            raise MiddlewareNotUsed
        self.get_response = get_response
        self.trusted = parse_ip_networks(settings.TRUSTED_PROXIES)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve a request as its client's."""
        request.META["REMOTE_ADDR"] = find_client_ip_address(
            peer=request.META.get("REMOTE_ADDR", ""),
            forwarded=request.META.get(HEADER, ""),
            trusted=self.trusted,
        )
        return self.get_response(request)


def parse_ip_networks(texts: Sequence[str]) -> list[Network]:
    """Parse networks in CIDR form, or single addresses. Raises: ValueError."""
    return [ipaddress.ip_network(each) for each in texts]


def find_client_ip_address(
    *, peer: str, forwarded: str, trusted: Sequence[Network]
) -> str:
    """Return the address of the client, as trusted proxies report it.

    `peer` is who is connected, `forwarded` the header, the client first. The way is
    walked backwards: each trusted proxy vouches for the entry before it. It ends at the
    first that is not trusted, or before an entry that is no address.
    """
    found = peer
    hops = [hop.strip() for hop in forwarded.split(",")] if forwarded else []
    while hops and is_in_ip_networks(found, trusted):
        hop = _read(hops.pop())
        if hop is None:
            break
        found = str(hop)
    return found


def find_client_network(address: str | None) -> str:
    """Return the address that limits count by: for IPv6 its whole network."""
    found = _read(address or "")
    if found is None:
        return "unknown"
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, IPV6_PREFIX), strict=False))


def is_in_ip_networks(address: str, trusted: Sequence[Network]) -> bool:
    """Return whether an address is in one of these networks; False for other text."""
    read = _read(address)
    return read is not None and any(read in network for network in trusted)


def _read(text: str) -> Address | None:
    """An address, which some proxies write with its port; None for other text.

    An IPv4 address in IPv6 is itself.
    """
    host = text
    if text.startswith("["):
        host = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        host = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
