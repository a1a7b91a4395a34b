"""Tables whose cells are set to the middle of rows of several lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reports.parser.layout.lines import Line
from reports.parser.rows.row import Parts
from reports.parser.text.fields import join_word_texts
from reports.parser.text.not_names import is_administrative_line
from reports.parser.text.ranges import looks_like_range
from reports.parser.text.roles import Role

Cut = Sequence[tuple[Line, Parts]]

_HALF_LINE = 0.8
_SMALLER = 0.9
_NEXT_LINE, _SET_TIGHT = 1.6, 1.45


def are_row_cells_vertically_centred(cut: Cut) -> bool:
    """Return whether cells are centered in rows that take several lines.

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
        near = Role.VALUE in lower and apart < _NEXT_LINE * above.size
        if not only_range or not near:
            continue
        if n == 0 or set(cut[n - 1][1]) == {Role.NAME}:
            return looks_like_range(join_word_texts(upper[Role.RANGE]))
    return False


def join_vertically_centred_row_lines(cut: Cut) -> list[tuple[Line, Parts]]:
    """Join to each line with a value the lines around it that mirror one another."""
    anchors = [
        n
        for n, (_, parts) in enumerate(cut)
        if Role.VALUE in parts
        and not is_administrative_line(join_word_texts(parts.get(Role.NAME, [])))
    ]
    gathered: list[tuple[Line, Parts]] = []
    start = 0
    for n in anchors:
        line, own = cut[n]
        first = n
        while first > start and _continues(cut[first - 1], cut[first][0], (line, own)):
            above, parts = cut[first - 1]
            named = set(parts) == {Role.NAME} and Role.NAME in own
            loose = cut[first][0].middle - above.middle > _SET_TIGHT * above.size
            if named or loose:
                break
            first -= 1
        reach = line.middle - cut[first][0].middle
        last = n
        while (
            last + 1 < len(cut)
            and Role.VALUE not in cut[last + 1][1]
            and cut[last + 1][0].middle - line.middle <= reach + 1
            and not (first < n and _is_range_of_next(cut[last + 1 : last + 3]))
        ):
            last += 1
        gathered.extend(cut[start:first])
        gathered.append(
            (line, _join_parts([cut[m][1] for m in range(first, last + 1)]))
        )
        start = last + 1
    gathered.extend(cut[start:])
    return gathered


def _continues(
    upper: tuple[Line, Parts], below: Line, anchor: tuple[Line, Parts]
) -> bool:
    """Whether a line above belongs to the row of the anchor and is no heading."""
    line, parts = upper
    if below.middle - line.middle > _NEXT_LINE * line.size or Role.VALUE in parts:
        return False
    if set(parts) == {Role.NAME}:
        own, beside = anchor
        # Nearer than lines of one column can stand, beside a value without a name.
        between = below.middle - line.middle < _HALF_LINE * line.size
        alike = line.words[0].bold == own.words[0].bold
        nameless = between and Role.NAME not in beside
        return (alike or nameless) and abs(line.size - own.size) < 0.6
    return True


def _is_range_of_next(two: Cut) -> bool:
    """Whether a range stands over a value that has none beside it."""
    if len(two) < 2:
        return False
    (_, upper), (_, lower) = two
    return (
        set(upper) == {Role.RANGE} and Role.VALUE in lower and Role.RANGE not in lower
    )


def _join_parts(several: Sequence[Parts]) -> Parts:
    joined: Parts = {}
    for parts in several:
        for role, words in parts.items():
            name = joined.get(role, []) if role is Role.NAME else []
            if name and words[0].size < _SMALLER * name[0].size:
                # How the test was done, in small print under its name.
                continue
            joined.setdefault(role, []).extend(words)
    return joined
