"""Reads of a user's reports that fall into a span of days."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from reports.models import ParsingJob, ReportResult
from reports.states import ParsingJobStatus

if TYPE_CHECKING:
    from accounts.models import Tenant


class UploadedReport(NamedTuple):
    """A report; `values` are those read of it, of its shown version."""

    id: UUID
    status: str
    created_at: datetime
    metadata: dict[str, Any] | None
    values: int

    @property
    def lab(self) -> str:
        """Return the laboratory's name as printed; empty if unknown."""
        return str((self.metadata or {}).get("lab_name") or "")


def list_reports_in_span(
    *, tenant: Tenant, user_uuid: UUID, start: datetime, end: datetime, limit: int
) -> list[UploadedReport]:
    """Return a live user's reports received in a span, or waiting for review.

    Newest first; one query.
    """
    values = (
        ReportResult.objects.for_tenant(tenant)
        .filter(job=OuterRef("pk"), version=OuterRef("version"))
        .order_by()
        .values("job")
        .annotate(number=Count("pk"))
        .values("number")
    )
    found = (
        ParsingJob.objects.for_tenant(tenant)
        .live()
        .of_user(user_uuid)
        .filter(
            Q(created_at__gte=start, created_at__lt=end)
            | Q(status=ParsingJobStatus.PENDING_REVIEW)
        )
        .annotate(values_read=Coalesce(Subquery(values), 0))
        .order_by("-created_at", "pk")
        .values_list("pk", "status", "created_at", "metadata", "values_read")[:limit]
    )
    return [UploadedReport(*row) for row in found]


def count_values_waiting_for_signature(*, tenant: Tenant, user_uuid: UUID) -> int:
    """Return how many values of a live user's reports wait for review; one query."""
    waiting: int = (
        ReportResult.objects.for_tenant(tenant)
        .filter(
            job__user__uuid=user_uuid,
            job__user__deleted_at=None,
            job__status=ParsingJobStatus.PENDING_REVIEW,
            version=F("job__version"),
        )
        .count()
    )
    return waiting
