"""The ports that MLLP_PORTS names."""

from __future__ import annotations

import re

_PART = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
MAX_PORTS = 1_000


def parse_port_ranges(text: str) -> list[int]:
    """Return the ports of a text such as `2575-2594,2600`, each once, in order.

    Raises: ValueError, for another form or more than MAX_PORTS.
    """
    ports: set[int] = set()
    for part in text.replace(" ", "").split(","):
        found = _PART.fullmatch(part)
        if found is None:
            raise ValueError("not a port or range")
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last <= 65_535 or last - first >= MAX_PORTS:
            raise ValueError("not a port or range")
        ports.update(range(first, last + 1))
    if len(ports) > MAX_PORTS:
        raise ValueError("too many ports")
    return sorted(ports)
