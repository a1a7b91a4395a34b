"""Parsing of result texts and reference ranges into numbers (contract 6.15).

Parses the contract's forms and those of HL7. Only unambiguous numbers are parsed:
`1,250` stays text. Ranges of printed reports are parsed in reports.parser.text.ranges.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from labs.states.catalogue import ResultType

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PLAIN = re.compile(_NUMBER)
_COMPARED = re.compile(
    rf"(?P<sign>[<>])\s*(?P<same>=|OR\s*=|OR EQUAL TO)?\s*(?P<number>{_NUMBER})",
    re.IGNORECASE,
)
_SPAN = re.compile(
    rf"(?P<low>{_NUMBER})\s*(?:-|\bto\b)\s*(?P<high>{_NUMBER})", re.IGNORECASE
)
# An upper-case constant, not a sentence in capitals.
_CONSTANT = re.compile(r"(?=.*[A-Z])[A-Z0-9][A-Z0-9 /+_.:()-]{0,59}")
_SIGNS = str.maketrans({"≤": "<=", "≥": ">=", "–": "-", "—": "-", "−": "-"})
_LONGEST = 40  # digits: beyond it a text is no measurement


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers between two bounds, None where open; `with_` a bound: included."""

    low: Decimal | None = None
    high: Decimal | None = None
    with_low: bool = True
    with_high: bool = True

    def exceeds(self, limits: Interval) -> bool | None:
        """Return whether it is above the upper limit; None where undecided."""
        if limits.high is None:
            return False
        if self.low is not None and (
            self.low > limits.high
            or (self.low == limits.high and not (self.with_low and limits.with_high))
        ):
            return True
        if self.high is not None and (
            self.high < limits.high
            or (self.high == limits.high and (limits.with_high or not self.with_high))
        ):
            return False
        return None

    def falls_below(self, limits: Interval) -> bool | None:
        """Return whether it is below the lower limit; None where undecided."""
        return self._mirrored().exceeds(limits._mirrored())

    def _mirrored(self) -> Interval:
        return Interval(
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
            with_low=self.with_high,
            with_high=self.with_low,
        )


@dataclass(frozen=True, slots=True)
class ResultText:
    """A result as on the wire; `amount` is the number or interval it means.

    `type` is a ResultType, or what the lab declared if we do not know that.
    """

    type: str
    text: str
    amount: Interval | None = None

    @property
    def number(self) -> float | None:
        """Return the value of a numeric result."""
        exact = self.type == ResultType.NUMERIC and self.amount is not None
        return _float_or_none(self.amount.low) if exact and self.amount else None


def parse_result_value(text: str, declared: str = "") -> ResultText:
    """Parse a lab's result; `declared` is its type where known.

    A text in the form of a number or a range is one, whatever was declared, but for
    comments. Source: Contract 6.15; Ours: "< 5" loses its blank, no digit is changed.
    """
    stripped = text.strip()
    if declared == ResultType.COMMENT or (declared and not ResultType.known(declared)):
        return ResultText(declared, stripped)
    plain = stripped.translate(_SIGNS)
    if _PLAIN.fullmatch(plain) and len(plain) <= _LONGEST:
        number = Decimal(plain)
        return ResultText(
            ResultType.NUMERIC, _normalize_number(plain), Interval(number, number)
        )
    if (amount := parse_reference_range(stripped)) is not None:
        return ResultText(ResultType.RANGE, _clean_range_text(plain), amount)
    if declared == ResultType.CODED_VALUE or _CONSTANT.fullmatch(stripped):
        return ResultText(ResultType.CODED_VALUE, stripped.upper())
    return ResultText(ResultType.COMMENT, stripped)


def parse_reference_range(text: str, unit: str = "") -> Interval | None:
    """Parse the bounds of a reference range; None for free text.

    Units: those of the result; its own `unit` may stand behind. A span includes both
    ends; one that runs downward is no range. Source: Contract 6.15.
    """
    plain = text.strip().translate(_SIGNS)
    if unit and plain.lower().endswith(unit.lower()):
        plain = plain[: -len(unit)].rstrip()
    if plain.startswith("(") and plain.endswith(")"):
        plain = plain[1:-1].strip()
    if len(plain) > _LONGEST:
        return None
    if compared := _COMPARED.fullmatch(plain):
        number, same = Decimal(compared["number"]), bool(compared["same"])
        if compared["sign"] == "<":
            return Interval(high=number, with_high=same)
        return Interval(low=number, with_low=same)
    if span := _SPAN.fullmatch(plain):
        low, high = Decimal(span["low"]), Decimal(span["high"])
        return Interval(low, high) if low <= high else None
    return None


def get_reference_range_bounds(
    limits: Interval | None,
) -> tuple[float | None, float | None]:
    """Return the low and high bounds of a range as floats."""
    if limits is None:
        return None, None
    return _float_or_none(limits.low), _float_or_none(limits.high)


def _clean_range_text(plain: str) -> str:
    if compared := _COMPARED.fullmatch(plain.strip("() ")):
        same = "=" if compared["same"] else ""
        return f"{compared['sign']}{same}{_normalize_number(compared['number'])}"
    span = _SPAN.fullmatch(plain.strip("() "))
    return (
        f"{_normalize_number(span['low'])}-{_normalize_number(span['high'])}"
        if span
        else plain
    )


def _normalize_number(number: str) -> str:
    """Return a number with digits on both sides of its point, without a plus."""
    number = number.removeprefix("+").removesuffix(".")
    return re.sub(r"^(-?)\.", r"\g<1>0.", number)


def _float_or_none(number: Decimal | None) -> float | None:
    return None if number is None else float(number)
