"""Critical limits: values that may be life-threatening unless somebody acts at once.

data/critical.csv holds the limits that ship: a value at a limit or beyond it is
critical. Sources: WakeMed Health & Hospitals, Critical Values Tables (potassium, sodium
and glucose of adults, newborn glucose, bicarbonate, magnesium, phosphate, bilirubin,
hemoglobin, leukocytes, hematocrit, INR, aPTT); South West London Pathology, Grossly
abnormal results (sodium and glucose under 16 years, CK); Kost GJ, Critical limits for
urgent clinician notification at US medical centers, JAMA 1990;263:704-707 (calcium,
low hematocrit); Barnsley Hospital NHS Foundation Trust, Critical results (high
hemoglobin); Starling Physicians, Laboratory critical results (platelets); Citi Lab,
Panic values (neutrophils, fibrinogen); Homerton University Hospital, Urgent chemical
pathology results (low glucose and magnesium in moles). Other molar limits are those of
SWLP and of the article. The lists were read in excerpts in November 2026, the article
in a reprint of its table.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from portal.lib.units import find_unit_conversion_factor, parse_printed_unit
from reports.parser.checks.plausibility import load_plausibility_limits
from reports.parser.checks.quantities import find_result_catalogue_entry
from reports.parser.report import Interpretation, ParsedResult
from reports.parser.text.values import parse_number_with_comparator

_FILE = Path(__file__).parent.parent / "data" / "critical.csv"
_BLOOD = frozenset({"serum", "blood", "arterial", "venous", "capillary"})
_ALIASES = {"glucose_fasting": "glucose", "glucose_pp": "glucose"}
# Of these an equivalent is a mole.
_OF_ONE_CHARGE = frozenset({"potassium", "sodium", "bicarbonate", "co2_total"})
_ADULT_DAYS = 18 * 365


@dataclass(frozen=True, slots=True)
class CriticalLimit:
    """Bounds of one analyte in a unit ("1": none) at an age in days, both included.

    low and high are None on a side that has no limit, from_days and to_days where the
    age has no bound.
    """

    key: str
    analyte: str
    unit: str
    low: float | None
    high: float | None
    from_days: int | None
    to_days: int | None


@lru_cache(maxsize=1)
def load_critical_limits() -> tuple[CriticalLimit, ...]:
    """Return the limits that ship, in the order of the file."""
    with _FILE.open(encoding="utf-8", newline="") as lines:
        return tuple(
            CriticalLimit(
                key=row["key"],
                analyte=row["analyte"],
                unit=row["ucum"],
                low=float(row["low"]) if row["low"] else None,
                high=float(row["high"]) if row["high"] else None,
                from_days=int(row["from_days"]) if row["from_days"] else None,
                to_days=int(row["to_days"]) if row["to_days"] else None,
            )
            for row in csv.DictReader(lines)
        )


def mark_critical_result(
    result: ParsedResult,
    *,
    age_days: int | None,
    decimal_comma: bool,
) -> ParsedResult:
    """Return a result, critical if its value is at a limit or beyond it.

    age_days: of the patient at the collection; an adult's where it is not known. Of
    blood alone, in any unit that converts; without a unit only where the analyte has
    one. A laboratory's own critical mark stays, and a value within its printed range is
    none: there the unit is a slip. Source: Ours.
    """
    bounds = {result.min_reference_range, result.max_reference_range} - {None}
    is_inside = result.interpretation is Interpretation.NORMAL and bool(bounds)
    if is_inside or result.interpretation is Interpretation.CRITICAL:
        return result
    entry = find_result_catalogue_entry(result)
    number = parse_number_with_comparator(
        result.value.rstrip("% "), decimal_comma=decimal_comma
    )
    if entry is None or number is None or entry.specimen not in _BLOOD:
        return result
    analyte = _ALIASES.get(entry.analyte, entry.analyte)
    days = _ADULT_DAYS if age_days is None else age_days
    for limit in load_critical_limits():
        if limit.analyte != analyte or not _is_of_age(limit, days):
            continue
        factor = _find_factor(result, limit)
        if factor is None:
            continue
        size, sign = number.size * factor, number.comparator[:1]
        is_low = limit.low is not None and size <= limit.low and sign != ">"
        is_high = limit.high is not None and size >= limit.high and sign != "<"
        if is_low or is_high:
            return replace(
                result,
                interpretation=Interpretation.CRITICAL,
                is_above_max_range=is_high,
                is_below_min_range=is_low,
            )
    return result


def _is_of_age(limit: CriticalLimit, days: int) -> bool:
    return (limit.from_days is None or days >= limit.from_days) and (
        limit.to_days is None or days <= limit.to_days
    )


def _find_factor(result: ParsedResult, limit: CriticalLimit) -> float | None:
    """The factor to the limit's unit; None where the value has another quantity."""
    units = (result.ucum,) if result.ucum else parse_printed_unit(result.units or "")
    if limit.analyte in _OF_ONE_CHARGE:
        units = tuple(unit.replace("eq/", "mol/") for unit in units)
    if not units:
        known = {one.unit for one in load_plausibility_limits().get(limit.analyte, ())}
        return 1.0 if limit.unit == "1" or known == {limit.unit} else None
    for unit in units:
        factor = find_unit_conversion_factor(unit, limit.unit)
        if factor is not None:
            return float(factor)
    return None
