"""SourceGap: a day of a resource that a source should have been read for by now."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.sources.source import Connection


class SourceGap(TenantOwned):
    """An open gap: its row is stored with the event of its opening.

    `day` is a day of the user's fallback time zone. The row goes with the event of its
    closing, so that each is sent once.
    """

    rules = TableRules(
        without_fence="days and names of resources",
        retention="until its day is read, or with its user",
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    connection = models.ForeignKey(
        Connection, on_delete=models.CASCADE, related_name="gaps", db_index=False
    )
    resource = models.CharField(max_length=50)
    day = models.DateField()
    opened_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "resource", "day"], name="source_gap_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.resource} of {self.day}"
