"""LOINC codes of the same measure, and unit conversion.

Converted values are only displayed beside the lab's; stored values stay as reported.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from portal.lib.units import convert_amount, normalize_unit


class _MassMoleCodes(NamedTuple):
    """One substance by mass and by moles: two LOINC codes and its molar mass."""

    mass: str
    moles: str
    molar_mass: Decimal


# Codes by LOINC 2.80; molar masses from the elements' standard atomic weights (IUPAC),
# triglycerides as triolein, urea nitrogen as the two nitrogens of urea.
_TWINS = tuple(
    _MassMoleCodes(mass, moles, Decimal(grams))
    for mass, moles, grams in (
        ("2345-7", "14749-6", "180.156"),  # glucose
        ("1558-6", "14771-0", "180.156"),  # glucose, fasting
        ("2093-3", "14647-2", "386.65"),  # cholesterol
        ("2085-9", "14646-4", "386.65"),  # cholesterol in HDL
        ("13457-7", "39469-2", "386.65"),  # cholesterol in LDL, calculated
        ("2571-8", "14927-8", "885.4"),  # triglycerides
        ("2160-0", "14682-9", "113.12"),  # creatinine
        ("3094-0", "22664-7", "28.014"),  # urea nitrogen
        ("3084-1", "14933-6", "168.11"),  # urate
        ("17861-6", "2000-8", "40.078"),  # calcium
        ("19123-9", "2601-3", "24.305"),  # magnesium
        ("1975-2", "14631-6", "584.66"),  # bilirubin
        ("2498-4", "14798-3", "55.845"),  # iron
        ("3024-7", "14920-3", "776.87"),  # thyroxine, free
        ("1989-3", "14635-7", "400.64"),  # calcidiol
        ("2284-8", "14732-2", "441.40"),  # folate
        ("2143-6", "14675-3", "362.46"),  # cortisol
        ("2986-8", "14913-8", "288.42"),  # testosterone
    )
)
_TWINS_OF = {code: twins for twins in _TWINS for code in (twins.mass, twins.moles)}


def get_loinc_measure_code(loinc: str) -> str:
    """Return the LOINC code of a measure; for mass and mole codes the mass one."""
    twins = _TWINS_OF.get(loinc)
    return twins.mass if twins else loinc


def list_loinc_codes_of_measure(measure: str) -> tuple[str, ...]:
    """Return all LOINC codes of a measure."""
    twins = _TWINS_OF.get(measure)
    return (twins.mass, twins.moles) if twins else (measure,)


def is_same_unit(unit: str, other: str) -> bool:
    """Return whether two printed units are equal in any spelling."""
    if unit == other:
        return True
    read = normalize_unit(unit)
    return read is not None and read == normalize_unit(other)


def convert_result_to_unit(
    value: float, *, unit: str, to: str, loinc: str = ""
) -> float | None:
    """Convert a value to another printed unit; None if not comparable.

    Mass and moles convert for the measures whose molar mass is known. Source: Ours
    (spec silent): each converted value says from which unit.
    """
    source, target = normalize_unit(unit), normalize_unit(to)
    if source is None or target is None:
        return None
    twins = _TWINS_OF.get(loinc)
    converted = convert_amount(
        Decimal(str(value)),
        unit=source,
        to=target,
        molar_mass=twins.molar_mass if twins else None,
    )
    return None if converted is None else float(converted)
