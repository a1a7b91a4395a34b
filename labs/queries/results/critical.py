"""Reads of critical results, unacknowledged and acknowledged."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import CriticalAlert, InboundReport, Result
from labs.states.orders import Interpretation
from portal.lib.database import rows
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant

# The most alerts that the queue shows.
WAITING_AT_MOST = 200
# Deleted users are few: joined with all, each page read through them.
_COUNT = """
SELECT count(*) FROM labs_criticalalert alert
WHERE alert.tenant_id = %s AND alert.acknowledged_at IS NULL AND NOT EXISTS (
    SELECT FROM users_user WHERE deleted_at IS NOT NULL AND users_user.id = COALESCE(
        (SELECT user_id FROM labs_order WHERE labs_order.id = alert.order_id),
        alert.user_id
    )
)
"""
_SHOWN = ("user", "order__user", "order__lab", "order__lab_test")


def list_unacknowledged_critical_alerts(*, tenant: Tenant) -> list[CriticalAlert]:
    """List unacknowledged alerts, earliest due first.

    One query.
    """
    found = _live_alerts(tenant).filter(acknowledged_at=None).order_by("due_at", "pk")
    return list(found.select_related(*_SHOWN)[:WAITING_AT_MOST])


def list_acknowledged_critical_alerts(
    *, tenant: Tenant, limit: int
) -> list[CriticalAlert]:
    """List the latest acknowledged alerts. One query."""
    found = _live_alerts(tenant).filter(acknowledged_at__isnull=False)
    last_first = found.order_by("-acknowledged_at", "-pk")
    return list(last_first.select_related(*_SHOWN)[:limit])


def select_reports_with_open_alert(*, tenant: Tenant) -> QuerySet[CriticalAlert, UUID]:
    """Select the IDs of uploaded reports whose critical values nobody acknowledged.

    A query to filter by, of users that are being deleted as well.
    """
    alerts = CriticalAlert.objects.for_tenant(tenant).filter(
        acknowledged_at=None, parsed_report_id__isnull=False
    )
    found: QuerySet[CriticalAlert, UUID] = alerts.values_list(
        "parsed_report_id", flat=True
    )
    return found


def get_critical_alert(*, tenant: Tenant, alert_id: int) -> CriticalAlert:
    """Return one alert. Raises: critical_alert_not_found (404)."""
    found = _live_alerts(tenant).select_related(*_SHOWN).filter(pk=alert_id)
    alert: CriticalAlert | None = found.first()
    if alert is None:
        raise NotFound("critical_alert_not_found", _("Critical result not found."))
    return alert


def list_critical_results(
    *, tenant: Tenant, order_ids: Sequence[UUID]
) -> dict[UUID, list[Result]]:
    """List the current critical results of these orders, in the lab's order.

    One query, or none. An order whose critical results were corrected away is not in.
    """
    if not order_ids:
        return {}
    found = Result.objects.for_tenant(tenant).filter(
        version__is_current=True,
        version__order__in=order_ids,
        interpretation=Interpretation.CRITICAL,
    )
    by_order: dict[UUID, list[Result]] = defaultdict(list)
    for result in found.select_related("version").order_by("position"):
        by_order[result.version.order_id].append(result)
    return dict(by_order)


def list_reports_of_critical_alerts(
    *, tenant: Tenant, alert_ids: Sequence[int]
) -> dict[int, list[InboundReport]]:
    """List the lab reports of these alerts, first received first, with their labs.

    One query, or none.
    """
    if not alert_ids:
        return {}
    found = InboundReport.objects.for_tenant(tenant).filter(alert__in=alert_ids)
    by_alert: dict[int, list[InboundReport]] = defaultdict(list)
    for report in found.select_related("message__lab").order_by("received_at", "pk"):
        by_alert[report.alert_id].append(report)
    return dict(by_alert)


def list_critical_alerts_of_order(
    *, tenant: Tenant, order_id: UUID
) -> list[CriticalAlert]:
    """List an order's alerts: unacknowledged first, then newest. One query."""
    found = list(
        _live_alerts(tenant).filter(order_id=order_id).order_by("-opened_at", "-pk")
    )
    return sorted(found, key=lambda alert: alert.acknowledged_at is not None)


def count_unacknowledged_critical_alerts(*, tenant: Tenant) -> int:
    """Count unacknowledged alerts.

    By hand: every page asks.
    """
    [(number,)] = rows.fetch_rows(_COUNT, [tenant.pk])
    return int(number)


def _live_alerts(tenant: Tenant) -> QuerySet[CriticalAlert]:
    found: QuerySet[CriticalAlert] = CriticalAlert.objects.for_tenant(tenant).filter(
        order__user__deleted_at=None, user__deleted_at=None
    )
    return found
