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
from reports.parser.loinc import load_loinc_catalogue
from reports.parser.report import Interpretation, ParsedResult
from reports.parser.text.values import parse_number_with_comparator

_FILE = Path(__file__).parent.parent / "data" / "critical.csv"
_BLOOD = frozenset({"serum", "blood", "arterial", "venous", "capillary"})
_ALIASES = {"glucose_fasting": "glucose", "glucose_pp": "glucose"}
# Of these an equivalent is a mole.
_OF_ONE_CHARGE = frozenset({"potassium", "sodium", "bicarbonate", "co2_total"})
_ADULT_DAYS = 18 * 365
_OLDEST_DAYS = 130 * 366
SOURCES = {
    "wakemed": "WakeMed Health & Hospitals, Critical Values Tables",
    "swlp": "South West London Pathology, Grossly abnormal results",
    "kost": "Kost GJ, JAMA 1990;263:704-707",
    "barnsley": "Barnsley Hospital NHS Foundation Trust, Critical results",
    "starling": "Starling Physicians, Laboratory critical results",
    "citilab": "Citi Lab, Panic values",
    "homerton": "Homerton University Hospital, Urgent chemical pathology results",
}


@dataclass(frozen=True, slots=True)
class CriticalLimit:
    """Bounds of one analyte in a unit ("1": none) at an age in days, both included.

    low and high are None on a side that has no limit, from_days and to_days where the
    age has no bound; sex is male, female or empty for both. sources are keys of
    SOURCES, none of a team's own limit (is_own).
    """

    key: str
    analyte: str
    unit: str
    low: float | None
    high: float | None
    from_days: int | None
    to_days: int | None
    sex: str = ""
    sources: tuple[str, ...] = ()
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class CriticalCriteria:
    """What the values of one patient are judged by.

    age_days: at the collection; an adult's where it is not known. sex: male, female,
    or None where it is neither or not known.
    """

    limits: tuple[CriticalLimit, ...]
    age_days: int | None = None
    sex: str | None = None


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
                sources=tuple(row["sources"].split()),
            )
            for row in csv.DictReader(lines)
        )


@lru_cache(maxsize=1)
def list_critical_analytes() -> dict[str, str]:
    """Return the analytes of blood that may have limits, by key, with their names.

    Only those whose possible range is known, so that an impossible limit is refused.
    """
    names: dict[str, tuple[int, str]] = {}
    for entries in load_loinc_catalogue().entries.values():
        for entry in entries:
            if entry.specimen in _BLOOD and entry.analyte not in _ALIASES:
                found = (entry.order, entry.display_name)
                names[entry.analyte] = min(found, names.get(entry.analyte, found))
    known = load_plausibility_limits()
    rows = ((key, name) for key, (_, name) in names.items() if key in known)
    return dict(sorted(rows, key=lambda row: row[1].casefold()))


def list_units_of_analyte(analyte: str, printed: str) -> tuple[str, ...]:
    """Return the UCUM readings of a printed unit, moles for equivalents of one."""
    units = parse_printed_unit(printed)
    return tuple(convert_equivalents(analyte, unit) for unit in units)


def convert_equivalents(analyte: str, unit: str) -> str:
    """Return moles for equivalents where an analyte has one charge, else the unit."""
    return unit.replace("eq/", "mol/") if analyte in _OF_ONE_CHARGE else unit


def mark_critical_result(
    result: ParsedResult, *, criteria: CriticalCriteria, decimal_comma: bool
) -> ParsedResult:
    """Return a result, critical if its value is at a limit or beyond it.

    Of blood alone, in any unit that converts; without a unit only where the analyte has
    one. One limit decides: the team's own before the one that ships, then that of the
    sex, then that of the fewest ages. Where the sex is not known, limits of one sex
    decide only if no other fits, and then all do. A laboratory's own critical mark
    stays, and a value within its printed range is none: there the unit is a slip.
    Source: Ours.
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
    for limit, factor in _choose_limits(criteria, analyte, result):
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


def _choose_limits(
    criteria: CriticalCriteria, analyte: str, result: ParsedResult
) -> list[tuple[CriticalLimit, float]]:
    """The limits that decide on a value, each with the factor to its unit."""
    days = _ADULT_DAYS if criteria.age_days is None else criteria.age_days
    fitting = [
        (limit, factor)
        for limit in criteria.limits
        if limit.analyte == analyte
        and _is_of_age(limit, days)
        and (not limit.sex or criteria.sex in {None, limit.sex})
        and (factor := _find_factor(result, limit)) is not None
    ]
    if not fitting:
        return []
    is_sex_known = criteria.sex is not None

    def rank(found: tuple[CriticalLimit, float]) -> tuple[bool, bool, int]:
        limit = found[0]
        last = _OLDEST_DAYS if limit.to_days is None else limit.to_days
        has_turn = bool(limit.sex) == is_sex_known
        return not limit.is_own, not has_turn, last - (limit.from_days or 0)

    fitting.sort(key=rank)
    first = fitting[0][0]
    if first.sex and not is_sex_known:
        return [one for one in fitting if one[0].sex and one[0].is_own == first.is_own]
    return fitting[:1]


def _is_of_age(limit: CriticalLimit, days: int) -> bool:
    return (limit.from_days is None or days >= limit.from_days) and (
        limit.to_days is None or days <= limit.to_days
    )


def _find_factor(result: ParsedResult, limit: CriticalLimit) -> float | None:
    """The factor to the limit's unit; None where the value has another quantity."""
    units = (
        (convert_equivalents(limit.analyte, result.ucum),)
        if result.ucum
        else list_units_of_analyte(limit.analyte, result.units or "")
    )
    if not units:
        known = {one.unit for one in load_plausibility_limits().get(limit.analyte, ())}
        return 1.0 if limit.unit == "1" or known == {limit.unit} else None
    for unit in units:
        factor = find_unit_conversion_factor(unit, limit.unit)
        if factor is not None:
            return float(factor)
    return None
