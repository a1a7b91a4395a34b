"""ParityReport: what a comparison with another platform found, in numbers."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned


class ParityReport(TenantOwned):
    """The latest comparison of a platform: counts, rules and fields, and no user.

    `counts` is the report without the list of differences, which has values of users.
    """

    rules = TableRules(
        without_fence="numbers",
        without_user="counts over all users; values are in the operator's file",
        retention="until the next comparison of its platform",
    )

    platform = models.CharField(max_length=50)
    made_at = models.DateTimeField(default=timezone.now)
    counts = models.JSONField()

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "platform"], name="parity_report_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.platform} at {self.made_at}"
