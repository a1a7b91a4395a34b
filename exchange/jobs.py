"""Background jobs of exchange; each calls one operation."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from accounts.models import Tenant
from exchange.operations.bulk_exports import (
    EXPORT_JOB,
    delete_old_bulk_exports,
    mark_bulk_export_failed,
    run_bulk_export,
)
from exchange.operations.lake.exporting import export_lake_if_due
from exchange.operations.sharing.links import delete_ended_shared_links
from portal.lib.jobs.jobs import periodic_job, tenant_job


def fail_abandoned_bulk_export(*, tenant_pk: int, export_id: str) -> None:
    """Mark an export as failed after all its runs failed."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    mark_bulk_export_failed(tenant=tenant, export_id=UUID(export_id))


@tenant_job(EXPORT_JOB, queue="imports", on_give_up=fail_abandoned_bulk_export)
def write_bulk_export(*, tenant_pk: int, export_id: str) -> None:
    """Write the files of a bulk export."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    run_bulk_export(tenant=tenant, export_id=UUID(export_id))


@periodic_job("27 * * * *", "exchange.remove_old_exports")
def delete_expired_bulk_exports() -> None:
    """Delete bulk exports that have expired."""
    delete_old_bulk_exports()


@periodic_job("37 * * * *", "exchange.remove_old_links")
def delete_old_shared_links() -> None:
    """Delete files of shared links that ended, and links that ended long ago."""
    delete_ended_shared_links()


# With the exports: the first run copies all there is.
@periodic_job("52 * * * *", "exchange.export_lake", queue="imports")
def export_closed_months_to_lake() -> None:
    """Export closed months to the lake, if it is on; hourly, all of them daily."""
    export_lake_if_due(at=timezone.now())
