"""AssistantCall: what an assistant read with a key, in words that name no data."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import ErasureRule, RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned

TOOL_MAX_LENGTH = 40
CLIENT_MAX_LENGTH = 60
DETAIL_MAX_LENGTH = 120
ASSISTANT_CALL_RETENTION_DAYS = 90


class AssistantCall(TenantOwned):
    """One question of an assistant, answered by calls of the API.

    `detail` is what it asked for: a resource and days, never what was found. `client`
    is the name that the assistant gave itself. `calls` are those of the API that the
    answer took, `ms` how long it took in whole milliseconds. `refusal` is the code of
    one that was refused, empty where it was answered. `user_uuid` is the end user named
    in it.
    """

    rules = TableRules(
        without_fence="tools, days and numbers; listed by key",
        erasure=ErasureRule(("user_uuid",)),
        retention=RetentionRule(
            f"{ASSISTANT_CALL_RETENTION_DAYS} days", "accounts.prune_calls"
        ),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    api_key = models.ForeignKey(
        "accounts.ApiKey",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    tool = models.CharField(max_length=TOOL_MAX_LENGTH)
    detail = models.CharField(max_length=DETAIL_MAX_LENGTH)
    client = models.CharField(max_length=CLIENT_MAX_LENGTH)
    user_uuid = models.UUIDField(null=True)
    calls = models.PositiveSmallIntegerField()
    ms = models.PositiveIntegerField()
    refusal = models.CharField(max_length=64, default="", db_default="")

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(
                fields=["tenant", "-at", "-id"], name="assistant_call_by_tenant"
            ),
            models.Index(
                fields=["tenant", "user_uuid"],
                name="assistant_call_by_user",
                condition=models.Q(user_uuid__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} at {self.at}"
