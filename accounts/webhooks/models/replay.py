"""Replay: deliveries that a member sends again; ReplayItem: one of them."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from accounts.webhooks.models.delivery import Delivery
from accounts.webhooks.models.endpoint import Endpoint
from accounts.webhooks.states import DeliveryStatus, ReplayStatus
from portal.lib.table_rules import ErasureRule, RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned

LABEL_MAX_LENGTH = 255


class Replay(TenantOwned):
    """What a member sends again to one endpoint, oldest first.

    `scope` is the filter of the log as JSON; of what it matches, `until` leaves out
    what came later. `last_at` and `last_pk` say up to which delivery it was queued,
    `queued_until` up to when the `rate`, in messages a second, is used up. It stops by
    itself after `stop_after` failures in a row, 0 for never.
    """

    rules = TableRules(
        without_fence="filters and numbers",
        without_user="a filter by client user ID is rewritten to the UUID",
        retention=RetentionRule("after it ended, with its events", "webhooks.prune"),
        route_parameters={"replay_id": "uuid"},
    )

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.CASCADE, related_name="replays"
    )
    started_by = models.CharField(max_length=LABEL_MAX_LENGTH)
    scope = models.JSONField()
    until = models.DateTimeField()
    status = models.CharField(max_length=20, choices=ReplayStatus.offered)
    total = models.PositiveIntegerField()
    rate = models.PositiveIntegerField()
    stop_after = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True)
    last_pk = models.BigIntegerField(default=0)
    queued_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["endpoint", "-created_at"], name="replay_by_endpoint")
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.uuid}"


class ReplayItem(TenantOwned):
    """A delivery that was queued by a replay, and what it was before."""

    rules = TableRules(
        without_fence="which deliveries",
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
    replay = models.ForeignKey(
        Replay, on_delete=models.CASCADE, related_name="items", db_index=False
    )
    delivery = models.ForeignKey(
        Delivery, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    former_status = models.CharField(max_length=20, choices=DeliveryStatus.offered)
    former_step = models.PositiveSmallIntegerField()
    former_due_at = models.DateTimeField()
    former_finished_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["replay", "delivery"], name="replay_item_once"
            )
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"
