"""Decides which LOINC code a row has: the one place with the order of precedence.

The first of these that has a code puts it first; what the weaker ones found follows:

1. a reviewer's choice (`choose_loinc_code`, `clear_loinc_code`);
2. the team's mapping of the lab's name and unit (`decide_loinc_codes`);
3. our own catalogue (`rank_loinc_matches`), asked as a row is parsed and again when a
   reviewer types another name, unit, panel or specimen;
4. the imported LOINC table, for rows that the catalogue does not have
   (`decide_loinc_codes`);
5. nothing: the row has no code.

The first candidate is certain (`AUTO_MATCH`) by the catalogue's and the table's own
evidence, by a mapping or a choice, or once a reviewer signed it (`confirm_loinc_code`);
it is not where a unit or a specimen contradicts a mapping, or where the row may be
another patient's (`withhold_loinc_code`).

The table and the mappings come after parsing: which rows a report has and what speaks
against them never depends on a server's table or on a team.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reports.parser.report import LoincMatch, LoincMatchStatus, LoincReason

from .catalogue import build_name_key
from .search import LoincHit, is_loinc_hit_contradicted, search_loinc_codes
from .widening import match_name_in_loinc_release

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from reports.parser.report import ParsedResult, SampleType

    # The key of a printed name, and its unit.
    MappingKey = tuple[str, str]

_CERTAIN = 1.0
_CONTRADICTED = 0.5


def decide_loinc_codes(
    results: Iterable[ParsedResult],
    *,
    release: Path,
    mappings: Mapping[MappingKey, LoincMatch],
) -> tuple[ParsedResult, ...]:
    """Return a report's parsed rows with their codes decided.

    release: the folder of the imported table, which may hold none. mappings: those of
    the team for the report's lab, by build_loinc_mapping_key.
    """
    return tuple(
        _decide(result, release, mappings.get(build_loinc_mapping_key(result)))
        for result in results
    )


def build_loinc_mapping_key(result: ParsedResult) -> MappingKey:
    """Return what a team's mapping is found by: name and unit, however spelled."""
    units = result.ucum or (result.units or "").strip().casefold()
    return build_name_key(result.test_name), units


def choose_loinc_code(
    result: ParsedResult, code: str, *, release: Path
) -> ParsedResult | None:
    """Return the row with a code that a reviewer chose; None for an unknown code.

    The code is one of the row's own candidates, the catalogue's or the table's.
    """
    known = {match.loinc_code: match for match in result.loinc_matches}
    match = known.get(code) or _find_match(result, code, release)
    if match is None:
        return None
    return replace(
        result,
        loinc_matches=_put_first(match, result),
        loinc_match_status=LoincMatchStatus.AUTO_MATCH,
        confidence=replace(result.confidence, loinc=None),
    )


def clear_loinc_code(result: ParsedResult) -> ParsedResult:
    """Return the row without a code, as a reviewer chose."""
    return replace(
        result,
        loinc_matches=(),
        loinc_match_status=LoincMatchStatus.NO_MATCH,
        confidence=replace(result.confidence, loinc=None),
    )


def confirm_loinc_code(result: ParsedResult) -> ParsedResult:
    """Return the row with its first candidate certain: a reviewer signed it."""
    if result.loinc_match_status is not LoincMatchStatus.NEEDS_REVIEW:
        return result
    return replace(result, loinc_match_status=LoincMatchStatus.AUTO_MATCH)


def withhold_loinc_code(result: ParsedResult) -> ParsedResult:
    """Return the row with no candidate certain: a reviewer decides."""
    if result.loinc_match_status is not LoincMatchStatus.AUTO_MATCH:
        return result
    return replace(result, loinc_match_status=LoincMatchStatus.NEEDS_REVIEW)


def _decide(
    result: ParsedResult, release: Path, mapped: LoincMatch | None
) -> ParsedResult:
    if not result.loinc_matches:
        result = _match_in_table(result, release)
    return result if mapped is None else _put_mapping_first(result, mapped)


def _match_in_table(result: ParsedResult, release: Path) -> ParsedResult:
    found = match_name_in_loinc_release(
        release,
        name=result.test_name,
        units=result.units,
        value=result.value,
        panel=result.source_panel_name,
        sample_type=result.sample_type,
    )
    if found is None:
        return result
    return replace(
        result,
        loinc_matches=found.matches,
        loinc_match_status=found.status,
        confidence=replace(result.confidence, loinc=found.matches[0].confidence_score),
    )


def _put_mapping_first(result: ParsedResult, mapped: LoincMatch) -> ParsedResult:
    code = mapped.loinc_code
    hit = _find_hit(code, result.units, result.sample_type)
    is_contradicted = hit is not None and is_loinc_hit_contradicted(hit)
    match = replace(
        mapped,
        confidence_score=1.0,
        reasons=(LoincReason.TEAM_ALIAS, *(hit.reasons if hit else ())),
    )
    return replace(
        result,
        loinc_matches=_put_first(match, result),
        loinc_match_status=LoincMatchStatus.NEEDS_REVIEW
        if is_contradicted
        else LoincMatchStatus.AUTO_MATCH,
        confidence=replace(
            result.confidence, loinc=_CONTRADICTED if is_contradicted else _CERTAIN
        ),
    )


def _put_first(match: LoincMatch, result: ParsedResult) -> tuple[LoincMatch, ...]:
    code = match.loinc_code
    return (match, *(one for one in result.loinc_matches if one.loinc_code != code))


def _find_match(result: ParsedResult, code: str, release: Path) -> LoincMatch | None:
    hit = _find_hit(code, result.units, result.sample_type, release)
    if hit is None:
        return None
    return LoincMatch(
        loinc_code=hit.loinc_code,
        loinc_name=hit.loinc_name,
        display_name=hit.display_name,
        aliases=(),
        confidence_score=hit.score,
        reasons=hit.reasons,
    )


def _find_hit(
    code: str,
    unit: str | None,
    specimen: SampleType | None,
    release: Path | None = None,
) -> LoincHit | None:
    hits = search_loinc_codes(code, unit=unit, specimen=specimen, release=release)
    return next((hit for hit in hits if hit.loinc_code == code), None)
