"""Interprets a value against its printed range (contract 7.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reports.parser.report import Interpretation
from reports.parser.text.ranges import Bounds
from reports.parser.text.values import (
    NUMBER,
    parse_number_with_comparator,
    parse_printed_number,
)

_SPAN = re.compile(rf"({NUMBER})\s*(?:-|–|—|−|to)\s*({NUMBER})")
_CRITICAL = re.compile(
    r"(?i)^\W*(?:hh|ll|ch|cl|(?:crit\w*|panic|alert)(?: high| low)?|!!|↑↑|↓↓)\W*$"
)
_RAISED = re.compile(
    r"(?i)^\W*(?:h|hi|high|a|aa|l|lo|low|abnormal|alt[oa]|elevad[oa]|elevato|haut"
    r"|[ée]lev[ée]e?|hoch|erh[öo]ht|y[üu]ksek|baj[oa]|bass[oa]|baix[oa]|bas|niedrig"
    r"|erniedrigt|diminu[ée]e?|d[üu][şs][üu]k|h[øö][jyg]|l[aå]v|låg)\W*$"
    r"|^[*#↑↓▲▼⬆⬇!+-]+$"
)


@dataclass(frozen=True, slots=True)
class RangeOutcome:
    """What the numbers say; above and below are None where nothing can be said."""

    interpretation: Interpretation
    above: bool | None = None
    below: bool | None = None


def interpret_result_against_range(
    *,
    value: str,
    bounds: Bounds,
    has_range: bool,
    flag: str | None,
    decimal_comma: bool = False,
) -> RangeOutcome:
    """Interpret a value by its own range, or by the printed flag without one.

    Outside a bound for certain is abnormal, a number inside or without bounds is
    normal, anything else unknown. Source: Contract 7.4; the flag is Ours: a lab's
    own mark is better than no answer.
    """
    verdict = _by_numbers(value, bounds, has_range=has_range, comma=decimal_comma)
    if flag and _CRITICAL.match(flag):
        return RangeOutcome(Interpretation.CRITICAL, verdict.above, verdict.below)
    unbounded = bounds.low is None and bounds.high is None
    if flag and _RAISED.match(flag) and unbounded:
        return RangeOutcome(Interpretation.ABNORMAL, verdict.above, verdict.below)
    return verdict


def _by_numbers(
    value: str, bounds: Bounds, *, has_range: bool, comma: bool
) -> RangeOutcome:
    span = _span_of(value, comma=comma)
    if span is None:
        return RangeOutcome(Interpretation.UNKNOWN)
    least, most, exact = span
    low, high = bounds.low, bounds.high
    if low is None and high is None:
        settled = exact and not has_range
        return RangeOutcome(
            Interpretation.NORMAL if settled else Interpretation.UNKNOWN
        )
    if high is not None and least is not None and least > high:
        return RangeOutcome(Interpretation.ABNORMAL, above=True, below=False)
    if low is not None and most is not None and most < low:
        return RangeOutcome(Interpretation.ABNORMAL, above=False, below=True)
    if bounds.strict and exact and least in (low, high):
        return RangeOutcome(Interpretation.UNKNOWN, above=False, below=False)
    inside_high = high is None or (most is not None and most <= high)
    inside_low = low is None or (least is not None and least >= low)
    if inside_high and inside_low:
        return RangeOutcome(Interpretation.NORMAL, above=False, below=False)
    return RangeOutcome(Interpretation.UNKNOWN)


def _span_of(
    value: str, *, comma: bool
) -> tuple[float | None, float | None, bool] | None:
    """Least and most that a value can be, None where open, and whether it is exact."""
    if match := _SPAN.fullmatch(value.strip()):
        least, most = (
            parse_printed_number(part, decimal_comma=comma) for part in match.groups()
        )
        return (least, most, False) if least is not None and most is not None else None
    number = parse_number_with_comparator(value, decimal_comma=comma)
    if number is None:
        return None
    if number.comparator.startswith("<"):
        return min(0.0, number.size), number.size, False
    if number.comparator.startswith(">"):
        return number.size, None, False
    return number.size, number.size, True
