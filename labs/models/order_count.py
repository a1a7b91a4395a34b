"""OrderCount: how many orders a tenant has, as changes that are added up."""

from __future__ import annotations

from django.db import models

from labs.models.order import STATUS_MAX_LENGTH
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class OrderCount(TenantOwned):
    """A change of the number of orders in a status and method; the sum is the number.

    Written by triggers of the table of orders, in the transaction that changes them:
    counting two hundred thousand orders takes ten times as long as the page that shows
    them. Changes are rows of their own and are folded later: one row to be updated
    would make each order of a tenant wait for the last. Orders of deleted users count.
    """

    rules = TableRules(
        without_fence="numbers of rows", without_user="a counter per tenant"
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    status = models.CharField(max_length=STATUS_MAX_LENGTH)
    method = models.CharField(max_length=100)
    number = models.BigIntegerField()

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("order count")
        verbose_name_plural = gettext_lazy("order counts")
        indexes = [models.Index(fields=["tenant"], name="order_count_of_tenant")]

    def __str__(self) -> str:
        return f"{self.status} {self.number:+}"
