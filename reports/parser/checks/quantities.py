"""A report's rows as quantities for the checks.

Only rows whose number and analyte are plain take part. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from portal.lib.units import find_unit_conversion_factor, parse_printed_unit
from reports.parser.loinc import Entry, load_loinc_catalogue
from reports.parser.report import (
    LoincMatch,
    LoincMatchStatus,
    LoincReason,
    ParsedResult,
)
from reports.parser.text.values import parse_printed_number

# A candidate that nobody has confirmed takes part from here on; where its unit speaks
# against it, which is a thing to check, by its name alone.
_LIKELY = 0.6
_NAMED = 0.3
_BLOOD = frozenset({"serum", "blood", "arterial", "venous", "capillary"})


@dataclass(frozen=True, slots=True)
class Reading:
    """One number of a report: what it measures, in which unit, and how exactly.

    step is the worth of the last printed digit, in the printed unit. units are the
    UCUM readings of the printed unit, empty where none is printed.
    """

    position: int
    analyte: str
    property: str
    specimen: str
    number: float
    step: float
    units: tuple[str, ...]
    entry: Entry

    def within(self, unit: str) -> tuple[float, float] | None:
        """Return number and step in another unit; None if not convertible.

        "1" is a plain number, printed without a unit or with that of a ratio.
        """
        if not self.units:
            return (self.number, self.step) if unit == "1" else None
        for own in self.units:
            factor = find_unit_conversion_factor(own, unit)
            if factor is not None:
                return self.number * float(factor), self.step * float(factor)
        return None


def build_numeric_readings(
    results: Sequence[ParsedResult], *, decimal_comma: bool
) -> tuple[Reading, ...]:
    """Return the rows that are plain numbers of known analytes, in order."""
    return tuple(_read(results, decimal_comma=decimal_comma))


def get_last_digit_value(text: str, number: float) -> float:
    """Return the value of the last digit of a printed number."""
    digits = [sign for sign in text if sign.isdigit() or sign in ".,"]
    plain = "".join(digits)
    cut = max(plain.rfind("."), plain.rfind(","))
    if cut < 0:
        return 1.0
    places = len(plain) - cut - 1
    whole = int("".join(sign for sign in plain if sign.isdigit()) or "0")
    # In "5,100" the comma groups.
    is_decimal = round(abs(number) * 10**places) == whole
    return float(10**-places) if is_decimal else 1.0


def _read(results: Sequence[ParsedResult], *, decimal_comma: bool) -> Iterator[Reading]:
    for position, result in enumerate(results):
        number = parse_printed_number(
            result.value.rstrip("% "), decimal_comma=decimal_comma
        )
        entry = find_result_catalogue_entry(result)
        if number is None or entry is None:
            continue
        yield Reading(
            position=position,
            analyte=entry.analyte,
            property=entry.property,
            specimen="blood" if entry.specimen in _BLOOD else entry.specimen,
            number=number,
            step=get_last_digit_value(result.value, number),
            units=_units(result),
            entry=entry,
        )


def _units(result: ParsedResult) -> tuple[str, ...]:
    if result.ucum:
        return (result.ucum,)
    return parse_printed_unit(result.units) if result.units else ()


def find_result_catalogue_entry(result: ParsedResult) -> Entry | None:
    """Return the catalogue entry of a result, if its first candidate is likely."""
    return find_likely_catalogue_entry(result.loinc_matches, result.loinc_match_status)


def find_likely_catalogue_entry(
    matches: Sequence[LoincMatch], status: LoincMatchStatus
) -> Entry | None:
    """Return the catalogue entry of the first candidate, if it is likely."""
    if not matches:
        return None
    best = matches[0]
    is_sure = status is LoincMatchStatus.AUTO_MATCH
    is_of_another_unit = LoincReason.UNIT_CONTRADICTS in best.reasons
    least = _NAMED if is_of_another_unit else _LIKELY
    if not is_sure and best.confidence_score < least:
        return None
    return _entries().get(best.loinc_code)


@lru_cache(maxsize=1)
def _entries() -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for rows in load_loinc_catalogue().entries.values():
        for entry in rows:
            found.setdefault(entry.code, entry)
    return found
