"""Which addresses webhooks may be posted to: public ones, and hosts named by a setting.

Pure but for the settings. Must not be here: sockets (sending).
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings

if TYPE_CHECKING:
    from urllib.parse import SplitResult


class AddressRefused(ValueError):
    """An address that events must not be posted to; says why in a few words."""


def split_url(url: str) -> SplitResult:
    """Take a URL apart and check all of it that needs no network.

    https, or http to a host named in WEBHOOK_LOCAL_HOSTS; no user name, no fragment.
    Raises: AddressRefused. Source: Ours: what is posted is health data.
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
        raise AddressRefused("It must hold no user name or password; use a header.")
    if parts.fragment:
        raise AddressRefused("It must hold no #fragment.")
    if port == 0:
        raise AddressRefused("It names no port.")
    if is_local_host(host):
        return parts
    if parts.scheme != "https":
        raise AddressRefused("It needs https, as health data is sent to it.")
    literal = read_address(host)
    if literal is not None and not is_public(literal):
        raise AddressRefused("It is a private or reserved address.")
    if literal is None and ("." not in host.rstrip(".") or _is_numeric(host)):
        raise AddressRefused("It is no public host name.")
    return parts


def is_local_host(host: str) -> bool:
    """Whether a setting allows this very host, whatever its address."""
    return host.lower() in settings.WEBHOOK_LOCAL_HOSTS


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
