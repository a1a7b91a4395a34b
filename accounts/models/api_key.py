"""ApiKey: how a customer's server authenticates. Only a hash of the key is stored."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from datetime import datetime

LABEL_MAX_LENGTH = 80
# An IPv6 network at its longest, as text.
NETWORK_MAX_LENGTH = 43
SCOPE_MAX_LENGTH = 40


class ApiKey(TenantOwned):
    """A key of one tenant; `digest` is the SHA-256 of the whole key text.

    `prefix` and `last_four` are what people see of it later. It ends at `expires_at`,
    at the latest; the key that took a rotated one's place names it in `replaces`.
    `scopes` are of accounts.states.SCOPES, null: all. `networks` are the addresses it
    may be used from, in CIDR form, empty: any. `calls_per_minute` null: as the
    installation says. `public_keys` are JSON Web Keys by which a backend service signs
    in with this key's id.
    """

    rules = TableRules(
        without_fence="read before the tenant is known",
        without_user="belongs to teams and members",
        retention="permanent: the audit names keys",
        route_parameters={"api_key_id": "id"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    label = models.CharField(max_length=LABEL_MAX_LENGTH)
    prefix = models.CharField(max_length=20)
    last_four = models.CharField(max_length=4)
    digest = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    scopes = ArrayField(
        models.CharField(max_length=SCOPE_MAX_LENGTH), null=True, blank=True
    )
    public_keys = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField())
    )
    networks = ArrayField(
        models.CharField(max_length=NETWORK_MAX_LENGTH), default=list, blank=True
    )
    calls_per_minute = models.PositiveIntegerField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_address = models.GenericIPAddressField(null=True, blank=True)
    created_by = models.ForeignKey(
        "accounts.Member", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    replaces = models.OneToOneField(
        "self", null=True, on_delete=models.SET_NULL, related_name="replaced_by"
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("API key")
        verbose_name_plural = gettext_lazy("API keys")
        indexes = [models.Index(fields=["tenant", "created_at"])]

    def __str__(self) -> str:
        return self.masked

    @property
    def masked(self) -> str:
        """Return the key as shown: prefix, dots, last four (contract 9.1)."""
        return f"{self.prefix}...{self.last_four}"

    def has_expired(self, at: datetime) -> bool:
        """Return whether the key has expired at this moment."""
        return self.expires_at is not None and self.expires_at <= at
