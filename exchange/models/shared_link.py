"""SharedLink: results that someone outside opens by a link, and its encrypted files."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy
from users.models import User

LABEL_MAX_LENGTH = 80
RECIPIENT_MAX_LENGTH = 200
# Of one link in its life (SMART Health Links asks for a total, not for one by hour).
WRONG_PASSCODES_MAX = 5


class SharedLink(TenantOwned):
    """A SMART Health Link to a snapshot of a user's signed results.

    Neither its key nor its address is stored: `token_hash` is the SHA-256 of the secret
    part of the address, `passcode_hash` is empty for a link without a passcode. It
    works until `expires_at`, until `revoked_at`, or until `wrong_passcodes` reaches
    WRONG_PASSCODES_MAX. `openings` counts manifests that were handed out,
    `last_recipient` is who the last reader said to be. `is_users_own`: made by the user
    in the portal, not by a member.
    """

    rules = TableRules(
        without_fence="read by its address, before the tenant is known",
        retention=RetentionRule("30 days after it ended", "exchange.remove_old_links"),
        route_parameters={"shared_link_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    token_hash = models.CharField(max_length=64, unique=True)
    passcode_hash = models.CharField(max_length=200, blank=True)
    wrong_passcodes = models.PositiveSmallIntegerField(default=0)
    label = models.CharField(max_length=LABEL_MAX_LENGTH)
    made_by = models.CharField(max_length=254)
    is_users_own = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    openings = models.PositiveIntegerField(default=0)
    last_opened_at = models.DateTimeField(null=True)
    last_recipient = models.CharField(max_length=RECIPIENT_MAX_LENGTH, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("shared link")
        verbose_name_plural = gettext_lazy("shared links")
        indexes = [
            models.Index(fields=["user", "-created_at"], name="shared_link_by_user"),
            models.Index(fields=["expires_at"], name="shared_link_by_end"),
        ]

    def __str__(self) -> str:
        return f"shared link {self.pk}"

    @property
    def is_locked(self) -> bool:
        """Return whether too many wrong passcodes ended it."""
        return self.wrong_passcodes >= WRONG_PASSCODES_MAX

    @property
    def is_open(self) -> bool:
        """Return whether it works."""
        is_ended = self.revoked_at is not None or self.is_locked
        return not is_ended and timezone.now() < self.expires_at


class SharedFile(TenantOwned):
    """One file of a link as a compact JWE, which only the link's key opens."""

    rules = TableRules(without_fence="read by its address, before the tenant is known")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    link = models.ForeignKey(SharedLink, on_delete=models.CASCADE, related_name="files")
    number = models.PositiveSmallIntegerField()
    content_type = models.CharField(max_length=100)
    jwe = models.TextField()

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("shared file")
        verbose_name_plural = gettext_lazy("shared files")
        constraints = [
            models.UniqueConstraint(
                fields=["link", "number"], name="shared_file_once_per_number"
            )
        ]

    def __str__(self) -> str:
        return f"{self.link_id} {self.number}"
