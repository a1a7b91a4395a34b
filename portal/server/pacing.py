"""How much time of a process's threads a team has while other teams call too."""

from __future__ import annotations

from time import monotonic

# Seconds of work that a team has saved at most, so that a page of many calls, or a
# minute's peak, waits for nothing. With less than LOW_S its calls run one by one.
SAVED_MAX_S = 2.0
LOW_S = 1.0
# Seconds that it owes at most: one long call is not paid by a long silence.
OWED_MAX_S = 2.0
# A team is beside others until so many seconds after their last call.
BESIDE_S = 60.0


class Pace:
    """What teams have saved of the time of a process's threads.

    `share`: seconds of work that a team earns a second, up to SAVED_MAX_S; 0 for no
    bounds. Its calls spend what they last. One that has nothing left rests until it
    earned what it owes, unless no other team has called for BESIDE_S. Not safe for
    threads by itself.

    Source: Ours: short calls of one team take turns at the interpreter with all that is
    at work for another, so what counts is how long that works, not how many wait.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._saved: dict[str, tuple[float, float]] = {}  # seconds, as of when
        self._latest, self._latest_at = "", float("-inf")
        self._before_at = float("-inf")  # of the last call of any but the latest

    def note_call(self, team: str) -> None:
        """Note that a team calls."""
        if team != self._latest:
            self._latest, self._before_at = team, self._latest_at
        self._latest_at = monotonic()

    def spend(self, team: str, seconds: float) -> None:
        """Take what a call of a team lasted from what it has saved."""
        if self._share:
            now = monotonic()
            left = max(self._find_saved(team, now) - seconds, -OWED_MAX_S)
            self._saved[team] = (left, now)

    def find_bounds(self, team: str, share: int) -> tuple[int, float]:
        """Return how many calls of a team may be at work, and the seconds it rests.

        share: how many those are where it has time left.
        """
        if team not in self._saved:
            return share, 0.0
        now = monotonic()
        others_at = self._before_at if team == self._latest else self._latest_at
        if now - others_at > BESIDE_S:
            return share, 0.0
        saved = self._find_saved(team, now)
        return (share if saved >= LOW_S else 1), max(0.0, -saved / self._share)

    def _find_saved(self, team: str, now: float) -> float:
        seconds, since = self._saved.get(team, (SAVED_MAX_S, now))
        saved = seconds + (now - since) * self._share
        if saved < SAVED_MAX_S:
            return saved
        self._saved.pop(team, None)  # as one that never called
        return SAVED_MAX_S
