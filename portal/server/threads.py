"""Threads that requests wait for, and how many of them may wait."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# Where a view writes the team of its caller, in the WSGI environment.
TEAM = "portal.team"
_CALLERS_MAX = 10_000


class Threads:
    """A few threads, and how many requests they have or wait for them.

    `most_of_one`: how many of those one team may have; None for as many as there are.
    A caller's team is the one that its last answered call was of (`TEAM`); until the
    first the caller counts for itself. Used by the event loop alone, but for the pool.
    """

    def __init__(
        self,
        size: int,
        name: str,
        *,
        most_waiting: int,
        most_of_one: int | None = None,
        retry_after_s: int = 1,
    ) -> None:
        self.pool = ThreadPoolExecutor(size, thread_name_prefix=name)
        self.retry_after_s = retry_after_s
        self._at_most = size + most_waiting
        self._of_one = self._at_most if most_of_one is None else most_of_one
        self._held = 0
        self._held_by: Counter[str] = Counter()
        self._teams: OrderedDict[str, str] = OrderedDict()

    def find_group(self, environ: dict[str, Any]) -> str:
        """Return what a request counts with: its team, or its caller."""
        caller = _caller(environ)
        return self._teams.get(caller, caller)

    def has_room(self, group: str) -> bool:
        """Return whether one more request of a group may wait."""
        return self._held < self._at_most and self._held_by[group] < self._of_one

    def take(self, group: str) -> None:
        """Count a request that waits or is at work."""
        self._held += 1
        self._held_by[group] += 1

    def give_back(self, group: str, environ: dict[str, Any]) -> None:
        """Count it no more, and learn whose team its caller is of."""
        self._held -= 1
        self._held_by[group] -= 1
        if not self._held_by[group]:
            del self._held_by[group]
        team = environ.get(TEAM)
        if team:
            caller = _caller(environ)
            self._teams[caller] = team
            self._teams.move_to_end(caller)
            if len(self._teams) > _CALLERS_MAX:
                self._teams.popitem(last=False)


def _caller(environ: dict[str, Any]) -> str:
    given = environ.get("HTTP_AUTHORIZATION")
    if not given:
        return str(environ.get("REMOTE_ADDR", ""))
    # Kept for long: the token itself is not.
    return hashlib.sha256(str(given).encode("utf-8", "surrogateescape")).hexdigest()
