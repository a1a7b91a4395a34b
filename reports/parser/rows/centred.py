"""Tables whose cells are set to the middle of rows of several lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reports.parser.fields import (
    text_of,
)
from reports.parser.lines import Line
from reports.parser.ranges import (
    looks_like_range,
)
from reports.parser.roles import Role

from .row import (
    Parts,
)


def is_centred(cut: Sequence[tuple[Line, Parts]]) -> bool:
    """Whether cells are set to the middle of rows that take several lines.

    Then lines of one row interleave, nearer than lines of one column can stand, or
    a range begins above the first value.
    """
    for n, ((above, upper), (below, lower)) in enumerate(pairwise(cut)):
        apart = below.middle - above.middle
        if (
            apart < 0.85 * min(above.size, below.size)
            and not upper.keys() & lower.keys()
        ):
            return True
        only_range = set(upper) <= {Role.RANGE, Role.UNIT} and Role.RANGE in upper
        first = n == 0 or set(cut[n - 1][1]) == {Role.NAME}
        if only_range and first and Role.VALUE in lower and apart < 1.6 * above.size:
            return looks_like_range(text_of(upper[Role.RANGE]))
    return False


def gather_centred(cut: Sequence[tuple[Line, Parts]]) -> list[tuple[Line, Parts]]:
    """Gather around each line with a value the lines that mirror one another."""
    anchors = [n for n, (_, parts) in enumerate(cut) if Role.VALUE in parts]
    gathered: list[tuple[Line, Parts]] = []
    start = 0
    for n in anchors:
        line, _ = cut[n]
        first = n
        while first > start and _continues(cut[first - 1], cut[first][0], line):
            first -= 1
        reach = line.middle - cut[first][0].middle
        last = n
        while (
            last + 1 < len(cut)
            and Role.VALUE not in cut[last + 1][1]
            and cut[last + 1][0].middle - line.middle <= reach + 1
        ):
            last += 1
        gathered.extend(cut[start:first])
        gathered.append(
            (line, _join_parts([cut[m][1] for m in range(first, last + 1)]))
        )
        start = last + 1
    gathered.extend(cut[start:])
    return gathered


def _continues(upper: tuple[Line, Parts], below: Line, anchor: Line) -> bool:
    """Whether a line above belongs to the row of the anchor and is no heading."""
    line, parts = upper
    if below.middle - line.middle > 1.45 * line.size or Role.VALUE in parts:
        return False
    if set(parts) == {Role.NAME}:
        return (
            line.words[0].bold == anchor.words[0].bold
            and abs(line.size - anchor.size) < 0.6
        )
    return True


def _join_parts(several: Sequence[Parts]) -> Parts:
    joined: Parts = {}
    for parts in several:
        for role, words in parts.items():
            joined.setdefault(role, []).extend(words)
    return joined
