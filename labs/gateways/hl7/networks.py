"""Which addresses labs may be called at, and where HL7 may travel unencrypted."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_network
from typing import TYPE_CHECKING

from django.conf import settings

from labs.gateways.hl7.faults import ConnectionFailed
from labs.states.connections import TransportFault
from portal.lib.network.addresses import is_public_ip_address, parse_ip_address

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOK_UP_TIMEOUT_S = 5


def is_in_networks(host: str, networks: Sequence[str]) -> bool:
    """Return whether an IP address lies in one of these networks."""
    address = parse_ip_address(host)
    if address is None:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return any(mapped in ip_network(each) for each in networks)


def may_go_unencrypted(host: str) -> bool:
    """Return whether messages to or from an IP address may be unencrypted."""
    address = parse_ip_address(host)
    is_loopback = address is not None and address.is_loopback
    return is_loopback or is_in_networks(host, settings.MLLP_UNENCRYPTED_NETWORKS)


def may_be_called(host: str) -> bool:
    """Return whether labs may be called at an IP address.

    Source: Ours: members enter addresses, and must not reach what the server's own
    network hides.
    """
    address = parse_ip_address(host)
    return address is not None and (
        is_public_ip_address(address) or is_in_networks(host, settings.LAB_NETWORKS)
    )


async def look_up_lab(host: str, port: int) -> str:
    """Return the first address of a host that may be called.

    Raises: ConnectionFailed.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(LOOK_UP_TIMEOUT_S):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        raise ConnectionFailed(TransportFault.UNREACHABLE) from None
    addresses = [str(place[0]) for *_, place in found]
    for address in addresses:
        if may_be_called(address):
            return address
    raise ConnectionFailed(TransportFault.NOT_ALLOWED)
