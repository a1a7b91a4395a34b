"""Checks the lab's flag and the printed range against the value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reports.parser.report import (
    Fact,
    Interpretation,
    Note,
    NoteCode,
    ParsedResult,
    RowState,
)

_HIGH = re.compile(
    r"(?i)\W*(?:h|hh|hi|high|ch|alt[oa]|elevad[oa]|elevato|[ée]lev[ée]e?|haut|hoch"
    r"|erh[öo]ht|y[üu]ksek|h[øö][jyg]|↑+|▲+|⬆)\W*"
)
_LOW = re.compile(
    r"(?i)\W*(?:l|ll|lo|low|cl|baj[oa]|bass[oa]|baix[oa]|bas|niedrig|erniedrigt"
    r"|diminu[ée]e?|d[üu][şs][üu]k|l[aå]v|låg|↓+|▼+|⬇)\W*"
)

# So many rows marked say that the laboratory marks what is out of range.
_MARKING = 2


def check_flags_against_ranges(results: Sequence[ParsedResult]) -> tuple[Note, ...]:
    """Return notes on flags that disagree with the range, and on missing flags.

    Only marks with a side take part: a star may say that a test was sent away.
    """
    sides = [_side(result.flag) for result in results]
    is_marking = sum(side is not None for side in sides) >= _MARKING
    notes: list[Note] = []
    for position, (result, side) in enumerate(zip(results, sides, strict=True)):
        notes += _judge(position, result, side, is_marking=is_marking)
    return tuple(notes)


def _judge(
    position: int, result: ParsedResult, side: str | None, *, is_marking: bool
) -> Iterator[Note]:
    found = _found(result)
    if found is None:
        return
    if side == found or (side is None and (found == "inside" or result.flag)):
        return
    if side is None and not is_marking:
        return
    is_opposite = {side, found} == {"high", "low"}
    yield Note(
        NoteCode.FLAG_DISAGREES,
        RowState.CONTRADICTION if is_opposite else RowState.LOOK,
        (position,),
        (
            Fact("flag", text=result.flag or ""),
            Fact("found", text=found),
            Fact("range", text=result.reference_range or ""),
        ),
    )


def _side(flag: str | None) -> str | None:
    if not flag:
        return None
    if _HIGH.fullmatch(flag):
        return "high"
    return "low" if _LOW.fullmatch(flag) else None


def _found(result: ParsedResult) -> str | None:
    """On which side of its range the value is for certain."""
    if result.is_above_max_range:
        return "high"
    if result.is_below_min_range:
        return "low"
    is_bounded = (result.min_reference_range, result.max_reference_range) != (None,) * 2
    if is_bounded and result.interpretation is Interpretation.NORMAL:
        return "inside"
    return None
