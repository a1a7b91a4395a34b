"""Signed values of a user's reports, for the trends of labs.

Reading their numbers is the parser's, so this is no query.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from itertools import groupby
from typing import TYPE_CHECKING

from django.db.models import F

from accounts.declarations.hooks import MarkerReading
from reports.models import ReportResult
from reports.parser.text.values import has_decimal_commas, parse_printed_number
from reports.states import ParsingJobStatus

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from accounts.models import Tenant

# A person's signed values of many years; the newest are kept where there are more.
VALUES_AT_MOST = 5000


def list_signed_values_with_loinc(
    tenant: Tenant, user_uuid: UUID, loinc_codes: Collection[str] | None
) -> list[MarkerReading]:
    """Return the signed values of a user's reports that have a LOINC code.

    Of each report its current version; of one that was replaced nothing. Dated by its
    collection, at noon UTC, as a report tells a day alone. One query. Source: Ours
    (workflow D1); what only the machine has read is in no trend.
    """
    rows = ReportResult.objects.for_tenant(tenant).filter(
        job__user__uuid=user_uuid,
        job__user__deleted_at=None,
        job__status=ParsingJobStatus.COMPLETED,
        job__is_reviewed=True,
        job__replaced_by=None,
        job__order=None,  # its values are the order's results
        version=F("job__version"),
    )
    newest = rows.select_related("job").order_by("-job__created_at", "job", "position")
    found = []
    for _, group in groupby(newest[:VALUES_AT_MOST], lambda row: row.job_id):
        own = list(group)
        comma = has_decimal_commas(f"{r.value} {r.reference_range or ''}" for r in own)
        found += [
            reading
            for row in own
            if (reading := _reading(row, decimal_comma=comma)) is not None
            and (loinc_codes is None or reading.loinc in loinc_codes)
        ]
    return found


def _reading(row: ReportResult, *, decimal_comma: bool) -> MarkerReading | None:
    if not row.loinc_matches:
        return None
    best = row.loinc_matches[0]
    return MarkerReading(
        name=best["display_name"] or row.test_name,
        loinc=best["loinc_code"],
        type=row.type or "",
        text=row.value,
        value=parse_printed_number(row.value, decimal_comma=decimal_comma),
        unit=row.units or "",
        reference_range=row.reference_range or "",
        low=row.min_reference_range,
        high=row.max_reference_range,
        interpretation=row.interpretation,
        is_above=row.is_above_max_range,
        is_below=row.is_below_min_range,
        at=_day_of(row),
        lab=(row.job.metadata or {}).get("lab_name") or "",
        source_id=row.job_id,
    )


def _day_of(row: ReportResult) -> datetime:
    read = row.job.metadata or {}
    for name in ("date_collected", "date_reported"):
        try:
            day = date.fromisoformat(read.get(name) or "")
        except ValueError:
            continue
        return datetime.combine(day, time(12), UTC)
    created: datetime = row.job.created_at
    return created
