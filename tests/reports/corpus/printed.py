"""Rows as a layout writes them down, and the truth that follows from each.

A row is one line of `name | value | unit | range | analyte key | options`. In a name or
a range, a pilcrow is a line break inside the cell and a caret insertion mark a kerning
gap, neither part of the truth. Nothing here draws.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from reports.management.scorecard.truth import TrueRow
from tests.reports.corpus.codes import ACCEPTED

BREAK = "¶"
KERN = "‸"

_NUMBER = r"-?\d[\d.,]*"
_SPAN = re.compile(rf"({_NUMBER})\s*(?:-|–|to|à|a|bis)\s*({_NUMBER})")
_BOUND = re.compile(rf"(<=|>=|≤|≥|<|>|bis|up to|upto)\s*({_NUMBER})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """One printed result. `flag` is H, L or A, worked out from value and range."""

    name: str
    value: str
    unit: str = ""
    range: str = ""
    key: str = ""
    options: dict[str, str] = field(default_factory=dict)
    decimal_comma: bool = False

    @property
    def flag(self) -> str:
        if "flag" in self.options:
            return self.options["flag"]
        low, high = bounds(self)
        number = number_in(self.value, comma=self.decimal_comma)
        if number is None:
            return ""
        if low is not None and number < low:
            return "L"
        if high is not None and number > high:
            return "H"
        return ""

    def option(self, key: str, default: str = "") -> str:
        return self.options.get(key, default)


def read_rows(
    text: str, *, dice: random.Random | None = None, decimal_comma: bool = False
) -> list[Row]:
    """Rows of a table text.

    With dice, plain numbers are thrown anew near their range, some rows are left out
    and the order changes. An option is `key=value` or a bare word, split by semicolons.
    """
    found = []
    for line in text.strip().splitlines():
        fields = [part.strip() for part in line.split("|")]
        fields += [""] * (6 - len(fields))
        options = {}
        for option in filter(None, (o.strip() for o in fields[5].split(";"))):
            key, _, value = option.partition("=")
            options[key] = value
        name, value, unit, span, code = fields[:5]
        row = Row(name, value, unit, span, code, options, decimal_comma)
        found.append(row)
    if dice is None:
        return found
    kept = [row for row in found if len(found) < 5 or dice.random() > 0.12]
    dice.shuffle(kept)
    return [_thrown_anew(row, dice) for row in kept]


def number_in(text: str, *, comma: bool) -> float | None:
    plain = text.strip()
    if not re.fullmatch(_NUMBER, plain):
        return None
    plain = plain.replace(".", "").replace(",", ".") if comma else plain
    return float(plain.replace(",", ""))


def bounds(row: Row) -> tuple[float | None, float | None]:
    """Low and high of a range that is nothing but numbers; else nothing."""
    text = row.range.replace(BREAK, " ").replace(KERN, "").strip()
    if row.unit:
        text = text.removesuffix(row.unit).strip()
    text = text.strip("()[] ")
    if match := _SPAN.fullmatch(text):
        low, high = (number_in(g, comma=row.decimal_comma) for g in match.groups())
        return low, high
    if match := _BOUND.fullmatch(text):
        number = number_in(match[2], comma=row.decimal_comma)
        return (number, None) if match[1] in (">", ">=", "≥") else (None, number)
    return None, None


def truth_of(row: Row, panel: str | None) -> TrueRow:
    """The answer expected for a row.

    Interpretation only where value and range are plain numbers (contract 7.4); a
    value on a strict bound is left open.
    """
    interpretation: str | None = None
    low, high = bounds(row)
    number = number_in(row.value, comma=row.decimal_comma)
    if number is not None and (low is not None or high is not None):
        on_edge = number in (low, high) and ("<" in row.range or ">" in row.range)
        outside = (low is not None and number < low) or (
            high is not None and number > high
        )
        if not on_edge:
            interpretation = "abnormal" if outside else "normal"
    if {"doubtful", "anyrange"} & row.options.keys():
        interpretation = None
    also = row.option("also")
    return TrueRow(
        name=plain_text(row.name),
        value=plain_text(row.value),
        unit=plain_text(row.unit) or None,
        range=plain_text(row.range) or None,
        interpretation=interpretation,
        loinc=ACCEPTED[row.key] if row.key else (),
        panel=panel,
        optional="optional" in row.options,
        also=tuple(filter(None, also.split("/"))),
        any_range="anyrange" in row.options,
    )


def plain_text(text: str) -> str:
    return " ".join(text.replace(BREAK, " ").replace(KERN, "").split())


def _thrown_anew(row: Row, dice: random.Random) -> Row:
    low, high = bounds(row)
    number = number_in(row.value, comma=row.decimal_comma)
    frozen = {"print", "fixed"} & row.options.keys()
    grouped = "," in row.value and not row.decimal_comma
    if number is None or frozen or grouped or (low is None and high is None):
        return row
    low = low if low is not None else number * 0.5
    high = high if high is not None else number * 1.3
    span = high - low
    thrown = dice.uniform(max(low - span * 0.3, low * 0.6), high + span * 0.3)
    mark = "," if row.decimal_comma else "."
    places = len(row.value.partition(mark)[2])
    value = f"{max(thrown, 0):.{places}f}".replace(".", mark)
    return Row(
        row.name, value, row.unit, row.range, row.key, row.options, row.decimal_comma
    )
