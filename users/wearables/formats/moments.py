"""The set of a file's times by series, at eight bytes each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from operator import lt

# How many may be out of order before they are put in.
_ASIDE_MAX = 50_000


class Moments:
    """A set of whole numbers that come mostly ascending."""

    __slots__ = ("_aside", "_sorted")

    def __init__(self) -> None:
        self._sorted = array("q")
        self._aside: set[int] = set()

    def add(self, moments: list[int]) -> list[int]:
        """Add numbers; return the positions of new ones, each once."""
        known = self._sorted
        last = known[-1] if known else -(2**63)
        if moments and moments[0] > last and _ascends(moments) and not self._aside:
            known.extend(moments)
            return list(range(len(moments)))
        return [place for place, each in enumerate(moments) if self._add_one(each)]

    def _add_one(self, moment: int) -> bool:
        known = self._sorted
        if not known or moment > known[-1]:
            if moment in self._aside:
                return False
            known.append(moment)
            return True
        place = bisect_left(known, moment)
        if known[place] == moment or moment in self._aside:
            return False
        self._aside.add(moment)
        if len(self._aside) > _ASIDE_MAX:
            self._sorted = array("q", sorted((*known, *self._aside)))
            self._aside = set()
        return True


def _ascends(moments: list[int]) -> bool:
    return all(map(lt, moments, moments[1:]))
