"""Report rows of a whole tenant, for readers that narrow and page them themselves.

Those of deleted users are left out, as are reports that another took the place of and
reports that a check holds: their values must not be used. Every reader of these audits
the read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F, OuterRef, Q

from reports.models import (
    OutsideReport,
    ParsingJob,
    ReportFile,
    ReportResult,
    Signature,
)
from reports.states import ParsingJobStatus

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant


def _is_usable(prefix: str = "") -> Q:
    """Return the condition of reports whose values may be used.

    Contract 7.2, D14.
    """
    completed = Q(**{f"{prefix}status": ParsingJobStatus.COMPLETED})
    in_review = Q(
        **{
            f"{prefix}status": ParsingJobStatus.PENDING_REVIEW,
            f"{prefix}hold_reasons": [],
        }
    )
    shown = Q(**{f"{prefix}replaced_by": None, f"{prefix}user__deleted_at": None})
    return (completed | in_review) & shown


def usable_reports(tenant: Tenant) -> QuerySet[ParsingJob]:
    """Return reports with values that are no order's, with user and signatures.

    Values of an order's report are the order's results once they are signed.
    """
    rows: QuerySet[ParsingJob] = ParsingJob.objects.for_tenant(tenant).filter(
        _is_usable(), order=None
    )
    return rows.select_related("user")


def usable_report_results(tenant: Tenant) -> QuerySet[ReportResult]:
    """Return the current rows of usable reports, with report and user."""
    rows: QuerySet[ReportResult] = ReportResult.objects.for_tenant(tenant).filter(
        _is_usable("job__"), job__order=None, version=F("job__version")
    )
    return rows.select_related("job__user")


def signed_rows(tenant: Tenant) -> QuerySet[ReportResult]:
    """Return the current rows of signed reports, those of orders included."""
    rows: QuerySet[ReportResult] = ReportResult.objects.for_tenant(tenant).filter(
        _is_usable("job__"), job__is_reviewed=True, version=F("job__version")
    )
    return rows.select_related("job__user")


def report_files(tenant: Tenant) -> QuerySet[ReportFile]:
    """Return the files of usable reports, those of orders included."""
    rows: QuerySet[ReportFile] = ReportFile.objects.for_tenant(tenant).filter(
        _is_usable("job__")
    )
    return rows.select_related("job__user")


def current_outside_reports(tenant: Tenant) -> QuerySet[OutsideReport]:
    """Return the newest version of each outside report, with its user.

    `first_id` is the id of its first version, the same in every later one.
    """
    first = OutsideReport.objects.for_tenant(tenant).filter(
        user=OuterRef("user"),
        provider=OuterRef("provider"),
        institution=OuterRef("institution"),
        record_id=OuterRef("record_id"),
        number=1,
    )
    rows: QuerySet[OutsideReport] = OutsideReport.objects.for_tenant(tenant).filter(
        is_current=True, user__deleted_at=None
    )
    return rows.select_related("user").annotate(first_id=first.values("id")[:1])


def signatures_of_reports(
    tenant: Tenant, jobs: Collection[UUID]
) -> dict[tuple[UUID, int], Signature]:
    """Return the signatures of reports by report and version; one query."""
    rows = Signature.objects.for_tenant(tenant).filter(review__job__in=jobs)
    return {
        (signature.review.job_id, signature.review.number): signature
        for signature in rows.select_related("review")
    }
