"""Which addresses that people enter may be called: public ones, and hosts named by us.

Pure. Must not be here: sockets, or the settings that name hosts.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection
    from urllib.parse import SplitResult


class AddressRefused(ValueError):
    """An address that must not be called; says why in a few words."""


def split_url(url: str, *, local_hosts: Collection[str]) -> SplitResult:
    """Take a URL apart and check all of it that needs no network.

    https, or http to one of `local_hosts`; no user name, no fragment. Raises:
    AddressRefused. Source: Ours: whoever may enter an address must not reach what the
    server's own network hides.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("It is no URL.") from None
    host = parts.hostname
    if not host or parts.scheme not in {"http", "https"}:
        raise AddressRefused("It needs to begin with https:// and name a host.")
    if any(letter.isspace() or not letter.isprintable() for letter in url):
        raise AddressRefused("It holds a blank.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("It must hold no user name or password.")
    if parts.fragment:
        raise AddressRefused("It must hold no #fragment.")
    if port == 0:
        raise AddressRefused("It names no port.")
    if host.lower() in local_hosts:
        return parts
    if parts.scheme != "https":
        raise AddressRefused("It needs https, as nobody else may read what is sent.")
    literal = read_address(host)
    if literal is not None and not is_public(literal):
        raise AddressRefused("It is a private or reserved address.")
    if literal is None and ("." not in host.rstrip(".") or _is_numeric(host)):
        raise AddressRefused("It is no public host name.")
    return parts


def read_address(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host literally is, else None."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether the address belongs to the public Internet.

    IPv6 forms that carry an IPv4 address are judged by that one too.
    """
    if isinstance(address, IPv6Address):
        inside = _carried(address)
        if inside is not None:
            return is_public(inside)
    return address.is_global and not address.is_multicast


def _carried(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    whole = int(address)
    # 64:ff9b::/96 and the deprecated ::/96.
    if whole >> 32 in {0x0064_FF9B << 64, 0}:
        return IPv4Address(whole & 0xFFFF_FFFF)
    return None


def _is_numeric(host: str) -> bool:
    """Whether a resolver might read the host as an IPv4 address: 0x7f.1, 2130706433."""
    last = host.rstrip(".").rpartition(".")[2].lower()
    return last.isdigit() or last.startswith("0x")
