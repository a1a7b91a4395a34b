"""SourceDay: what a source had of one resource and day when it was last read."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.sources.source import Connection


class SourceDay(TenantOwned):
    """The elements of a resource that a source gave for a day, by the day they name.

    `keys` identify them, so that what the source later leaves out is known to be
    removed: IDs of summaries, or source type, type and time of samples. They are empty
    where a read does not prove what is missing; `number` counts in any case. A day
    without any has no row. `read_at` is when a read last changed the row.
    """

    rules = TableRules(without_fence="times and counts", retention="with its user")

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    connection = models.ForeignKey(
        Connection, on_delete=models.CASCADE, related_name="days", db_index=False
    )
    resource = models.CharField(max_length=50)
    day = models.DateField()
    keys = ArrayField(models.TextField(), default=list)
    number = models.PositiveIntegerField()
    read_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "resource", "day"], name="source_day_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.resource} of {self.day}"
