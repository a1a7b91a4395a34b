"""Count and remove old reports under a team's retention settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from labs.queries.results.critical import select_reports_with_open_alert
from portal.lib.database.retention import (
    COUNTED_UP_TO,
    Aged,
    count_rows_and_find_oldest,
    delete_rows_in_batches,
)
from reports.models import OutsideReport, ParsingJob, UnmatchedDocument
from reports.operations.reading.files import (
    delete_parsing_jobs,
    delete_stored_report_files,
)
from reports.states import DocumentStatus, ParsingJobStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from reports.models import OutsideReportQuerySet
    from reports.models.jobs import ParsingJobQuerySet

# A report takes its pages and rows along: far more than a row.
_STEP = 50


def count_old_failed_reports(tenant: Tenant, before: datetime) -> Aged:
    """Count failed reports and rejected documents that ended before a moment."""
    failed = count_rows_and_find_oldest(
        _ended(tenant, before, ParsingJobStatus.FAILED), "finished_at"
    )
    rejected = count_rows_and_find_oldest(_rejected(tenant, before), "resolved_at")
    oldest = [one.oldest for one in (failed, rejected) if one.oldest]
    return Aged(failed.number + rejected.number, min(oldest, default=None))


def delete_old_failed_reports(tenant: Tenant, before: datetime) -> Iterator[int]:
    """Delete old failed reports and rejected documents with their files."""
    yield from _remove(tenant, _ended(tenant, before, ParsingJobStatus.FAILED))
    yield from delete_rows_in_batches(
        _rejected(tenant, before), step=_STEP, remove=partial(_drop_documents, tenant)
    )


def count_old_completed_reports(tenant: Tenant, before: datetime) -> Aged:
    """Count completed reports that ended, and outside ones stored, before a moment."""
    read = count_rows_and_find_oldest(
        _ended(tenant, before, ParsingJobStatus.COMPLETED), "finished_at"
    )
    outside = count_rows_and_find_oldest(_outside(tenant, before), "created_at")
    return Aged(
        min(read.number + outside.number, COUNTED_UP_TO),
        min((each for each in (read.oldest, outside.oldest) if each), default=None),
    )


def delete_old_completed_reports(tenant: Tenant, before: datetime) -> Iterator[int]:
    """Delete old reports with their pages, values, reviews and signatures.

    Also those of other institutions, by when they were stored.
    """
    yield from _remove(tenant, _ended(tenant, before, ParsingJobStatus.COMPLETED))
    yield from delete_rows_in_batches(_outside(tenant, before), step=_STEP)


def _outside(tenant: Tenant, before: datetime) -> OutsideReportQuerySet:
    found: OutsideReportQuerySet = OutsideReport.objects.for_tenant(tenant).filter(
        created_at__lt=before
    )
    return found


def _ended(
    tenant: Tenant, before: datetime, status: ParsingJobStatus
) -> ParsingJobQuerySet:
    """A report whose critical values nobody acknowledged stays."""
    found: ParsingJobQuerySet = (
        ParsingJob.objects.for_tenant(tenant)
        .filter(status=status, finished_at__lt=before)
        .exclude(pk__in=select_reports_with_open_alert(tenant=tenant))
    )
    return found


def _remove(tenant: Tenant, old: ParsingJobQuerySet) -> Iterator[int]:
    return delete_rows_in_batches(old, step=_STEP, remove=partial(_drop, tenant))


def _drop(tenant: Tenant, keys: list[UUID]) -> None:
    delete_parsing_jobs(
        tenant.pk, ParsingJob.objects.for_tenant(tenant).filter(pk__in=keys)
    )


def _rejected(tenant: Tenant, before: datetime) -> QuerySet[UnmatchedDocument]:
    found: QuerySet[UnmatchedDocument] = UnmatchedDocument.objects.for_tenant(
        tenant
    ).filter(status=DocumentStatus.REJECTED, resolved_at__lt=before)
    return found


def _drop_documents(tenant: Tenant, keys: list[UUID]) -> None:
    documents = UnmatchedDocument.objects.for_tenant(tenant).filter(pk__in=keys)
    names = list(documents.values_list("stored_as", flat=True))
    documents.delete()
    transaction.on_commit(partial(delete_stored_report_files, names))
