"""SourceGrant: the tokens to read a user's data at a cloud source."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.sources.source import Connection


class SourceGrant(TenantOwned):
    """The tokens of a connection, encrypted by portal.lib.secrets.encryption.

    `expires_at` is when the access token ends, null where the source does not say.
    `rotation` counts the tokens that were stored. Whoever trades them for new ones
    holds the row until `claimed_until`: a refresh token works once. `client_id` names
    the application that they were issued to, which alone can trade them. An ended
    connection keeps its grant until the source has taken it back. `pushes_checked_at`
    is when the source was last asked to push, `pushes_error` a short code of why it
    does not, empty where it does. `gaps_checked_at` is when its gaps were last checked.
    """

    rules = TableRules(
        without_fence="encrypted",
        retention="with its user",
        encrypted=("access_token", "refresh_token"),
    )

    connection = models.OneToOneField(
        Connection, on_delete=models.CASCADE, related_name="grant"
    )
    access_token = models.TextField()
    refresh_token = models.TextField()
    expires_at = models.DateTimeField(null=True)
    scopes = models.JSONField(default=list)
    client_id = models.CharField(max_length=200, blank=True, default="", db_default="")
    rotation = models.PositiveIntegerField(default=1)
    claimed_until = models.DateTimeField(null=True)
    pushes_checked_at = models.DateTimeField(null=True)
    pushes_error = models.CharField(
        max_length=100, blank=True, default="", db_default=""
    )
    gaps_checked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return f"grant of connection {self.connection_id}"
