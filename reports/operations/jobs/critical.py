"""Critical values of parsed reports: find them, and start the clock of an alert."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext_noop

from labs.operations.results.critical_reports import (
    close_critical_alert_of_parsed_report,
    move_critical_alert_to_user,
    open_critical_alert_of_parsed_report,
)
from reports.operations.critical_limits import build_critical_criteria
from reports.parser.checks.critical import mark_critical_result
from reports.parser.report import Interpretation, NoteCode
from reports.parser.text.values import has_decimal_commas
from reports.states import RejectionReason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portal.lib.actor import Actor
    from reports.models import ParsingJob, ReportResult
    from reports.parser.report import ParsedReport


def mark_critical_results(*, job: ParsingJob, report: ParsedReport) -> ParsedReport:
    """Return the report with values at a critical limit or beyond it as critical.

    By the team's limits, and the age and sex on the report, else the user's. A number
    that is impossible is a slip, and one whose unit does not fit is judged in the unit
    that would. Three queries. Source: Ours.
    """
    texts = [f"{one.value} {one.reference_range or ''}" for one in report.results]
    comma = has_decimal_commas(texts)
    criteria = build_critical_criteria(job=job, metadata=report.metadata)
    impossible = _list_rows(report, NoteCode.IMPLAUSIBLE)
    units = _list_fitting_units(report)
    results = []
    for position, result in enumerate(report.results):
        judged = mark_critical_result(
            replace(result, ucum=units.get(position, result.ucum)),
            criteria=criteria,
            decimal_comma=comma,
        )
        believed = position not in impossible
        results.append(replace(judged, ucum=result.ucum) if believed else result)
    return replace(report, results=tuple(results))


def open_or_close_alert_of_critical_values(
    *, job: ParsingJob, actor: Actor, rows: Iterable[ReportResult]
) -> None:
    """Open an alert if rows of a report are critical, also of one that is held.

    Close it if none is: the value was edited away or excluded, which `actor` signed. In
    the caller's transaction. Source: Ours: whoever the value belongs to, somebody has
    to act on it.
    """
    critical = [row for row in rows if row.interpretation == Interpretation.CRITICAL]
    if not critical:
        close_critical_alert_of_parsed_report(
            tenant=job.tenant,
            actor=actor,
            report_id=job.id,
            why=gettext_noop("Signed without a critical value."),
        )
        return
    open_critical_alert_of_parsed_report(
        tenant=job.tenant,
        user_id=job.user_id,
        report_id=job.id,
        results=[
            {
                "name": row.test_name,
                "code": None,
                "loinc": row.loinc_matches[0]["loinc_code"]
                if row.loinc_matches
                else None,
                "sub_id": None,
                "result": row.value,
                "unit": row.units or "",
                "reference_range": row.reference_range,
                "flag": row.flag,
                "observed_at": None,
                "is_reviewed": row.version > 0,
            }
            for row in critical
        ],
    )


def settle_alert_of_rejected_report(
    *, job: ParsingJob, actor: Actor, reason: RejectionReason
) -> None:
    """Settle the alert of a report that is rejected, in the caller's transaction.

    What is no report has no critical value: its alert closes. That of another person's
    report is taken from the user and stays open, as it does where a report cannot be
    read: the value may be real, and somebody has to act on it. Source: Ours.
    """
    if reason == RejectionReason.NOT_A_REPORT:
        close_critical_alert_of_parsed_report(
            tenant=job.tenant,
            actor=actor,
            report_id=job.id,
            why=gettext_noop("Rejected: not a lab report."),
        )
    elif reason == RejectionReason.WRONG_PERSON:
        move_critical_alert_to_user(tenant=job.tenant, report_id=job.id, user_id=None)


def _list_rows(report: ParsedReport, code: NoteCode) -> set[int]:
    return {row for note in report.notes if note.code is code for row in note.rows}


def _list_fitting_units(report: ParsedReport) -> dict[int, str]:
    """The first unit that a row's number would fit, of rows whose unit does not."""
    return {
        row: fact.text
        for note in report.notes
        if note.code is NoteCode.UNIT_SUSPECT
        for fact in note.facts
        if fact.name == "fits_1" and fact.text
        for row in note.rows
    }
