"""Reads of lab reports of other institutions; those of deleted users are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import NotFound
from reports.models import OutsideReport, ParsingJob

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from reports.models import OutsideReportQuerySet, ParsingJobQuerySet


def list_outside_reports(*, tenant: Tenant, user_uuid: UUID) -> OutsideReportQuerySet:
    """Return a user's outside reports, newest first, not paged."""
    rows: OutsideReportQuerySet = OutsideReport.objects.for_tenant(tenant).current()
    return rows.of_user(user_uuid).order_by("-dated_at", "id")


def reports_of_user(
    tenant: Tenant, user_key: int
) -> tuple[ParsingJobQuerySet, OutsideReportQuerySet]:
    """Return a user's reports: those read here, and other institutions' newest."""
    read: ParsingJobQuerySet = ParsingJob.objects.for_tenant(tenant).live()
    outside: OutsideReportQuerySet = OutsideReport.objects.for_tenant(tenant).current()
    return read.filter(user_id=user_key), outside.filter(user_id=user_key)


def get_outside_report(
    *, tenant: Tenant, user_uuid: UUID, report_id: UUID
) -> OutsideReport:
    """Return one version of a user's outside report. Raises: not_found."""
    rows = OutsideReport.objects.for_tenant(tenant).filter(user__deleted_at=None)
    report: OutsideReport | None = rows.filter(
        id=report_id, user__uuid=user_uuid
    ).first()
    if report is None:
        raise NotFound("not_found", _("Report not found."))
    return report


def list_outside_report_versions(report: OutsideReport) -> list[OutsideReport]:
    """List all versions of a report, newest first, without their results."""
    rows = OutsideReport.objects.for_tenant(report.tenant).filter(
        user_id=report.user_id,
        provider=report.provider,
        institution=report.institution,
        record_id=report.record_id,
    )
    return list(rows.defer("results").order_by("-number"))
