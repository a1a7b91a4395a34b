"""Arrival: a batch of a user's data that was received, stored for a while."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User

# Ours: what the overview and freshness look back over, with room to compare months.
ARRIVAL_RETENTION = timedelta(days=62)


class Arrival(TenantOwned):
    """One accepted batch; the rest of the `received` elements were unchanged.

    `resource` is a name of contract 3.4. A batch that changed nothing is one too: its
    source was heard of.
    """

    rules = TableRules(
        without_fence="counts of rows",
        retention=RetentionRule("62 days", "users.remove_old_arrivals"),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    user = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        related_name="arrivals",
        db_constraint=False,
        db_index=False,
    )
    provider = models.CharField(max_length=50)
    resource = models.CharField(max_length=50)
    at = models.DateTimeField(default=timezone.now, editable=False)
    received = models.PositiveIntegerField()
    created = models.PositiveIntegerField()
    updated = models.PositiveIntegerField()
    dropped = models.PositiveIntegerField()

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["tenant", "at"], name="arrival_by_tenant"),
            models.Index(fields=["user", "at"], name="arrival_by_user"),
        ]

    def __str__(self) -> str:
        return f"{self.resource} of {self.provider}"
