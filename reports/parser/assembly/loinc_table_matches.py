"""Matches unmatched rows against the imported LOINC table.

Comes last: which rows a report has and what speaks against them never depends on
whether a server has the table.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reports.parser.loinc import match_name_in_loinc_release
from reports.parser.report import ParsedReport, ParsedResult


def add_loinc_table_candidates(report: ParsedReport, *, release: Path) -> ParsedReport:
    """Return the report, unmatched rows with candidates of the table.

    release: the folder of the table; nothing changes where it holds none.
    """
    return replace(
        report,
        results=tuple(
            result if result.loinc_matches else _widened(result, release)
            for result in report.results
        ),
    )


def _widened(result: ParsedResult, release: Path) -> ParsedResult:
    verdict = match_name_in_loinc_release(
        release,
        name=result.test_name,
        units=result.units,
        value=result.value,
        panel=result.source_panel_name,
        sample_type=result.sample_type,
    )
    if verdict is None:
        return result
    return replace(
        result,
        loinc_matches=verdict.matches,
        loinc_match_status=verdict.status,
        confidence=replace(
            result.confidence, loinc=verdict.matches[0].confidence_score
        ),
    )
