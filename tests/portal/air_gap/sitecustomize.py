"""No network but this machine's own, in every Python process that finds this folder.

Python imports it by its name at the start, from PYTHONPATH. What is tried is refused as
by a machine without a way out, and written to the file AIR_GAP_LOG, so that a test
hears of it though nobody else does.
"""

from __future__ import annotations

import errno
import os
import sys

OWN = ("127.", "::1", "localhost")
LOOK_UPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
SENDS = {"socket.connect", "socket.sendto", "socket.sendmsg"}


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: let nothing leave."""
    if event in LOOK_UPS:
        host = arguments[0]
    elif event in SENDS:
        address = arguments[1]
        # A path is a socket on this machine, no address is one that was connected.
        host = address[0] if isinstance(address, tuple) else None
    else:
        return
    if isinstance(host, bytes):
        host = host.decode()
    if not host or str(host).startswith(OWN):
        return
    with open(os.environ["AIR_GAP_LOG"], "a") as log:  # noqa: PTH123 - nothing is loaded yet
        log.write(f"{event} {host} by {' '.join(sys.argv)}\n")
    raise OSError(errno.ENETUNREACH, "no network but this machine's own")


sys.addaudithook(refuse)
