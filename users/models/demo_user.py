"""DemoUser: a user with demo sources, deleted after a while."""

from __future__ import annotations

from django.db import models

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User


class DemoUser(TenantOwned):
    """The expiry of a user with demo sources (contract 3.5)."""

    rules = TableRules(
        without_fence="which users are made up",
        retention=RetentionRule("7 days after it was created", "users.sweep"),
    )

    user = models.OneToOneField(
        User, on_delete=models.CASCADE, related_name="+", primary_key=True
    )
    expires_at = models.DateTimeField(db_index=True)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return f"until {self.expires_at}"
