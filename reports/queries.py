"""Reads of parsing jobs that more than one face needs; jobs of deleted users vanish.

Must not be here: the wire's shapes (reports.payloads).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count

from portal.lib.errors import NotFound
from reports.models import ParsingJob, ReportFile, ReportResult

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from reports.models import ParsingJobQuerySet


@dataclass(frozen=True, slots=True)
class JobFilters:
    """What to list: empty means all."""

    statuses: tuple[str, ...] = ()
    user_uuid: UUID | None = None


def parsing_job(*, tenant: Tenant, job_id: UUID) -> ParsingJob:
    """One job with its user. Raises: not_found."""
    rows = ParsingJob.objects.for_tenant(tenant).live().select_related("user")
    job: ParsingJob | None = rows.filter(id=job_id).first()
    if job is None:
        raise NotFound("not_found", "Parsing job not found.")
    job.tenant = tenant
    return job


def parsing_jobs(*, tenant: Tenant, filters: JobFilters) -> ParsingJobQuerySet:
    """Jobs with their users, newest first; not yet cut into pages."""
    rows: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    if filters.statuses:
        rows = rows.in_status(list(filters.statuses))
    if filters.user_uuid:
        rows = rows.of_user(filters.user_uuid)
    return rows.select_related("user").order_by("-created_at", "id")


def jobs_per_status(*, tenant: Tenant, user_uuid: UUID | None = None) -> dict[str, int]:
    """How many jobs of a tenant, or of one user, are in each status that has any."""
    rows: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    if user_uuid:
        rows = rows.of_user(user_uuid)
    counted = rows.values_list("status").annotate(Count("id")).order_by()
    return dict(counted)


def report_results(job: ParsingJob) -> list[ReportResult]:
    """What was read, in reading order; empty unless the job shows data."""
    if not job.has_data:
        return []
    rows = ReportResult.objects.for_tenant(job.tenant).filter(job=job)
    return list(rows.order_by("position"))


def report_files(job: ParsingJob) -> list[ReportFile]:
    """The parts of the upload, in order."""
    rows = ReportFile.objects.for_tenant(job.tenant).filter(job=job)
    return list(rows.order_by("position"))
