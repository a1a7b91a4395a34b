"""The critical limits that a team has changed or added. No health data."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class TeamCriticalLimit(TenantOwned):
    """A limit in place of one that ships, or one of the team's own.

    `key` is that of the limit that ships, whose analyte, unit, age and sex it keeps, or
    a UUID. `low` and `high` are in `unit` (UCUM, "1" for none), both null where the
    team has switched a limit off. Ages are in days and included, null for no bound;
    `sex` is male, female or empty for both.
    """

    rules = TableRules(
        without_fence="limits of values, no health data",
        without_user="limits that hold for all users of a team",
        retention="with its team: how it judges values",
        route_parameters={"limit_id": "key"},
    )

    key = models.CharField(max_length=64)
    analyte = models.CharField(max_length=64)
    unit = models.CharField(max_length=40)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    from_days = models.PositiveIntegerField(null=True)
    to_days = models.PositiveIntegerField(null=True)
    sex = models.CharField(max_length=10, blank=True)
    changed_by_label = models.CharField(max_length=254)
    changed_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("critical limit")
        verbose_name_plural = gettext_lazy("critical limits")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "key"], name="critical_limit_once_per_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.analyte}"
