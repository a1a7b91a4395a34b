"""Tables whose cells are set to the middle of rows of several lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from reports.parser.layout.lines import Line
from reports.parser.rows.row import Parts
from reports.parser.text.fields import is_unit, join_word_texts, split_value_cell
from reports.parser.text.not_names import is_administrative_line
from reports.parser.text.ranges import is_plain_numeric_range, looks_like_range
from reports.parser.text.roles import Role
from reports.parser.text.values import is_numeric_value

Cut = Sequence[tuple[Line, Parts]]

_HALF_LINE = 0.8
_SMALLER = 0.9
_NEXT_LINE, _SET_TIGHT = 1.6, 1.45
# Between the end of a range and the start of the band that goes on from it.
_GOES_ON = 0.15
_END = re.compile(r"\d+(?:\.\d+)?")


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
        if _is_above_own_row(cut[n - 1 : n + 2]):
            return True
    return False


def _is_above_own_row(three: Cut) -> bool:
    """Whether a band between two rows is the first of the lower one's.

    So where the row above has a whole range that the band does not go on from, 'Normal:
    70 - 99' and 'Impaired: 100 - 125', and the row below has a band beside it.
    """
    (above, upper), (line, band), (below, lower) = three
    if (
        Role.VALUE not in upper
        or line.middle - above.middle < below.middle - line.middle
    ):
        return False
    whole, first, second = (
        join_word_texts(parts.get(Role.RANGE, [])) for parts in (upper, band, lower)
    )
    if not is_plain_numeric_range(whole) or is_plain_numeric_range(first):
        return False
    if not looks_like_range(first) or not looks_like_range(second):
        return False
    ends = [float(end) for end in _END.findall(whole)]
    return not is_plain_numeric_range(second) and not any(
        abs(float(number) - end) <= _GOES_ON * end
        for number in _END.findall(first)
        for end in ends
    )


def join_stacked_row_lines(
    cut: Cut,
) -> list[tuple[Line, Parts]]:
    """Join the lines of rows whose value is above its unit, the name between."""
    joined: list[tuple[Line, Parts]] = []
    n = 0
    while n < len(cut):
        three = cut[n : n + 3]
        if len(three) == 3 and _is_stacked(three):
            (_, upper), (line, middle), (_, lower) = three
            joined.append((line, {**middle, **_with_unit(upper, lower)}))
            n += 3
            continue
        if (reach := _wrapped_with_unit(three)) > 1:
            (line, upper), *between, (_, lower) = three[:reach]
            parts = {**upper, **_with_unit(upper, lower)}
            for _, flags in between:
                parts |= flags
            parts[Role.NAME] = [*upper[Role.NAME], *lower.get(Role.NAME, [])]
            joined.append((line, parts))
            n += reach
            continue
        if len(three) == 3 and _is_wrapped(three):
            (_, upper), (line, middle), (_, lower) = three
            joined.append((line, {**middle, **_join_parts([upper, lower])}))
            n += 3
            continue
        if len(three) > 1 and _is_split(three[0], three[1]):
            (_, upper), (line, middle) = three[:2]
            joined.append((line, {**upper, **middle}))
            n += 2
            continue
        joined.append(cut[n])
        n += 1
    return joined


def _is_stacked(three: Cut) -> bool:
    (_, upper), _, (_, lower) = three
    return _is_between(three) and _is_unit_of(lower, upper)


def _is_unit_of(lower: Parts, upper: Parts) -> bool:
    """Whether one line has but the units of the numbers that the other has."""
    if Role.VALUE not in upper or not is_numeric_value(
        join_word_texts(upper[Role.VALUE])
    ):
        return False
    units = [join_word_texts(lower.get(role, [])) for role in (Role.VALUE, Role.RANGE)]
    return bool(units[0]) and all(
        is_unit(unit) and not is_numeric_value(unit) for unit in units if unit
    )


def _with_unit(upper: Parts, lower: Parts) -> Parts:
    """Value, unit and range of numbers over their units."""
    parts = {Role.VALUE: upper[Role.VALUE], Role.UNIT: lower[Role.VALUE]}
    spread = [*upper.get(Role.RANGE, []), *lower.get(Role.RANGE, [])]
    return {**parts, Role.RANGE: spread} if spread else parts


def _wrapped_with_unit(three: Cut) -> int:
    """How many lines a row takes whose cells all wrap, the value's before its unit.

    A flag may stand between the two. 0 where there is none.
    """
    (above, upper), *others = three
    if Role.NAME not in upper or Role.UNIT in upper:
        return 0
    for n, (line, parts) in enumerate(others, start=2):
        if line.middle - above.middle > _NEXT_LINE * above.size:
            return 0
        if set(parts) == {Role.FLAG}:
            continue
        return n if Role.NAME in parts and _is_unit_of(parts, upper) else 0
    return 0


def _is_wrapped(three: Cut) -> bool:
    """Whether words of two lines are the value of the name between them."""
    if not _is_between(three):
        return False
    return not any(
        sign.isdigit()
        for _, parts in three[::2]
        for sign in join_word_texts(parts[Role.VALUE])
    )


def _is_between(three: Cut) -> bool:
    """Whether a name stands half a line below one text under the values' title, and
    half a line above another.
    """
    (above, upper), (line, middle), (below, lower) = three
    spread = {Role.VALUE, Role.RANGE}
    return (
        Role.VALUE in upper.keys() & lower.keys()
        and upper.keys() | lower.keys() <= spread
        and Role.NAME in middle
        and not middle.keys() & {*upper, *lower, Role.UNIT}
        and line.middle - above.middle < above.size
        and below.middle - line.middle < line.size
    )


def _is_split(above: tuple[Line, Parts], below: tuple[Line, Parts]) -> bool:
    """Whether a number stands half a line over the name it belongs to."""
    (over, upper), (line, lower) = above, below
    if not set(upper) <= {Role.VALUE, Role.FLAG} or Role.VALUE in lower:
        return False
    if Role.VALUE not in upper or not {Role.NAME, Role.RANGE} <= set(lower):
        return False
    number = is_numeric_value(split_value_cell(join_word_texts(upper[Role.VALUE]))[0])
    return number and line.middle - over.middle < _HALF_LINE * line.size


def join_vertically_centred_row_lines(
    cut: Cut,
) -> list[tuple[Line, Parts]]:
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
            if (named or loose) and not _is_mirrored(
                above, line, cut[n + 1 : n + 5], set(parts)
            ):
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


def _is_mirrored(above: Line, line: Line, below: Cut, roles: set[Role]) -> bool:
    """Whether a line of the same columns stands as far below as the one above."""
    apart = line.middle - above.middle
    return any(
        set(parts) == roles
        and abs(lower.middle - line.middle - apart) < _HALF_LINE / 2 * line.size
        for lower, parts in below
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
