"""KitStock: how many kits of a panel a team has to send."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from labs.models.catalogue import LabTest
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class KitStock(TenantOwned):
    """The kits of a panel that are left, and below how many the team is warned.

    A kit that is sent lowers `count` by one; at 0 it stays there.
    """

    rules = TableRules(
        without_fence="numbers of kits, of the catalogue",
        without_user="belongs to a team's catalog",
        retention="with the panel",
    )

    lab_test = models.OneToOneField(
        LabTest, on_delete=models.CASCADE, related_name="kit_stock"
    )
    count = models.PositiveIntegerField()
    warn_below = models.PositiveIntegerField()
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("kit stock")
        verbose_name_plural = gettext_lazy("kit stocks")

    def __str__(self) -> str:
        return f"kits of {self.lab_test_id}"
