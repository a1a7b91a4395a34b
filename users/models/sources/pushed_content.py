"""PushedContent: what a source pushed, until it is stored."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.sources.source import Connection

# As long as a source keeps what it announced (Garmin: seven days), and one more.
PUSHED_CONTENT_RETENTION = timedelta(days=8)


class PushedContent(TenantOwned):
    """A push of a source that can't be asked again.

    `content` is encrypted, in the gateway's own words. `waiting` are the resources that
    are still to be stored of it: with the last one the row goes.
    """

    rules = TableRules(
        without_fence="encrypted, and read by jobs of a connection",
        retention=RetentionRule(
            "once it is stored, 8 days at most; of a paused source once it is resumed",
            "users.remove_old_arrivals",
        ),
        encrypted=("content",),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    connection = models.ForeignKey(
        Connection, on_delete=models.CASCADE, related_name="pushed"
    )
    waiting = ArrayField(models.CharField(max_length=50))
    content = models.TextField()
    at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    class Meta(TenantOwned.Meta):
        verbose_name_plural = "pushed content"

    def __str__(self) -> str:
        return f"pushed content of connection {self.connection_id}"
