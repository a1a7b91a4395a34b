"""PairingCode: a short code that pairs a phone, once."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User

TRIES_MAX = 5


class PairingCode(TenantOwned):
    """A code by which an app is paired with a user.

    `prefix` finds it, `code_hash` proves the rest; `tries` counts wrong rests. It pairs
    once, until `expires_at`, and not after the last try.
    """

    rules = TableRules(
        without_fence="read by its code, before the tenant is known",
        retention=RetentionRule("a day after it ended", "users.remove_phone_rows"),
        route_parameters={"code_id": "uuid"},
        archive_without=("prefix", "code_hash"),
    )

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="pairing_codes"
    )
    prefix = models.CharField(max_length=3, db_index=True)
    code_hash = models.CharField(max_length=64)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True)
    phone_id = models.UUIDField(null=True)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return f"pairing code {self.uuid}"

    def is_open(self) -> bool:
        """Return whether it still pairs a phone."""
        is_left = self.used_at is None and self.tries < TRIES_MAX
        return is_left and timezone.now() < self.expires_at
