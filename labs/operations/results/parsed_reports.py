"""Results that were read from reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.models import Result

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID


def forget_reports_of_results(
    *, tenant_pk: int, reports: Iterable[tuple[UUID, UUID]]
) -> None:
    """Take from results the reports they were read from, as these are deleted.

    reports: each with its order. In the caller's transaction. The results stay: they
    are the order's.
    """
    orders = dict(reports)
    if not orders:
        return
    Result.unscoped.filter(
        tenant_id=tenant_pk,
        version__order__in=orders.values(),
        parsed_report_id__in=orders,
    ).update(parsed_report_id=None, parsed_position=None)
