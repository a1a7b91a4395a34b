"""Checks the arithmetic between results of one report.

A printed number stands for everything that rounds to it, so each rule is reckoned
over spans, and only a result outside the span and its slack is noted. Which of the
numbers is wrong arithmetic can't say: every row that took part is named, the reckoned
one first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from reports.parser.checks.quantities import Reading
from reports.parser.report import Fact, Note, NoteCode, RowState

from .rules import RULES, Rule

# Of several rows for one analyte so many are tried.
_MOST_ROWS = 3

# The first can be no more than the second, of which it is a part.
_PARTS: tuple[tuple[str, str], ...] = (
    ("bilirubin_direct", "bilirubin_total"),
    ("bilirubin_indirect", "bilirubin_total"),
    ("hdl", "cholesterol"),
    ("ldl", "cholesterol"),
    ("albumin", "protein_total"),
    ("globulin", "protein_total"),
    ("psa_free", "psa"),
    ("iron", "tibc"),
    ("uibc", "tibc"),
    ("neutrophils", "wbc"),
    ("lymphocytes", "wbc"),
    ("t4_free", "t4_total"),
    ("t3_free", "t3_total"),
    ("testosterone_free", "testosterone"),
)
_PART_UNITS = ("g/L", "mol/L", "/L", "U/L", "[IU]/L")

_MAIN_CELLS = ("neutrophils", "lymphocytes", "monocytes", "eosinophils", "basophils")
_OTHER_CELLS = (
    "bands",
    "segs",
    "immature_granulocytes",
    "metamyelocytes",
    "myelocytes",
    "promyelocytes",
    "blasts",
    "atypical_lymphocytes",
    "plasma_cells",
)
_LEAST_CELLS = 4
_SUM_ROOM = 2.0
_COUNT_SLACK = 0.06


def check_result_arithmetic(readings: Sequence[Reading]) -> tuple[Note, ...]:
    """Return notes on results that contradict other results of the report."""
    return (
        *_by_rules(readings),
        *_by_parts(readings),
        *_by_differential(readings),
        *_by_counts(readings),
    )


def _by_rules(readings: Sequence[Reading]) -> Iterator[Note]:
    for rule in RULES:
        for target, number, step in _taken(readings, *rule.target, rule.specimen):
            groups = [
                _near(_taken(readings, *wanted, rule.specimen), target)
                for wanted in rule.inputs
            ]
            verdicts = [
                (combination, _expected(rule, combination))
                for combination in product(*groups)
            ]
            judged = [
                (combination, span)
                for combination, span in verdicts
                if span is not None
            ]
            if not judged or any(
                _agrees(rule, number, step, span) for _, span in judged
            ):
                continue
            combination, _ = judged[0]
            expected = rule.formula(*(amount for _, amount, _ in combination))
            yield Note(
                NoteCode.ARITHMETIC,
                rule.severity,
                (target.position, *(one.position for one, _, _ in combination)),
                (
                    Fact("rule", text=rule.name),
                    Fact("printed", number=round(number, 4)),
                    Fact("expected", number=round(expected, 4)),
                    Fact("unit", text=rule.target[1]),
                ),
            )


Taken = tuple[Reading, float, float]


def _taken(
    readings: Sequence[Reading], analyte: str, unit: str, specimen: str
) -> list[Taken]:
    found = []
    for reading in readings:
        if reading.analyte == analyte and reading.specimen == specimen:
            amount = reading.within(unit)
            if amount is not None:
                found.append((reading, *amount))
    return found


def _near(found: list[Taken], to: Reading) -> list[Taken]:
    """The rows nearest to another, itself left out."""
    others = [one for one in found if one[0].position != to.position]
    others.sort(key=lambda one: abs(one[0].position - to.position))
    return others[:_MOST_ROWS]


def _expected(rule: Rule, combination: tuple[Taken, ...]) -> tuple[float, float] | None:
    """Least and most the formula gives over all that rounds to what is printed."""
    bounds = rule.holds_below or (None,) * len(combination)
    for (_, number, _), bound in zip(combination, bounds, strict=True):
        if bound is not None and number >= bound:
            return None
    corners = product(
        *((number - step / 2, number + step / 2) for _, number, step in combination)
    )
    reckoned = [rule.formula(*corner) for corner in corners]
    return min(reckoned), max(reckoned)


def _agrees(rule: Rule, number: float, step: float, span: tuple[float, float]) -> bool:
    low, high = span
    room = rule.room + rule.slack * max(abs(low), abs(high)) + step
    return low - room <= number <= high + room


def _by_parts(readings: Sequence[Reading]) -> Iterator[Note]:
    for part, whole in _PARTS:
        for unit in _PART_UNITS:
            wholes = _taken(readings, whole, unit, "blood")
            if not wholes:
                continue
            for reading, number, step in _taken(readings, part, unit, "blood"):
                if all(number - step > most + more for _, most, more in wholes):
                    yield Note(
                        NoteCode.ARITHMETIC,
                        RowState.CONTRADICTION,
                        (reading.position, wholes[0][0].position),
                        (
                            Fact("rule", text="part_exceeds_whole"),
                            Fact("printed", number=reading.number),
                            Fact("whole", number=wholes[0][0].number),
                        ),
                    )


def _by_differential(readings: Sequence[Reading]) -> Iterator[Note]:
    """Percentages of one differential count make 100."""
    shares = [
        r
        for r in readings
        if r.property == "NFr" and r.specimen == "blood" and "%" in (r.units or ("%",))
    ]
    main = _first_of_each(shares, _MAIN_CELLS)
    others = _first_of_each(shares, _OTHER_CELLS)
    if len(main) < _LEAST_CELLS:
        return
    least = sum(r.number for r in main)
    # Bands and immature cells are counted among the neutrophils by some machines.
    sums = {least, least + sum(r.number for r in others)}
    if all(r.number <= 1 for r in main):
        sums = {100 * total for total in sums}  # printed as parts of one
    room = _SUM_ROOM + sum(r.step for r in (*main, *others)) / 2
    if any(abs(total - 100) <= room for total in sums):
        return
    if len(main) < len(_MAIN_CELLS) and all(total < 100 for total in sums):
        return  # what is missing may be in no row
    yield Note(
        NoteCode.ARITHMETIC,
        RowState.CONTRADICTION,
        tuple(r.position for r in (*main, *others)),
        (
            Fact("rule", text="differential_sum"),
            Fact("printed", number=round(least, 2)),
            Fact("expected", number=100.0),
            Fact("unit", text="%"),
        ),
    )


def _by_counts(readings: Sequence[Reading]) -> Iterator[Note]:
    """A cell's count is its share of all white cells."""
    totals = _taken(readings, "wbc", "10*9/L", "blood")
    for cell in (*_MAIN_CELLS, *_OTHER_CELLS):
        shares = [
            r
            for r in readings
            if r.analyte == cell and r.property == "NFr" and "%" in r.units
        ]
        counts = _taken(readings, cell, "10*9/L", "blood")
        if not (totals and shares and len(counts) == 1 and len(shares) == 1):
            continue
        (count, number, step), share = counts[0], shares[0]
        spans = [
            _share_of(total, more, share) for _, total, more in totals[:_MOST_ROWS]
        ]
        if any(
            low - step - _COUNT_SLACK * high
            <= number
            <= high * (1 + _COUNT_SLACK) + step
            for low, high in spans
        ):
            continue
        yield Note(
            NoteCode.ARITHMETIC,
            RowState.CONTRADICTION,
            (count.position, share.position, totals[0][0].position),
            (
                Fact("rule", text="count_of_share"),
                Fact("printed", number=round(number, 4)),
                Fact("expected", number=round(sum(spans[0]) / 2, 4)),
                Fact("unit", text="10*9/L"),
            ),
        )


def _share_of(total: float, step: float, share: Reading) -> tuple[float, float]:
    low = max(share.number - share.step / 2, 0) / 100 * (total - step / 2)
    return low, (share.number + share.step / 2) / 100 * (total + step / 2)


def _first_of_each(
    readings: Sequence[Reading], analytes: Sequence[str]
) -> list[Reading]:
    found: dict[str, Reading] = {}
    for reading in readings:
        if reading.analyte in analytes:
            found.setdefault(reading.analyte, reading)
    return list(found.values())
