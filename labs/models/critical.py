"""Alerts of critical results and their acknowledgements. All health data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils import timezone

from labs.models.order import Order
from labs.models.result import ResultVersion
from labs.states.critical import NotificationMethod
from portal.lib.table_rules import ErasureRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from users.models import User

ACTION_MAX_LENGTH = 1000
NOTIFIED_PERSON_MAX_LENGTH = 150


class CriticalAlert(TenantOwned):
    """An alert of critical results, until a member acknowledges it.

    Those of an order, whose `version` is the first that had them, or of a lab's reports
    that no order was found for (`reports`), until one of them is matched, or of an
    uploaded report of a `user`: `parsed_report_id` is its parsing job,
    `parsed_results` have the shape of InboundReport.critical_results, and is_reviewed,
    whether a person signed the value. `due_at` is when the team's limit passes,
    `escalate_at` when the next mail goes out while nobody has acted, `escalations` how
    many did. Of the acknowledgement: who gave it, what was
    done (`action`), who was notified of the result, how and when, and that they
    repeated it.
    """

    rules = TableRules(
        erasure=ErasureRule(("order__user__uuid", "user__uuid")),
        data_classes=("lab_messages", "orders", "reports", "unread_reports"),
        route_parameters={"alert_id": "pk"},
    )

    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, null=True, related_name="critical_alerts"
    )
    version = models.ForeignKey(
        ResultVersion, on_delete=models.CASCADE, null=True, related_name="+"
    )
    user = models.ForeignKey(
        "users.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    parsed_report_id = models.UUIDField(null=True)
    parsed_results = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField())
    )
    opened_at = models.DateTimeField(default=timezone.now, editable=False)
    due_at = models.DateTimeField()
    escalate_at = models.DateTimeField()
    escalations = models.PositiveSmallIntegerField(default=0)

    acknowledged_at = models.DateTimeField(null=True)
    member_id = models.UUIDField(null=True)
    member_name = models.CharField(max_length=254, blank=True)
    action = models.TextField(max_length=ACTION_MAX_LENGTH, blank=True)
    notified_person = models.CharField(
        max_length=NOTIFIED_PERSON_MAX_LENGTH, blank=True
    )
    notification_method = models.CharField(
        max_length=100, choices=NotificationMethod.offered, blank=True
    )
    notified_at = models.DateTimeField(null=True)
    was_read_back = models.BooleanField(default=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("critical alert")
        verbose_name_plural = gettext_lazy("critical alerts")
        constraints = [
            models.UniqueConstraint(
                fields=["order"],
                condition=models.Q(acknowledged_at=None),
                name="critical_alert_one_open",
            ),
            models.UniqueConstraint(
                fields=["tenant", "parsed_report_id"],
                condition=models.Q(acknowledged_at=None),
                name="critical_alert_one_open_per_report",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "due_at"],
                condition=models.Q(acknowledged_at=None),
                name="critical_alert_open",
            ),
            models.Index(
                fields=["escalate_at"],
                condition=models.Q(acknowledged_at=None),
                name="critical_alert_escalates",
            ),
            models.Index(
                fields=["tenant", "-acknowledged_at"],
                condition=models.Q(acknowledged_at__isnull=False),
                name="critical_alert_done",
            ),
        ]

    def __str__(self) -> str:
        return f"critical alert {self.pk}"

    @property
    def person(self) -> User | None:
        """Return the user whose results they are; None while no order is found."""
        return self.order.user if self.order else self.user
