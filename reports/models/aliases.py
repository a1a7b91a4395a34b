"""The names that a team's laboratories print for tests, each with its LOINC code.

No health data: a name of a test and of a laboratory.
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy
from reports.states import AliasStatus


class LoincAlias(TenantOwned):
    """A code that a reviewer proposed for a name as one laboratory prints it.

    `lab_key` and `name_key` are both folded for comparing; `units` is the row's unit in
    UCUM, empty where it had none: another unit is another test. `match` has the shape
    of parser.report.LoincMatch.
    """

    rules = TableRules(
        without_fence="words of labs and their codes",
        without_user="names that a lab gives to its tests",
        retention="with its team: how it reads its labs",
        route_parameters={"alias_id": "pk"},
    )

    lab = models.CharField(max_length=200)
    lab_key = models.CharField(max_length=200)
    name = models.CharField(max_length=200)
    name_key = models.CharField(max_length=200)
    units = models.CharField(max_length=100, blank=True)
    loinc_code = models.CharField(max_length=20)
    match = models.JSONField()
    status = models.CharField(
        max_length=100, choices=AliasStatus.offered, default=AliasStatus.PROPOSED
    )
    proposed_by_key = models.CharField(max_length=80)
    proposed_by_label = models.CharField(max_length=254)
    proposed_at = models.DateTimeField(default=timezone.now, editable=False)
    confirmed_by_label = models.CharField(max_length=254, blank=True)
    confirmed_at = models.DateTimeField(null=True)
    ended_by_label = models.CharField(max_length=254, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("LOINC mapping")
        verbose_name_plural = gettext_lazy("LOINC mappings")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "lab_key", "name_key", "units"],
                condition=~models.Q(status=AliasStatus.ENDED),
                name="loinc_alias_once_per_name",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name_key} {self.loinc_code}"
