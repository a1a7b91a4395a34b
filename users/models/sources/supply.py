"""Supply: data received of one resource, and the last attempt to pull it."""

from __future__ import annotations

from django.db import models

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User


class Supply(TenantOwned):
    """One row per user, source and resource, updated by every batch (contract 5.5).

    So that no page has to look through samples. `resource` is a name of contract 3.4.
    `oldest_data` and `newest_data` are the earliest and latest start of what was
    stored, null while nothing was; `sent_count` counts samples or summaries that were
    new or changed. `received_at` is when a batch last came, also one
    that changed nothing. `attempted_at` is when the source was last heard of or asked,
    `attempt_failed` whether that failed.
    """

    rules = TableRules(without_fence="times", retention="with its user")

    pk = models.CompositePrimaryKey("user_id", "provider", "resource")
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
        related_name="supplies",
        db_constraint=False,
        db_index=False,
    )
    provider = models.CharField(max_length=50)
    resource = models.CharField(max_length=50)
    oldest_data = models.DateTimeField(null=True)
    newest_data = models.DateTimeField(null=True)
    sent_count = models.BigIntegerField(default=0)
    received_at = models.DateTimeField(null=True)
    attempted_at = models.DateTimeField()
    attempt_failed = models.BooleanField(default=False)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return f"{self.resource} of {self.provider}"
