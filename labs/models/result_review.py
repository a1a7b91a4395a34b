"""ResultReview: a clinician's word that they have seen an order's results."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from labs.models.result import ResultVersion
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned


class ResultReview(TenantOwned):
    """A member marked a version of results as reviewed.

    A later version is unreviewed until a member marks that too. `member_name` is the
    member's as people knew it then.
    """

    rules = TableRules(data_classes=("orders",))

    version = models.OneToOneField(
        ResultVersion, on_delete=models.CASCADE, related_name="review"
    )
    member = models.ForeignKey(
        "accounts.Member", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    member_name = models.CharField(max_length=254)
    reviewed_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return f"review of results {self.version_id}"
