"""Which addresses that people enter may be called: public ones, and hosts named by us.

Pure.
"""

from __future__ import annotations

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from urllib.parse import SplitResult

# All of both registries, what is reachable from everywhere included: no receiver and no
# provider lies there. Parts of a block are not listed beside it.
_SPECIAL_V4 = tuple(
    (IPv4Network(block), name)
    for block, name in (
        ("0.0.0.0/8", "this network: RFC 791"),
        ("10.0.0.0/8", "private use: RFC 1918"),
        ("100.64.0.0/10", "shared address space: RFC 6598"),
        ("127.0.0.0/8", "loopback: RFC 1122"),
        ("168.63.129.16/32", "Azure's own services to its machines, in no registry"),
        ("169.254.0.0/16", "link local, with clouds' metadata: RFC 3927"),
        ("172.16.0.0/12", "private use: RFC 1918"),
        ("192.0.0.0/24", "IETF protocol assignments: RFC 6890"),
        ("192.0.2.0/24", "documentation: RFC 5737"),
        ("192.31.196.0/24", "AS112: RFC 7535"),
        ("192.52.193.0/24", "AMT: RFC 7450"),
        ("192.88.99.0/24", "relays of 6to4, deprecated: RFC 7526"),
        ("192.168.0.0/16", "private use: RFC 1918"),
        ("192.175.48.0/24", "AS112, delegated directly: RFC 7534"),
        ("198.18.0.0/15", "benchmarking: RFC 2544"),
        ("198.51.100.0/24", "documentation: RFC 5737"),
        ("203.0.113.0/24", "documentation: RFC 5737"),
        ("224.0.0.0/4", "multicast: RFC 5771"),
        ("240.0.0.0/4", "reserved, with broadcast: RFC 1112, RFC 8190"),
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")  # RFC 4291, 2.4; IANA assigns from it alone
# What of 2000::/3 is special; the rest of the registry lies outside.
_SPECIAL_V6 = tuple(
    (IPv6Network(block), name)
    for block, name in (
        ("2001::/23", "IETF protocol assignments, with Teredo: RFC 2928, RFC 4380"),
        ("2001:db8::/32", "documentation: RFC 3849"),
        ("2002::/16", "6to4: RFC 3056, RFC 7526"),
        ("2620:4f:8000::/48", "AS112, delegated directly: RFC 7534"),
        ("3fff::/20", "documentation: RFC 9637"),
    )
)
# Their last 32 bits are the IPv4 address that is called.
_CARRIERS = (
    IPv6Network("::ffff:0:0/96"),  # mapped: RFC 4291, 2.5.5.2
    IPv6Network("64:ff9b::/96"),  # NAT64: RFC 6052
)


class AddressRefused(ValueError):
    """An address that must not be called; says why in a few words."""


def parse_and_check_url(url: str, *, local_hosts: Collection[str]) -> SplitResult:
    """Split a URL and check all of it that needs no network.

    https, or http to one of `local_hosts`; no user name, no fragment. Raises:
    AddressRefused. Source: Ours: whoever may enter an address must not reach what the
    server's own network hides.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused(_("Enter a valid URL.")) from None
    host = parts.hostname
    if not host or parts.scheme not in {"http", "https"}:
        raise AddressRefused(_("The URL must start with https:// and name a host."))
    if any(letter.isspace() or not letter.isprintable() for letter in url):
        raise AddressRefused(_("Remove the spaces from the URL."))
    if parts.username is not None or parts.password is not None:
        raise AddressRefused(_("Remove the user name and password from the URL."))
    if parts.fragment:
        raise AddressRefused(_("Remove the #fragment from the URL."))
    if port == 0:
        raise AddressRefused(_("Enter a port from 1 to 65535."))
    if host.lower() in local_hosts:
        return parts
    if parts.scheme != "https":
        raise AddressRefused(_("The URL must start with https://."))
    literal = parse_ip_address(host)
    if literal is not None and not is_public_ip_address(literal):
        raise AddressRefused(_("Private and reserved addresses are not allowed."))
    if literal is None and ("." not in host.rstrip(".") or _is_numeric(host)):
        raise AddressRefused(_("Enter a public host name."))
    return parts


def parse_ip_address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host literally is, else None."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def is_public_ip_address(address: IPv4Address | IPv6Address) -> bool:
    """Return whether the address belongs to the public Internet.

    Of IPv6 that is global unicast alone (2000::/3), and an IPv4 address in a form that
    systems call by themselves (mapped, NAT64), judged as what it carries. No other
    transition form is public. Source: IANA's special-purpose address registries (RFC
    6890, RFC 8190), not Python's `is_global`, which lags behind them.
    """
    if isinstance(address, IPv4Address):
        return not _is_special(address, _SPECIAL_V4)
    if any(address in network for network in _CARRIERS):
        return is_public_ip_address(_last_bits(address))
    if address not in _GLOBAL_UNICAST or _is_special(address, _SPECIAL_V6):
        return False
    # ISATAP (RFC 5214, 6.1): within any prefix, it leads to the address it ends with.
    is_isatap = (int(address) >> 32) & 0xFDFF_FFFF == 0x5EFE
    return not is_isatap or is_public_ip_address(_last_bits(address))


def _is_special(
    address: IPv4Address | IPv6Address,
    registry: Sequence[tuple[IPv4Network | IPv6Network, str]],
) -> bool:
    return any(address in network for network, _ in registry)


def _last_bits(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFF_FFFF)


def _is_numeric(host: str) -> bool:
    """Whether a resolver might read the host as an IPv4 address: 0x7f.1, 2130706433."""
    last = host.rstrip(".").rpartition(".")[2].lower()
    return last.isdigit() or last.startswith("0x")
