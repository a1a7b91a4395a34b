"""Reads of parsing jobs; those of deleted users are left out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from django.db.models import Count, Q
from django.db.models.functions import TruncDate
from django.utils.translation import gettext as _

from portal.lib.database.rows import fetch_rows
from portal.lib.errors import NotFound
from reports.models import ParsingJob, ParsingJobTransition, ReportFile, ReportResult
from reports.states import DocumentStatus, ParsingJobStatus
from users.queries.numbers import find_records_by_number
from users.queries.users.by_part import list_keys_by_part_of_id
from users.states import NumberedKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime
    from uuid import UUID

    from accounts.models import Tenant
    from reports.models import ParsingJobQuerySet


# The overview counts up to here: its numbers are renewed again and again.
COUNTED_UP_TO = 10_000
_FOUND_BY_ID = 100
_NEEDS_ATTENTION = f"""
SELECT (
    SELECT count(*) FROM reports_parsingjob job
    JOIN users_user person ON person.id = job.user_id
    WHERE job.tenant_id = %(tenant)s AND person.deleted_at IS NULL
        AND (job.status = '{ParsingJobStatus.PENDING_REVIEW}'
            OR (job.status = '{ParsingJobStatus.FAILED}'
                AND job.finished_at >= %(failed_since)s))
), (
    SELECT count(*) FROM reports_unmatcheddocument
    WHERE tenant_id = %(tenant)s AND status = '{DocumentStatus.UNMATCHED}'
)
"""  # noqa: S608 - the statuses are ours


@dataclass(frozen=True, slots=True)
class AttentionNumbers:
    """Jobs pending review or failed lately, and documents without an order."""

    jobs: int
    documents: int


@dataclass(frozen=True, slots=True)
class JobFilters:
    """Filters of the list of jobs; an empty one means all.

    `text` is part of a report's ID or of either ID of its user.
    """

    statuses: tuple[str, ...] = ()
    user_uuid: UUID | None = None
    created_from: datetime | None = None
    text: str = ""


def get_parsing_job(*, tenant: Tenant, job_id: UUID) -> ParsingJob:
    """Return one job with its user. Raises: not_found."""
    rows = ParsingJob.objects.for_tenant(tenant).live().select_related("user")
    job: ParsingJob | None = rows.filter(id=job_id).first()
    if job is None:
        raise NotFound("not_found", _("Parsing job not found."))
    job.tenant = tenant
    return job


def list_parsing_jobs(*, tenant: Tenant, filters: JobFilters) -> ParsingJobQuerySet:
    """Return jobs with their users, newest first, not paged."""
    rows: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    if filters.statuses:
        rows = rows.in_status(list(filters.statuses))
    if filters.user_uuid:
        rows = rows.of_user(filters.user_uuid)
    if filters.created_from:
        rows = rows.filter(created_at__gte=filters.created_from)
    if filters.text:
        ids = find_records_by_number(
            tenant=tenant,
            kind=NumberedKind.REPORT,
            text=filters.text,
            limit=_FOUND_BY_ID,
        )
        users = list_keys_by_part_of_id(tenant=tenant, text=filters.text)
        rows = rows.filter(Q(pk__in=ids) | Q(user_id__in=users))
    return rows.select_related("user").order_by("-created_at", "id")


def list_reports_of_order(*, tenant: Tenant, order_id: UUID) -> list[ParsingJob]:
    """List the reports of an order with their users, newest first; one query."""
    jobs: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    rows = jobs.filter(order_id=order_id).select_related("user")
    return list(rows.order_by("-created_at", "id"))


def count_parsing_jobs_per_status(*, tenant: Tenant) -> dict[str, int]:
    """Count the jobs of a tenant per status."""
    rows: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    counted = rows.values_list("status").annotate(Count("id")).order_by()
    return dict(counted)


def list_jobs_by_id(*, tenant: Tenant, ids: Sequence[UUID]) -> list[ParsingJob]:
    """Return those of these jobs that are the tenant's, with their users, by ID."""
    rows: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    return list(rows.filter(id__in=ids).select_related("user").order_by("id"))


def list_failed_jobs_since(*, tenant: Tenant, since: datetime) -> ParsingJobQuerySet:
    """Return jobs that failed since a moment with their users, newest first."""
    rows: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    failed = rows.in_status([ParsingJobStatus.FAILED]).filter(finished_at__gte=since)
    return failed.select_related("user").order_by("-finished_at", "id")


def count_what_needs_attention(
    *, tenant: Tenant, failed_since: datetime
) -> AttentionNumbers:
    """Count what waits for a person; one query, by hand, as every page asks."""
    inputs = {"tenant": tenant.pk, "failed_since": failed_since}
    [(jobs, documents)] = fetch_rows(_NEEDS_ATTENTION, inputs)
    return AttentionNumbers(jobs, documents)


def count_parsing_jobs_per_day(*, tenant: Tenant, since: datetime) -> dict[date, int]:
    """Count submitted jobs per UTC day, from the index alone.

    Those of users deleted since are counted too: it was a busy day all the same.
    """
    rows = ParsingJob.objects.for_tenant(tenant).filter(created_at__gte=since)
    by_day = rows.values_list(TruncDate("created_at", tzinfo=UTC))
    return dict(by_day.annotate(Count("created_at")).order_by())


def count_jobs_in_statuses(*, tenant: Tenant, statuses: tuple[str, ...]) -> int:
    """Count jobs in any of these statuses, up to COUNTED_UP_TO + 1."""
    rows: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    found = rows.in_status(list(statuses)).order_by()
    return int(found[: COUNTED_UP_TO + 1].count())


def list_report_results(job: ParsingJob) -> list[ReportResult]:
    """Return a job's current results in order; empty unless it has data."""
    if not job.has_data:
        return []
    rows = ReportResult.objects.for_tenant(job.tenant).filter(
        job=job, version=job.version
    )
    return list(rows.order_by("position"))


def list_parsing_job_transitions(job: ParsingJob) -> list[ParsingJobTransition]:
    """Return the status changes of a job, oldest first."""
    rows = ParsingJobTransition.objects.for_tenant(job.tenant).filter(job=job)
    return list(rows.order_by("id"))


def list_report_files(job: ParsingJob) -> list[ReportFile]:
    """Return the files of the upload, in order."""
    rows = ReportFile.objects.for_tenant(job.tenant).filter(job=job)
    return list(rows.order_by("position"))
