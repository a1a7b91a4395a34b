"""Critical alerts of uploaded reports: open, move to another user, close, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from accounts.operations.audit.entries import record_change
from labs.models import CriticalAlert
from labs.operations.results.critical import (
    move_critical_alert_to_order,
    start_critical_clock,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order
    from portal.lib.actor import Actor


def open_critical_alert_of_parsed_report(
    *,
    tenant: Tenant,
    user_id: int,
    report_id: UUID,
    results: list[dict[str, str | bool | None]],
) -> CriticalAlert:
    """Open an alert of critical values in an uploaded report, or return its own.

    In the caller's transaction. `results` have the shape of
    InboundReport.critical_results and `is_reviewed`, and replace those of an open
    alert. An acknowledged one is returned if it had them all. No event is sent: the
    report's says the values. Source: Ours: a value is critical whoever read it.
    """
    rows = _lock_alerts_of_parsed_report(tenant, report_id)
    for alert in rows:
        if alert.acknowledged_at is None:
            if alert.parsed_results != results:
                alert.parsed_results = results
                alert.save(update_fields=["parsed_results"])
            return alert
    values = [(one["name"], one["result"], one["unit"]) for one in results]
    for alert in rows:
        known = [
            (one["name"], one["result"], one["unit"]) for one in alert.parsed_results
        ]
        if alert.user_id == user_id and all(value in known for value in values):
            return alert
    return start_critical_clock(
        tenant, user_id=user_id, parsed_report_id=report_id, parsed_results=results
    )


def move_critical_alert_to_user(
    *, tenant: Tenant, report_id: UUID, user_id: int | None
) -> None:
    """Move the alerts of an uploaded report to another user; None if it is not known.

    In the caller's transaction. The clock of an open one goes on. What was acknowledged
    was about another person, so a new clock starts for the values. Source: Ours: no
    value of one person is listed with another.
    """
    alerts = _lock_alerts_of_parsed_report(tenant, report_id)
    for alert in alerts:
        alert.user_id = user_id
        alert.save(update_fields=["user"])
    if alerts and all(alert.acknowledged_at is not None for alert in alerts):
        start_critical_clock(
            tenant,
            user_id=user_id,
            parsed_report_id=report_id,
            parsed_results=alerts[-1].parsed_results,
        )


def move_critical_alerts_of_parsed_report_to_order(
    *, tenant: Tenant, report_id: UUID, order: Order
) -> None:
    """Make the alerts of a report those of the order whose results it became.

    In the caller's transaction, with the order locked, before the results are stored.
    The clock goes on, and what was acknowledged stays so. Source: Ours: nobody is
    called twice about one result.
    """
    for alert in _lock_alerts_of_parsed_report(tenant, report_id):
        alert.user_id, alert.parsed_report_id, alert.parsed_results = None, None, []
        alert.save(update_fields=["user", "parsed_report_id", "parsed_results"])
        move_critical_alert_to_order(alert_id=alert.pk, order=order)


def close_critical_alert_of_parsed_report(
    *, tenant: Tenant, actor: Actor, report_id: UUID, why: str
) -> None:
    """Close an open alert of an uploaded report that has no critical value after all.

    In the caller's transaction. `why` is kept as the action. Nothing where none is
    open. Source: Ours.
    """
    for alert in _lock_alerts_of_parsed_report(tenant, report_id):
        if alert.acknowledged_at is not None:
            continue
        alert.acknowledged_at = timezone.now()
        alert.member_name, alert.action = actor.label, why
        alert.save(update_fields=["acknowledged_at", "member_name", "action"])
        record_change(
            tenant=tenant,
            actor=actor,
            verb="close_critical",
            subject="critical_alert",
            subject_id=alert.pk,
            user_uuid=alert.person.uuid if alert.person else None,
        )


def delete_critical_alerts_of_parsed_reports(
    *, tenant_pk: int, report_ids: Iterable[UUID]
) -> None:
    """Delete the alerts of uploaded reports, in the transaction that deletes these.

    Retention keeps a report whose alert is open (list_reports_with_open_alert); erasure
    does not. Source: Ours: an alert holds values of its report.
    """
    CriticalAlert.unscoped.filter(
        tenant_id=tenant_pk, parsed_report_id__in=report_ids
    ).delete()


def _lock_alerts_of_parsed_report(
    tenant: Tenant, report_id: UUID
) -> list[CriticalAlert]:
    """Lock the alerts of an uploaded report, first opened first."""
    alerts = CriticalAlert.objects.for_tenant(tenant).filter(parsed_report_id=report_id)
    return list(alerts.select_for_update().order_by("pk"))
