"""Sign-in assertions that were used, so that none is taken twice. No health data."""

from __future__ import annotations

from django.db import models

from accounts.models.api_key import ApiKey
from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned


class UsedAssertion(TenantOwned):
    """One assertion of a key; `digest` is the SHA-256 of its `jti`.

    After `ends_at` the assertion has expired and is refused without this row.
    """

    rules = TableRules(
        without_fence="read before the tenant is known",
        without_user="signs of the systems of a team",
        retention=RetentionRule("when it expires", "accounts.remove_used_assertions"),
    )

    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    digest = models.BinaryField(max_length=32)
    ends_at = models.DateTimeField()

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["api_key", "digest"], name="used_assertion_once"
            )
        ]
        indexes = [models.Index(fields=["ends_at"], name="used_assertion_by_end")]

    def __str__(self) -> str:
        return f"used assertion {self.pk}"
