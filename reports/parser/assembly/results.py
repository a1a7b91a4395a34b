"""Builds results of the wire from the rows of a report.

Each part is read by a module of its own; this one puts them together and says how sure
each is. Nothing here looks for rows.
"""

from __future__ import annotations

import re
from dataclasses import replace

from portal.lib.units import normalize_unit, parse_printed_unit
from reports.parser.assembly.confidence import get_uncalibrated_confidence
from reports.parser.assembly.interpretation import interpret_result_against_range
from reports.parser.checks import choose_likely_unit, find_likely_catalogue_entry
from reports.parser.loinc import LoincMatches, rank_loinc_matches
from reports.parser.pages import Page
from reports.parser.readers import Row
from reports.parser.report import (
    LoincMatchStatus,
    LoincReason,
    Metadata,
    ParsedResult,
    Provenance,
    Sensitivity,
)
from reports.parser.text.fields import (
    Fields,
    find_unit_in_range,
    is_unit,
    join_word_texts,
)
from reports.parser.text.ranges import Bounds, parse_range_bounds
from reports.parser.text.roles import Role
from reports.parser.text.values import (
    infer_value_type,
    is_numeric_value,
    parse_printed_number,
)

_HEADED_UNIT = re.compile(
    r"(?:[(\[]|,\s|\bin\s)(?P<unit>\S+/\S+?|%)[)\]]?$|\s(?P<share>%)$"
)
_SMEARED = re.compile(r"(?i)smear|morpholog")
_CELLS = re.compile(r"(?i)[rw]\W?b\W?c\W?s?\W?|(?:red|white)(?: blood)? cells?")
_COUNTED_IN = re.compile(r"(?i)\d\s*(lakh|lac|mill|thou|bin)\w*")


def build_parsed_result(
    row: Row,
    page: Page,
    metadata: Metadata,
    *,
    age: float | None = None,
    decimal_comma: bool,
) -> ParsedResult:
    """Return a row as the wire has it; sex and age choose among ranges."""
    fields, verdict = _with_unit_of_heading(row)
    name = row.test_name
    printed = fields.range or None
    bounds = parse_range_bounds(
        printed or "", sex=metadata.gender, age=age, decimal_comma=decimal_comma
    )
    if printed and not _same_scale(printed, fields.units):
        bounds = Bounds()
    judged = interpret_result_against_range(
        value=fields.value,
        bounds=bounds,
        has_range=printed is not None,
        flag=fields.flag,
        decimal_comma=decimal_comma,
    )
    number = parse_printed_number(fields.value, decimal_comma=decimal_comma)
    matches = verdict.matches
    return ParsedResult(
        test_name=name,
        value=fields.value,
        type=infer_value_type(fields.value),
        units=fields.units,
        min_reference_range=bounds.low,
        max_reference_range=bounds.high,
        reference_range=printed,
        source_panel_name=row.panel,
        sample_type=verdict.sample_type or row.specimen,
        measurement_kind=verdict.measurement_kind,
        sensitivity=_sensitivity(row),
        loinc_matches=matches,
        loinc_match_status=verdict.status,
        interpretation=judged.interpretation,
        is_above_max_range=judged.above,
        is_below_min_range=judged.below,
        provenance=Provenance(
            name=page.place_of(row.name),
            value=page.place_of(fields.value_words),
            units=page.place_of(fields.units_words),
            reference_range=page.place_of(fields.range_words),
        ),
        confidence=get_uncalibrated_confidence(row, verdict.matches),
        ucum=_ucum(fields.units, number, verdict),
        flag=fields.flag,
    )


def _with_unit_of_heading(row: Row) -> tuple[Fields, LoincMatches]:
    """Return fields with the unit that their heading prints once for all, and the code.

    'Differential count (%)', 'Electrolytes (mmol/L)': only for a number without a unit
    of a test that is measured in it.
    """
    own = _rank(row, row.fields.units)
    match = _HEADED_UNIT.search(row.panel or "")
    if row.fields.units or match is None or not is_numeric_value(row.fields.value):
        return row.fields, own
    unit = match["unit"] or match["share"]
    headed = _rank(row, unit)
    sure = headed.status is LoincMatchStatus.AUTO_MATCH and is_unit(unit)
    agrees = sure and LoincReason.UNIT_AGREES in headed.matches[0].reasons
    return (replace(row.fields, units=unit), headed) if agrees else (row.fields, own)


def _rank(row: Row, units: str | None) -> LoincMatches:
    name = row.test_name
    if _SMEARED.search(row.panel or "") and _CELLS.fullmatch(name):
        # Below 'Smear' a finding of cells is of their looks.
        name = name if is_numeric_value(row.fields.value) else f"{name} Morphology"
    return rank_loinc_matches(
        name=name,
        units=units,
        value=row.fields.value,
        panel=row.panel,
        sample_type=row.specimen,
    )


def _ucum(units: str | None, number: float | None, verdict: LoincMatches) -> str | None:
    readings = parse_printed_unit(units) if units else ()
    if len(readings) < 2 or number is None:
        return readings[0] if readings else None
    entry = find_likely_catalogue_entry(verdict.matches, verdict.status)
    return choose_likely_unit(readings, entry=entry, number=number)


def _sensitivity(row: Row) -> Sensitivity | None:
    """What a culture says of a drug, in its value or in the column beside it."""
    texts = [row.fields.value, join_word_texts(row.columns.get(Role.FLAG, []))]
    for text in texts:
        match text.strip().lower():
            case "sensitive" | "susceptible":
                return Sensitivity.SENSITIVE
            case "resistant" | "intermediate" | "insensitive":
                return Sensitivity.INSENSITIVE
    return None


def _same_scale(printed: str, units: str | None) -> bool:
    """Whether a unit printed in the range, if any, is that of the row."""
    own = find_unit_in_range(printed)
    if own is not None and units is not None:
        first, second = normalize_unit(own), normalize_unit(units)
        return first is None or second is None or first == second
    counted = _COUNTED_IN.search(printed)
    return counted is None or counted[1].lower() in (units or "").lower()
