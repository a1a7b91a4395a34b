"""Finds implausible numbers, and units that do not fit the number.

The limits of data/plausible.csv are wide on purpose: beyond what has been survived or
what an assay reports, so that a number outside them is a slip of print, of reading or
of unit. A number is never rescaled; a unit that it would fit is named.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from portal.lib.units import (
    Dimension,
    can_printed_unit_express_loinc_property,
    can_unit_express_loinc_property,
    find_unit_conversion_factor,
    find_unit_dimension,
)
from reports.parser.checks.quantities import Reading
from reports.parser.loinc import Entry
from reports.parser.report import Fact, Note, NoteCode, ParsedResult, RowState

_FILE = Path(__file__).parent.parent / "data" / "plausible.csv"

# What a unit is printed in the place of, beside the analyte's usual ones.
_OTHER_UNITS: dict[Dimension, tuple[str, ...]] = {
    Dimension.NUMBER_CONCENTRATION: ("10*3/uL", "10*5/uL", "10*6/uL", "/uL")
}
# The upper end of a narrow range is at most so many times the lower.
_NARROW = 1.6
# In these a number stands without a unit as often as not.
_UNITLESS = frozenset(
    {Dimension.RATIO, Dimension.INDEX, Dimension.ACIDITY, Dimension.TITRE}
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Least and most that can be true, in a unit ("1": none)."""

    unit: str
    least: float
    most: float


def check_value_plausibility(
    readings: Sequence[Reading], results: Sequence[ParsedResult]
) -> tuple[Note, ...]:
    """Return notes on implausible numbers, lost decimal points and units."""
    notes: list[Note] = []
    for reading in readings:
        result = results[reading.position]
        notes += _judge(reading, result)
        notes += _decimal(reading, result)
    return tuple(notes)


def choose_likely_unit(
    units: Sequence[str], *, entry: Entry | None, number: float
) -> str:
    """Choose the most plausible reading of a printed unit, else the first.

    One that can express what is measured, and in which the number is possible.
    """
    if entry is None:
        return units[0]
    fitting = [
        unit
        for unit in units
        if can_unit_express_loinc_property(property=entry.property, unit=unit)
        is not False
    ]
    for unit in fitting:
        for limit in load_plausibility_limits().get(entry.analyte, ()):
            factor = find_unit_conversion_factor(unit, limit.unit)
            if factor is not None and limit.least <= number * factor <= limit.most:
                return unit
    return (fitting or units)[0]


@lru_cache(maxsize=1)
def load_plausibility_limits() -> dict[str, tuple[Limits, ...]]:
    """Return the plausibility limits by analyte, all for blood."""
    found: dict[str, list[Limits]] = {}
    with _FILE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault(row["analyte"], []).append(
                Limits(row["ucum"], float(row["least"]), float(row["most"]))
            )
    return {analyte: tuple(limits) for analyte, limits in found.items()}


def _judge(reading: Reading, result: ParsedResult) -> Iterator[Note]:
    entry = reading.entry
    needs_unit = bool(entry.units) and not any(
        find_unit_dimension(unit) in _UNITLESS for unit in entry.units
    )
    is_blood = reading.specimen == "blood"
    limits = load_plausibility_limits().get(reading.analyte, ()) if is_blood else ()
    if not result.units:
        if needs_unit:
            fits = _fitting(reading, limits)
            yield _note(NoteCode.UNIT_MISSING, reading, fits)
        return
    if (
        can_printed_unit_express_loinc_property(
            property=entry.property, units=result.units
        )
        is False
    ):
        yield _note(NoteCode.UNIT_SUSPECT, reading, entry.units[:1])
        return
    outside = [_is_outside(reading, limit) for limit in limits]
    if True not in outside:
        return
    fits = _fitting(reading, limits)
    if fits:
        yield _note(NoteCode.UNIT_SUSPECT, reading, fits)
        return
    broken = limits[outside.index(True)]
    yield Note(
        NoteCode.IMPLAUSIBLE,
        RowState.CONTRADICTION,
        (reading.position,),
        (
            Fact("printed", number=reading.number),
            Fact("least", number=broken.least),
            Fact("most", number=broken.most),
            Fact("unit", text=broken.unit),
        ),
    )


def _decimal(reading: Reading, result: ParsedResult) -> Iterator[Note]:
    """Whether a number far outside a narrow range is inside it with a point moved.

    What the body keeps within such a range does not come to be ten times as much.
    """
    low, high = result.min_reference_range, result.max_reference_range
    if not low or not high or not low < high <= _NARROW * low:
        return
    for factor in (0.1, 0.01, 10, 100):
        moved = reading.number * factor
        if low <= moved <= high:
            yield Note(
                NoteCode.DECIMAL_SUSPECT,
                RowState.LOOK,
                (reading.position,),
                (
                    Fact("printed", number=reading.number),
                    Fact("fits", number=round(moved, 6)),
                    Fact("range", text=result.reference_range or ""),
                ),
            )


def _is_outside(reading: Reading, limits: Limits) -> bool | None:
    """Whether the number, as printed, breaks limits; None where they are of no use."""
    amount = reading.within(limits.unit)
    if amount is None:
        return None
    return not limits.least <= amount[0] <= limits.most


def _fitting(reading: Reading, limits: Sequence[Limits]) -> tuple[str, ...]:
    """Units in which the bare number would be possible, the usual ones first."""
    kinds = {find_unit_dimension(unit) for unit in reading.entry.units}
    others = [unit for kind in kinds for unit in _OTHER_UNITS.get(kind, ())]
    items = [*reading.entry.units, *(limit.unit for limit in limits), *others]
    fits: dict[str, None] = {}
    for unit in items:
        for limit in limits:
            factor = find_unit_conversion_factor(unit, limit.unit)
            if factor is None:
                continue
            if limit.least <= reading.number * float(factor) <= limit.most:
                fits[unit] = None
    return tuple(unit for unit in fits if unit not in reading.units)


def _note(code: NoteCode, reading: Reading, fits: Sequence[str]) -> Note:
    return Note(
        code,
        RowState.LOOK,
        (reading.position,),
        (
            Fact("printed", number=reading.number),
            *(Fact(f"fits_{n}", text=unit) for n, unit in enumerate(fits[:3], start=1)),
        ),
    )
