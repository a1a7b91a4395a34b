"""Reads of bulk operations on connections."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from users.models import BulkOperation
from users.states.bulk import BulkOperationStatus

if TYPE_CHECKING:
    from accounts.models import Tenant

# After this an operation without an end was cut off: no call lasts as long.
CUT_OFF_AFTER = timedelta(minutes=15)


def find_bulk_operation_status(operation: BulkOperation) -> BulkOperationStatus:
    """Return the status of a bulk operation; a failure is one that did nothing."""
    if operation.ended_at is None:
        is_cut_off = operation.started_at < timezone.now() - CUT_OFF_AFTER
        if is_cut_off:
            return BulkOperationStatus.ABORTED
        return BulkOperationStatus.IN_PROGRESS
    if operation.total and operation.failed == operation.total:
        return BulkOperationStatus.FAILURE
    return BulkOperationStatus.SUCCESS


def list_bulk_operations(
    *, tenant: Tenant, before: int, limit: int
) -> tuple[list[BulkOperation], int | None]:
    """Return bulk operations, the latest first, and where the next page begins.

    `before` is 0 at first.
    """
    mine = BulkOperation.objects.for_tenant(tenant).order_by("-id")
    if before:
        mine = mine.filter(pk__lt=before)
    page = list(mine[: limit + 1])
    return page[:limit], page[limit - 1].pk if len(page) > limit else None
