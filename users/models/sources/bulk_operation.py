"""BulkOperation: an operation on the connections of many users."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.sources.link_session import PROVIDER_MAX_LENGTH
from users.states.bulk import BulkOperationKind


class BulkOperation(TenantOwned):
    """A bulk import of connections, or a bulk request for past data.

    `total` counts the users that were sent, `processed` those that are done, `failed`
    those of them that were refused. Without `ended_at` it is running, or was cut off:
    its process ended. It names no user: each of them has an audit entry.
    """

    rules = TableRules(
        without_fence="times and counts",
        without_user="counts of users only",
        retention=RetentionRule(
            "62 days after it started", "users.remove_old_arrivals"
        ),
    )

    kind = models.CharField(max_length=100, choices=BulkOperationKind.offered)
    provider = models.CharField(max_length=PROVIDER_MAX_LENGTH)
    total = models.PositiveIntegerField()
    processed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["tenant", "-id"], name="bulk_operation_latest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.provider}: {self.processed} of {self.total}"
