"""PatientNotice: a message to a patient about an order.

The address, number and text are not stored here: they are read from the order. What is
stored of the recipient is masked.
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from labs.models.order import Order, OrderEvent
from labs.states.patient_notices import NoticeChannel, NoticeKind, NoticeStatus
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class PatientNotice(TenantOwned):
    """One message about one order event by one channel; deleted with the order.

    `closed_at` is when it was sent, noted or given up. Of a text: `recipient` is the
    number but for its last digits, `provider_id` the provider's id of the message,
    `error_code` the provider's reason, `reported_at` when it last said what became of
    the text.
    """

    rules = TableRules(data_classes=("orders",))

    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, related_name="notices", db_index=False
    )
    event = models.ForeignKey(
        OrderEvent, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=100, choices=NoticeKind.offered)
    channel = models.CharField(max_length=100, choices=NoticeChannel.offered)
    status = models.CharField(max_length=100, choices=NoticeStatus.offered)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    closed_at = models.DateTimeField(null=True)
    recipient = models.CharField(max_length=20, blank=True, db_default="")
    provider_id = models.CharField(max_length=64, blank=True, db_default="")
    error_code = models.CharField(max_length=10, blank=True, db_default="")
    reported_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("patient notice")
        verbose_name_plural = gettext_lazy("patient notices")
        constraints = [
            models.UniqueConstraint(
                fields=["event", "channel"], name="notice_once_per_step_and_channel"
            )
        ]
        indexes = [models.Index(fields=["order", "id"], name="notice_of_order")]

    def __str__(self) -> str:
        return f"{self.kind} by {self.channel}"
