"""Couriers that report shipments by signed messages."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class CourierConnection(TenantOwned):
    """A tenant's courier: the secret it signs with; `id` is in its URL.

    `secret` and `previous_secret` are encrypted; the previous one is accepted until
    `previous_secret_ends_at`.
    """

    rules = TableRules(
        without_fence="read before the tenant is known; its secrets are encrypted",
        without_user="a secret of a team",
        retention="kept until the team removes it",
        encrypted=("secret", "previous_secret"),
        route_parameters={"courier_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    secret = models.TextField()
    previous_secret = models.TextField(blank=True)
    previous_secret_ends_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    secret_made_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("courier connection")
        verbose_name_plural = gettext_lazy("courier connections")
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="courier_once_per_tenant")
        ]

    def __str__(self) -> str:
        return str(self.id)


class CourierMessage(TenantOwned):
    """A signed message of a courier that was taken; `digest` is of what was signed."""

    rules = TableRules(
        without_fence="digests of messages, while one could be repeated",
        without_user="digests of messages; nobody can be found by one",
        retention=RetentionRule("one hour after it was taken", "labs.couriers"),
    )

    courier = models.ForeignKey(
        CourierConnection, on_delete=models.CASCADE, related_name="+"
    )
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("courier message")
        verbose_name_plural = gettext_lazy("courier messages")
        constraints = [
            models.UniqueConstraint(
                fields=["courier", "digest"], name="courier_message_once"
            )
        ]
        indexes = [models.Index(fields=["created_at"], name="courier_message_by_time")]

    def __str__(self) -> str:
        return f"courier message {self.pk}"
