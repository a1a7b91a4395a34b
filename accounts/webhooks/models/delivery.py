"""Delivery: an event on its way to one endpoint; Attempt: one POST of it."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from accounts.webhooks.models.endpoint import URL_MAX_LENGTH, Endpoint
from accounts.webhooks.models.event import Event
from accounts.webhooks.states import DeliveryFault, DeliveryLane, DeliveryStatus
from portal.lib.table_rules import ErasureRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class Delivery(TenantOwned):
    """One event for one endpoint, made in the transaction that made the event.

    `event_type` and `user_uuid` are those of the event, for the log's filters.
    `attempts` counts all POSTs; `step` those of the present round of contract 8.5,
    which a replay begins anew. `due_at` is when the next POST is due; the worker that
    holds `lease` may send until `leased_until`. Both by the database's clock.
    """

    rules = TableRules(
        erasure=ErasureRule(("user_uuid",)),
        data_classes=("events",),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    endpoint = models.ForeignKey(
        Endpoint,
        on_delete=models.CASCADE,
        related_name="deliveries",
        db_constraint=False,
        db_index=False,
    )
    event = models.ForeignKey(
        Event,
        on_delete=models.CASCADE,
        related_name="deliveries",
        db_constraint=False,
        db_index=False,
    )
    event_type = models.CharField(max_length=100)
    user_uuid = models.UUIDField()
    status = models.CharField(
        max_length=20, choices=DeliveryStatus.offered, default=DeliveryStatus.PENDING
    )
    lane = models.PositiveSmallIntegerField(
        choices=DeliveryLane.choices, default=DeliveryLane.LIVE
    )
    attempts = models.PositiveIntegerField(default=0)
    step = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    lease = models.BigIntegerField(null=True)
    leased_until = models.DateTimeField(null=True)
    last_code = models.PositiveSmallIntegerField(null=True)
    last_fault = models.CharField(max_length=20, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("delivery")
        verbose_name_plural = gettext_lazy("deliveries")
        constraints = [
            models.UniqueConstraint(
                fields=["event", "endpoint"], name="delivery_once_per_endpoint"
            )
        ]
        indexes = [
            # The log: newest first, by outcome, by type, or what was tried again. They
            # have what is counted of them, the tenant too, which the fence compares.
            models.Index(
                fields=["endpoint", "-created_at", "-id"],
                include=("tenant", "status", "attempts"),
                name="delivery_logged",
            ),
            models.Index(
                fields=["endpoint", "status", "-created_at", "-id"],
                include=("tenant",),
                name="delivery_with_status",
            ),
            models.Index(
                fields=["endpoint", "event_type", "-created_at", "-id"],
                include=("tenant",),
                name="delivery_with_type",
            ),
            models.Index(
                fields=["endpoint", "-created_at", "-id"],
                include=("tenant", "attempts"),
                condition=models.Q(attempts__gt=1),
                name="delivery_tried_again",
            ),
            models.Index(
                fields=["endpoint", "lane", "due_at"],
                condition=models.Q(status=DeliveryStatus.PENDING),
                name="delivery_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} {self.status}"


class Attempt(TenantOwned):
    """One POST: what was signed, what came back, and how long each step took.

    `number` counts from 1 within its delivery. `url` is where it went, as the endpoint
    may have moved since. `sent_timestamp` and `signature` are the
    headers of contract 8.6. Times are milliseconds. `body` holds the first 16 KB of the
    answer, as bytes: it may be any receiver's garbage.
    """

    rules = TableRules(
        erasure=ErasureRule(("delivery__user_uuid",)),
        data_classes=("events",),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    delivery = models.ForeignKey(
        Delivery,
        on_delete=models.CASCADE,
        related_name="tries",
        db_constraint=False,
        db_index=False,
    )
    endpoint = models.ForeignKey(
        Endpoint,
        on_delete=models.CASCADE,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    number = models.PositiveIntegerField()
    is_manual = models.BooleanField(default=False)
    succeeded = models.BooleanField()
    started_at = models.DateTimeField()
    url = models.CharField(max_length=URL_MAX_LENGTH, db_default="")
    sent_timestamp = models.BigIntegerField()
    signature = models.CharField(max_length=200)
    code = models.PositiveSmallIntegerField(null=True)
    fault = models.CharField(max_length=20, choices=DeliveryFault.offered, blank=True)
    address = models.CharField(max_length=45, blank=True)
    headers = models.JSONField(default=list)
    body = models.BinaryField(default=bytes)
    body_is_cut = models.BooleanField(default=False)
    dns_ms = models.FloatField(null=True)
    connect_ms = models.FloatField(null=True)
    first_byte_ms = models.FloatField(null=True)
    total_ms = models.FloatField()

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["delivery", "number"], name="attempt_by_delivery"),
            models.Index(
                fields=["endpoint", "started_at"],
                include=("tenant", "succeeded", "total_ms"),
                name="attempt_timed",
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number}"
