"""Events of a kit's way as they were reported. Health data."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from labs.models.order import Order, OrderEvent
from labs.states.shipments import (
    NOTE_MAX_LENGTH,
    TRACKING_NUMBER_MAX_LENGTH,
    ShipmentDirection,
    ShipmentReporter,
    ShipmentStatus,
)
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class ShipmentEvent(TenantOwned):
    """A step on a kit's way as somebody reported it; `event` is the order's for it.

    `occurred_at` is when it happened, `created_at` when it was recorded. A status and
    its time are recorded once for an order.
    """

    rules = TableRules(data_classes=("orders",))

    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, related_name="shipment_events"
    )
    event = models.OneToOneField(
        OrderEvent, on_delete=models.CASCADE, related_name="shipment_event"
    )
    status = models.CharField(max_length=100, choices=ShipmentStatus.offered)
    direction = models.CharField(max_length=100, choices=ShipmentDirection.offered)
    occurred_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    tracking_number = models.CharField(
        max_length=TRACKING_NUMBER_MAX_LENGTH, blank=True
    )
    note = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True)
    reporter = models.CharField(max_length=100, choices=ShipmentReporter.offered)
    actor_kind = models.CharField(max_length=10)
    actor_label = models.CharField(max_length=254)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("shipment event")
        verbose_name_plural = gettext_lazy("shipment events")
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["order", "status", "occurred_at"],
                name="shipment_event_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.order_id} {self.status}"
