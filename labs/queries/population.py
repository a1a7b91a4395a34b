"""Clinical rows of a whole tenant, for readers that narrow and page them themselves.

Those of deleted users are left out. Every reader of these audits the read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from labs.models import (
    Appointment,
    Lab,
    LabDocument,
    MissingResult,
    Order,
    Result,
    ResultVersion,
    SampleData,
)
from labs.states.lab_documents import LabDocumentStatus

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant


def current_results(tenant: Tenant) -> QuerySet[Result]:
    """Return the results of current versions, with version, order, lab and user."""
    rows: QuerySet[Result] = Result.objects.for_tenant(tenant).filter(
        version__is_current=True, version__order__user__deleted_at=None
    )
    return rows.select_related("version__order__user", "version__order__lab")


def current_missing_results(tenant: Tenant) -> QuerySet[MissingResult]:
    """Return what the labs of current versions could not report."""
    rows: QuerySet[MissingResult] = MissingResult.objects.for_tenant(tenant).filter(
        version__is_current=True, version__order__user__deleted_at=None
    )
    return rows.select_related("version__order__user", "version__order__lab")


def current_samples(tenant: Tenant) -> QuerySet[SampleData]:
    """Return the samples of current versions, with order, panel and user."""
    rows: QuerySet[SampleData] = SampleData.objects.for_tenant(tenant).filter(
        version__is_current=True, version__order__user__deleted_at=None
    )
    return rows.select_related("version__order__user", "version__order__lab_test")


def current_result_versions(tenant: Tenant) -> QuerySet[ResultVersion]:
    """Return the current version of each order's results, with all that is in it."""
    rows: QuerySet[ResultVersion] = ResultVersion.objects.for_tenant(tenant).filter(
        is_current=True, order__user__deleted_at=None
    )
    return rows.select_related(
        "order__user", "order__lab", "order__lab_test"
    ).prefetch_related("results", "missing_results", "samples")


def orders_of_user(tenant: Tenant, user_key: int) -> QuerySet[Order]:
    """Return a user's orders."""
    rows: QuerySet[Order] = Order.objects.for_tenant(tenant).filter(user_id=user_key)
    return rows


def orders(tenant: Tenant) -> QuerySet[Order]:
    """Return orders with their user, lab and ordered test."""
    rows: QuerySet[Order] = Order.objects.for_tenant(tenant).live()
    return rows.select_related("user", "lab", "lab_test__lab").prefetch_related(
        "lab_test__markers__versions", "lab_test__versions__markers__versions"
    )


def appointments(tenant: Tenant) -> QuerySet[Appointment]:
    """Return appointments with their order and user."""
    rows: QuerySet[Appointment] = Appointment.objects.for_tenant(tenant).filter(
        order__user__deleted_at=None
    )
    return rows.select_related("order__user")


def available_documents(tenant: Tenant) -> QuerySet[LabDocument]:
    """Return what labs sent as a file and may be opened, without the files."""
    rows: QuerySet[LabDocument] = LabDocument.objects.for_tenant(tenant).filter(
        status=LabDocumentStatus.AVAILABLE, order__user__deleted_at=None
    )
    return rows.select_related("order__user", "order__lab").defer("content")


def labs_of_orders(tenant: Tenant) -> QuerySet[Lab]:
    """Return the labs at which the tenant ordered anything."""
    ordered = Order.objects.for_tenant(tenant).filter(lab=OuterRef("pk"))
    return Lab.objects.filter(Exists(ordered))


def results_read_from_reports(
    tenant: Tenant, report_ids: Collection[UUID]
) -> QuerySet[Result]:
    """Return the current results whose values were read from these reports."""
    return current_results(tenant).filter(parsed_report_id__in=report_ids)
