"""Cadence: how often new data of a user's source and resource usually comes."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User


class Cadence(TenantOwned):
    """The cadence of one user, source and resource, learned from its arrivals.

    `resource` is a name of contract 3.4. `last_at` is when something new last came,
    `recent_gaps` the latest pauses between hours in which something did, in hours,
    newest last, and `usual_gap` their median, None while too few are known to tell. New
    data is overdue from `due_at` on; None: none is expected.
    """

    rules = TableRules(
        without_fence="how often sources send", retention="with its user"
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
        related_name="cadences",
        db_constraint=False,
        db_index=False,
    )
    provider = models.CharField(max_length=50)
    resource = models.CharField(max_length=50)
    last_at = models.DateTimeField()
    recent_gaps = ArrayField(models.PositiveIntegerField(), default=list)
    usual_gap = models.DurationField(null=True)
    due_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["user", "provider", "resource"], name="cadence_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["tenant", "due_at"],
                condition=models.Q(due_at__isnull=False),
                name="cadence_by_due_at",
            )
        ]

    def __str__(self) -> str:
        return f"{self.resource} of {self.provider}"
