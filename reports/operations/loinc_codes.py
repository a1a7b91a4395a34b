"""Decide the LOINC codes of a parsed report, as reports.parser.loinc.decision does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reports.models import LoincAlias
from reports.operations.reading.loinc_table import get_imported_loinc_folder
from reports.operations.reading.parsed_values import build_parsed_value_from_json
from reports.operations.review.checks import recheck_changed_results
from reports.parser.loinc.catalogue import build_name_key
from reports.parser.loinc.decision import build_loinc_mapping_key, decide_loinc_codes
from reports.parser.report import LoincMatch
from reports.states import AliasStatus

if TYPE_CHECKING:
    from accounts.models import Tenant
    from reports.parser.report import ParsedReport


def decide_loinc_codes_of_report(
    *, tenant: Tenant, report: ParsedReport
) -> ParsedReport:
    """Return the report with its codes decided, by table and by the team's mappings.

    The checks run again where a mapping changed a row. One query, none where the lab is
    not named. Source: Ours (workflow D1).
    """
    mappings = _find_active_mappings(tenant, report.metadata.lab_name or "")
    is_mapped = any(
        build_loinc_mapping_key(result) in mappings for result in report.results
    )
    results = decide_loinc_codes(
        report.results, release=get_imported_loinc_folder(), mappings=mappings
    )
    report = replace(report, results=results)
    if not is_mapped:
        return report
    return replace(report, notes=recheck_changed_results(report))


def _find_active_mappings(
    tenant: Tenant, lab: str
) -> dict[tuple[str, str], LoincMatch]:
    lab_key = build_name_key(lab)
    if not lab_key:
        return {}
    active = LoincAlias.objects.for_tenant(tenant).filter(
        lab_key=lab_key, status=AliasStatus.LIVE
    )
    return {
        (alias.name_key, alias.units): build_parsed_value_from_json(
            LoincMatch, alias.match
        )
        for alias in active
    }
