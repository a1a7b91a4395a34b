"""List the names and addresses by which this machine is reached."""

from __future__ import annotations

import socket
from contextlib import suppress
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path

_PROC = Path("/proc/net")
# Reserved for documentation (RFC 5737, RFC 3849): a route is looked up, nothing sent.
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_DISCARD_PORT = 9


def list_machine_hosts() -> set[str]:
    """Return the machine's host names in lower case and its interfaces' addresses.

    IPv6 addresses are without brackets and zone. What an interface gains later is
    missing until the next start. Source: Ours: a server that listens on every address
    must not answer to every name.
    """
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    hosts = {name, short, f"{short}.local"} - {"", ".local"}
    return hosts | _interface_addresses() | _route_addresses() | _addresses_of(name)


def _interface_addresses() -> set[str]:
    """Return the addresses of all interfaces on Linux; none on other systems."""
    found = set()
    with suppress(OSError):
        lines = (_PROC / "fib_trie").read_text().split("\n")
        for line, following in pairwise(lines):
            if following.strip() == "/32 host LOCAL":
                found.add(line.rpartition(" ")[2])
    with suppress(OSError):
        for line in (_PROC / "if_inet6").read_text().splitlines():
            found.add(str(ip_address(bytes.fromhex(line[:32]))))
    return found


def _route_addresses() -> set[str]:
    """Return the source addresses of calls to other networks, on any system."""
    found = set()
    for family, elsewhere in _ELSEWHERE:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, _DISCARD_PORT))
            found.add(str(probe.getsockname()[0]))
    return found


def _addresses_of(name: str) -> set[str]:
    with suppress(OSError, UnicodeError):
        addresses = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        return {str(place[0]).partition("%")[0] for *_, place in addresses}
    return set()
