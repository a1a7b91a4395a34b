"""Store a signed report's values as the results of its order."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext_noop

from labs.gateways.results import ReportedGap, ReportedResult, ResultDelivery
from labs.operations.documents.lab_documents import store_signed_report_as_lab_document
from labs.operations.order_status.status import lock_order
from labs.operations.results.critical import set_version_of_moved_alerts
from labs.operations.results.critical_reports import (
    close_critical_alert_of_parsed_report,
    move_critical_alerts_of_parsed_report_to_order,
)
from labs.operations.results.deliveries import store_result_delivery
from labs.queries.results.results import (
    find_current_result_version,
    get_result_identity_key,
    list_results_of_version,
)
from labs.states.results import FailureType, ResultStatus
from portal.lib import storage
from reports.operations.orders.comparing import (
    build_read_row,
    compare_rows_with_order,
    get_order_of_report,
)
from reports.parser.intake import FileKind
from reports.parser.report import Interpretation
from reports.parser.text.values import NUMBER, has_decimal_commas, parse_printed_number
from reports.queries import list_report_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.models import Order, Result
    from portal.lib.actor import Actor
    from reports.models import ParsingJob, ReportResult, Review
    from reports.operations.orders.comparing import OrderComparison, OrderedLine

_NOON = time(12)
_NUMBERS = re.compile(NUMBER)
# What a row's text may hold and still be numbers alone.
_NUMERIC = re.compile(r"[-+<>=≤≥⩽⩾−–—\d.,'’\s\xa0to]+")
_INTERPRETED = {Interpretation.ABNORMAL, Interpretation.CRITICAL}


def publish_results_of_order(
    *, review: Review, actor: Actor, rows: Sequence[ReportResult]
) -> None:
    """Store signed rows as a version of the results of the report's order.

    In the caller's transaction; nothing without an order. Final where all that was
    ordered is there or was said not to be performed, else partial; a value that
    differs from a stored one makes a correction. What an earlier version of this
    report had and this one lacks is withdrawn. The report's critical alert becomes the
    order's, and a PDF its document. Raises: results_not_expected, where the order has
    ended since. Source: Contract 6.15, D24; Ours: what a clinician signed is as good as
    what a lab sends.
    """
    job = review.job
    order = get_order_of_report(job)
    if order is None:
        return
    lock_order(order)
    if any(row.interpretation == Interpretation.CRITICAL for row in rows):
        move_critical_alerts_of_parsed_report_to_order(
            tenant=job.tenant, report_id=job.id, order=order
        )
    else:
        close_critical_alert_of_parsed_report(
            tenant=job.tenant,
            actor=actor,
            report_id=job.id,
            why=gettext_noop("Signed without a critical value."),
        )
    comparison = compare_rows_with_order(
        order=order,
        rows=[build_read_row(row) for row in rows],
        not_performed=review.not_performed,
    )
    delivery = build_delivery_of_report(job=job, rows=rows, comparison=comparison)
    version = store_result_delivery(order=order, actor=actor, delivery=delivery)
    set_version_of_moved_alerts(version=version)
    _store_document(job, order, actor)


def build_delivery_of_report(
    *, job: ParsingJob, rows: Sequence[ReportResult], comparison: OrderComparison
) -> ResultDelivery:
    """Return a signed report as a lab's delivery.

    Times are days, at noon UTC, as a report tells a day alone. Numbers are written with
    a decimal point, no digit changed.
    """
    by_position = {row.position: row for row in rows}
    comma = has_decimal_commas(f"{r.value} {r.reference_range or ''}" for r in rows)
    read = job.metadata or {}
    reported = _day(read.get("date_reported")) or _noon(job.created_at.date())
    collected = _day(read.get("date_collected"))
    results: list[ReportedResult] = []
    seen: dict[str, int] = {}
    codes = _list_codes(comparison)
    for line in comparison.lines:
        if line.row is None:
            continue
        code = (
            line.ordered.provider_id
            if line.ordered
            else codes.get(line.row.loinc) or codes.get(slugify(line.row.name)) or ""
        )
        key = code or line.row.loinc or line.row.name
        seen[key] = seen.get(key, 0) + 1
        results.append(
            _build_result(
                job,
                by_position[line.row.position],
                line,
                provider_id=code,
                observed_at=collected,
                sub_id=str(seen[key]) if seen[key] > 1 else "",
                decimal_comma=comma,
            )
        )
    gaps = [
        ReportedGap(
            name=line.ordered.name,
            failure_type=FailureType.UNKNOWN,
            note="Not performed, as a reviewer of the report said.",
            ordered_code=line.ordered.marker.provider_id,
            provider_id=line.ordered.provider_id,
            loinc=line.ordered.loinc,
        )
        for line in comparison.lines
        if line.ordered and line.is_not_performed and not (line.row or line.before)
    ]
    stored = _list_stored_results(comparison.order)
    keys = {(one.provider_id or one.loinc or one.name, one.sub_id) for one in results}
    gaps += [
        ReportedGap(
            name=row.name,
            note="Withdrawn: the corrected report does not have it.",
            provider_id=row.provider_id,
            loinc=row.loinc,
            sub_id=row.sub_id,
        )
        for row in stored
        if row.parsed_report_id == job.id and get_result_identity_key(row) not in keys
    ]
    return ResultDelivery(
        status=ResultStatus.PARTIAL if comparison.missing else ResultStatus.FINAL,
        reported_at=min(reported, timezone.now()),
        results=tuple(results),
        missing=tuple(gaps),
        is_correction=_changes_stored(stored, results),
        laboratory=read.get("lab_name") or "",
        collected_at=collected,
    )


def _build_result(
    job: ParsingJob,
    row: ReportResult,
    line: OrderedLine,
    *,
    provider_id: str,
    observed_at: datetime | None,
    sub_id: str,
    decimal_comma: bool,
) -> ReportedResult:
    ordered = line.ordered
    return ReportedResult(
        name=row.test_name,
        text=_write_plainly(row.value, decimal_comma=decimal_comma),
        unit=row.units or "",
        reference_range=_write_plainly(
            row.reference_range or "", decimal_comma=decimal_comma
        ),
        low=row.min_reference_range,
        high=row.max_reference_range,
        flag=row.flag or "",
        interpretation=row.interpretation if row.interpretation in _INTERPRETED else "",
        ordered_code=ordered.marker.provider_id if ordered else "",
        provider_id=provider_id,
        loinc=line.row.loinc if line.row else "",
        sub_id=sub_id,
        sample_id=job.order.sample_id if job.order else "",
        observed_at=observed_at,
        parsed_report_id=job.id,
        parsed_position=row.position,
    )


def _list_codes(comparison: OrderComparison) -> dict[str, str]:
    """Return the lab's codes of what was ordered, by LOINC code and by slug.

    A further row of one result has its code and a number of its own (`sub_id`), or it
    would take the first one's place.
    """
    codes = {}
    for line in comparison.lines:
        if line.ordered and line.ordered.expected:
            codes[line.ordered.loinc] = line.ordered.provider_id
            codes[line.ordered.expected.slug] = line.ordered.provider_id
    codes.pop("", None)
    return codes


def _list_stored_results(order: Order) -> list[Result]:
    version = find_current_result_version(order=order)
    return list_results_of_version(version) if version else []


def _changes_stored(stored: Sequence[Result], results: list[ReportedResult]) -> bool:
    """Return whether a result differs from the stored one of the same code."""
    before = {get_result_identity_key(row): row for row in stored}
    for one in results:
        row = before.get((one.provider_id or one.loinc or one.name, one.sub_id))
        if row is not None and (row.result, row.unit) != (one.text, one.unit):
            return True
    return False


def _store_document(job: ParsingJob, order: Order, actor: Actor) -> None:
    """Store the report's PDF as the order's document; pictures stay with the report."""
    files = list_report_files(job)
    if len(files) != 1 or files[0].content_type != FileKind.PDF:
        return
    with storage.open_stored_file(files[0].stored_as) as file:
        content: bytes = file.read()
    store_signed_report_as_lab_document(
        order=order,
        actor=actor,
        report_id=job.id,
        name="Report of the lab",
        content=content,
    )


def _write_plainly(text: str, *, decimal_comma: bool) -> str:
    """Return a text of numbers as labs write them: `1,250` is 1250, `5,20` is 5.20."""
    if not _NUMERIC.fullmatch(text):
        return text
    return _NUMBERS.sub(
        lambda found: _write_number(found[0], decimal_comma=decimal_comma), text
    )


def _write_number(text: str, *, decimal_comma: bool) -> str:
    value = parse_printed_number(text, decimal_comma=decimal_comma)
    if value is None:
        return text
    bare = text.replace("'", "").replace("’", "")
    for written in (
        bare,
        bare.replace(",", "."),
        bare.replace(",", ""),
        bare.replace(".", "").replace(",", "."),
    ):
        if re.fullmatch(r"\d+(\.\d+)?", written) and float(written) == value:
            return written
    return format(Decimal(str(value)), "f")


def _day(text: str | None) -> datetime | None:
    return _noon(date.fromisoformat(text)) if text else None


def _noon(day: date) -> datetime:
    return datetime.combine(day, _NOON, UTC)
