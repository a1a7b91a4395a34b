"""SourcePriority: which sources count first where several measured the same."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User


class SourcePriority(TenantOwned):
    """The ranking of a team in an environment, or of one of its users in its place.

    `sources` are slugs, those that count first first. What it does not name comes
    after, as users.analysis.aggregates ranks it.
    """

    rules = TableRules(
        without_fence="names of sources",
        retention="with its user, or until the team changes it",
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
        null=True,
        related_name="source_priorities",
        db_index=False,
    )
    sources = ArrayField(models.CharField(max_length=50))
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        verbose_name_plural = "source priorities"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "user"],
                nulls_distinct=False,
                name="source_priority_once",
            )
        ]

    def __str__(self) -> str:
        return ", ".join(self.sources)
