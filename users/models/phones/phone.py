"""Phone: an app on a user's phone that may send data, and its tokens."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User
from users.states.phones import PhoneApp

HASH_LENGTH = 64


class Phone(TenantOwned):
    """An app on a phone, paired with a user until it is disconnected.

    Of its tokens only hashes are kept. `token_expires_at` is null for a token that
    lasts until it is revoked, as apps have that cannot renew theirs. `former_hash` is
    the refresh token before the present one: it renews again while the present tokens
    were never used, as their answer may have been lost. `reported` has by type of
    record what the app said of its reading: {at, ok, count}. `provider` is the source
    of what it sent last.
    """

    rules = TableRules(
        without_fence="read by its token, before the tenant is known",
        retention="with its user",
        route_parameters={"phone_id": "uuid"},
        archive_without=("token_hash", "refresh_hash", "former_hash"),
    )

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="phones", db_index=False
    )
    app = models.CharField(max_length=30, choices=PhoneApp.offered)
    name = models.CharField(max_length=100, blank=True)
    app_version = models.CharField(max_length=50, blank=True)
    provider = models.CharField(max_length=50, blank=True)
    token_hash = models.CharField(max_length=HASH_LENGTH, unique=True)
    token_expires_at = models.DateTimeField(null=True)
    refresh_hash = models.CharField(  # noqa: DJ001 - unique where there is one
        max_length=HASH_LENGTH, unique=True, null=True
    )
    former_hash = models.CharField(max_length=HASH_LENGTH, blank=True, db_index=True)
    renewed_at = models.DateTimeField(default=timezone.now)
    paired_at = models.DateTimeField(default=timezone.now, editable=False)
    seen_at = models.DateTimeField(null=True)
    uploaded_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    reported = models.JSONField(default=dict)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["user", "-paired_at"], name="phone_by_user"),
        ]

    def __str__(self) -> str:
        return self.name or str(self.uuid)
