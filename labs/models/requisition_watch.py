"""RequisitionWatch: members to notify when a requisition is created."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from labs.models.order import Order
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class RequisitionWatch(TenantOwned):
    """A member's subscription to a requisition; deleted once mailed."""

    rules = TableRules(
        without_fence="which member waits for which requisition",
        data_classes=("orders",),
    )

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="watches")
    member = models.ForeignKey(
        "accounts.Member", on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("requisition watch")
        verbose_name_plural = gettext_lazy("requisition watches")
        constraints = [
            models.UniqueConstraint(
                fields=["order", "member"], name="requisition_watch_once_per_member"
            )
        ]

    def __str__(self) -> str:
        return f"requisition watch {self.pk}"
