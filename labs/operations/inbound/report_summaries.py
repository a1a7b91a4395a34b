"""Summaries of stored reports, in a time that a list can bear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.gateways.hl7.deliveries import build_result_delivery_from_report
from labs.gateways.hl7.documents import DOCUMENT_TYPES
from labs.gateways.hl7.messages import MalformedMessage, parse_hl7_message_text
from labs.gateways.hl7.reports import Patient
from labs.gateways.hl7.results import parse_hl7_result_reports
from labs.operations.inbound.processing import get_default_lab_time_zone
from labs.states.orders import Interpretation
from labs.states.results import (
    ResultStatus,
    get_worst_interpretation,
    interpret_lab_flag,
)

if TYPE_CHECKING:
    from labs.gateways.hl7.reports import Report
    from labs.models import InboundReport

# Ours: read in 0.1 s; of a longer one the patient and its tests are read.
_READ_WHOLE = 50_000
_HEADS = {"MSH", "PID", "ORC", "OBR"}


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """What a report says in short; `tests` are code and name.

    `interpretation` is the worst of its flags, None where it has none. `status` is
    final where nothing more is to come of its tests.
    """

    patient: Patient
    tests: tuple[tuple[str, str], ...]
    interpretation: Interpretation | None
    status: ResultStatus


def summarize_lab_report(row: InboundReport) -> ReportSummary:
    """Summarize a stored report without its documents.

    One that can't be read any more has no patient and no tests: it is listed all the
    same.
    """
    try:
        reports = parse_hl7_result_reports(
            parse_hl7_message_text(_shorten(row.text)),
            zone=get_default_lab_time_zone(row.tenant),
        )
    except MalformedMessage:
        reports = []
    tests = [test for report in reports for test in report.tests]
    is_final = bool(tests) and all(test.is_done for test in tests)
    critical = Interpretation.CRITICAL if row.critical_results else None
    return ReportSummary(
        patient=reports[0].patient if reports else Patient(),
        tests=tuple((test.code, test.name) for test in tests),
        interpretation=critical or _find_interpretation(row, reports),
        status=ResultStatus.FINAL if is_final else ResultStatus.PARTIAL,
    )


def _find_interpretation(
    row: InboundReport, reports: list[Report]
) -> Interpretation | None:
    deliveries = (
        build_result_delivery_from_report(
            report, is_final=False, received_at=row.received_at
        )
        for report in reports
    )
    return get_worst_interpretation(
        interpret_lab_flag(result.flag)
        for delivery in deliveries
        for result in delivery.results
    )


def _shorten(text: str) -> str:
    mark = text[3:4]
    lines = [
        line
        for line in text.split("\r")
        if not (line.startswith("OBX") and _type_of(line, mark) in DOCUMENT_TYPES)
    ]
    if sum(map(len, lines)) > _READ_WHOLE:
        lines = [line for line in lines if line[:3] in _HEADS]
    return "\r".join(lines)


def _type_of(line: str, mark: str) -> str:
    return "".join(line.split(mark, 3)[2:3])
