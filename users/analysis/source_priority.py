"""Source priority: which source counts where several measured the same.

Each rule splits time into stretches and says which source won each, so that a total can
be explained. All of it is arithmetic on numbers: moments are seconds since 1970, feeds
come in the order of their rank.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence


class Rule(OpenChoices):
    """How a total chooses between sources (contract 10).

    An hour is by the clocks of the zone. A sample of more than three makes one of all
    that it touches, as nobody can say in which of them its value was; a shorter one is
    shared out by time.
    """

    MAX = "max", gettext_lazy("Per hour, the source with the highest total")
    PRIORITY = "priority", gettext_lazy("Per hour, the highest-ranked source with data")
    MERGE = (
        "merge",
        gettext_lazy("All sources, except while a higher-ranked source has data"),
    )


@dataclass(slots=True)
class Tally:
    """Aggregates of samples: `total` by share of time, the rest by sample."""

    count: int = 0
    total: float = 0.0
    low: float | None = None
    high: float | None = None
    # Of the values themselves: of one that reaches over an edge the whole.
    values: float = 0.0

    def add(self, other: Tally) -> None:
        """Add another tally."""
        self.count += other.count
        self.total += other.total
        self.values += other.values
        if other.low is not None and (self.low is None or other.low < self.low):
            self.low = other.low
        if other.high is not None and (self.high is None or other.high > self.high):
            self.high = other.high

    def add_sample(self, value: float) -> None:
        """Count one sample; its share of the total is added separately."""
        self.add(Tally(1, 0.0, value, value, value))


@dataclass(frozen=True, slots=True)
class Span:
    """A sample from `start` to `end` (exclusive)."""

    start: float
    end: float
    value: float


@dataclass(slots=True)
class Stretch:
    """An interval for which one feed counted, and what the others reported."""

    start: float
    end: float
    feed: int
    won: Tally
    others: dict[int, float] = field(default_factory=dict)


class Cells:
    """Tallies of feeds by cell, the intervals between `edges`.

    `edges` ascend. A cell is named by the index of its first edge. A long sample makes
    one of the cells it touches, but joins none of `cuts` with the one before.
    """

    def __init__(self, edges: Sequence[float], cuts: Collection[int] = ()) -> None:
        self.edges = edges
        self.cuts = cuts
        self._tallies: dict[int, dict[int, Tally]] = {}
        self._joined: set[int] = set()  # cells that are one with the one before

    def add(self, cell: int, feed: int, tally: Tally) -> None:
        """Add samples that lie in a single cell."""
        self._tally(cell, feed).add(tally)

    def add_span(self, feed: int, span: Span) -> None:
        """Add a sample that may span edges; each cell gets its share.

        It is counted where it starts, if that is inside.
        """
        length = span.end - span.start
        first = bisect_right(self.edges, span.start) - 1
        if 0 <= first < len(self.edges) - 1:
            self._tally(first, feed).add_sample(span.value)
        cell = max(first, 0)
        touched = []
        while cell < len(self.edges) - 1 and self.edges[cell] < span.end:
            shared = min(span.end, self.edges[cell + 1]) - max(
                span.start, self.edges[cell]
            )
            if shared > 0:
                self._tally(cell, feed).total += span.value * shared / length
                touched.append(cell)
            cell += 1
        if length > _JOINING_SECONDS:
            self._joined |= set(touched[1:]).difference(self.cuts)

    def choose_sources(
        self, *, rank: Mapping[int, int], by_most: bool
    ) -> Iterator[Stretch]:
        """Yield which feed counts in each interval: the highest total or rank."""
        for first, last in self._stretches():
            tallies: dict[int, Tally] = defaultdict(Tally)
            for cell in range(first, last + 1):
                for feed, tally in self._tallies.get(cell, {}).items():
                    tallies[feed].add(tally)
            feeds = sorted(tallies, key=rank.__getitem__)
            if not feeds:
                continue
            winner = (
                # Of equals the first: max keeps it.
                max(feeds, key=lambda feed: tallies[feed].total)
                if by_most
                else feeds[0]
            )
            yield Stretch(
                self.edges[first],
                self.edges[last + 1],
                winner,
                tallies[winner],
                {feed: tallies[feed].total for feed in feeds if feed != winner},
            )

    def _tally(self, cell: int, feed: int) -> Tally:
        return self._tallies.setdefault(cell, {}).setdefault(feed, Tally())

    def _stretches(self) -> Iterator[tuple[int, int]]:
        first = None
        for cell in sorted(self._tallies):
            if first is not None and cell in self._joined:
                last = cell
                continue
            if first is not None:
                yield first, last
            first = last = cell
        if first is not None:
            yield first, last


_HOUR_SECONDS = 3600
_JOINING_SECONDS = 3 * _HOUR_SECONDS


def merge_close_intervals(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Join intervals of one feed without a pause of an hour; by start."""
    joined: list[Stretch] = []
    for each in sorted(stretches, key=lambda each: (each.start, each.end)):
        last = joined[-1] if joined else None
        if (
            last is None
            or last.feed != each.feed
            or each.start - last.end >= _HOUR_SECONDS
        ):
            joined.append(replace(each, won=replace(each.won), others={**each.others}))
            continue
        last.end = max(last.end, each.end)
        last.won.add(each.won)
        for feed, total in each.others.items():
            last.others[feed] = last.others.get(feed, 0.0) + total
    return joined
