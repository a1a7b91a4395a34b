"""RetentionRule: how long a team keeps one class of data."""

from __future__ import annotations

from django.db import models

from accounts.models.team import Team
from portal.lib.table_rules import TableRules
from portal.lib.translation import gettext_lazy

CLASS_MAX_LENGTH = 50


class RetentionRule(models.Model):
    """How many `days` a team keeps a `data_class`, in both environments.

    Names are those of accounts.declarations.data_classes. Without a row it is kept as
    is usual.
    """

    rules = TableRules(
        without_tenant="of a team, in both environments",
        without_user="belongs to teams and members",
    )

    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, related_name="retention_rules"
    )
    data_class = models.CharField(max_length=CLASS_MAX_LENGTH)
    days = models.PositiveIntegerField()

    class Meta:
        verbose_name = gettext_lazy("retention rule")
        verbose_name_plural = gettext_lazy("retention rules")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "data_class"], name="retention_rule_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.data_class} {self.days} days"
