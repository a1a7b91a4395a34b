"""LinkSession: a link to connect sources without signing in."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User

REDIRECT_URL_MAX_LENGTH = 2000
PROVIDER_MAX_LENGTH = 50


class LinkSession(TenantOwned):
    """A link and what its holder can do until `expires_at` (contract 3.6).

    `provider` leads to one source at once; `filter_on_providers` names the only ones
    that are shown, empty for all. `redirect_url` is where the page sends people when it
    is done, empty for nowhere; `redirects_on_error` and `redirects_on_close` send them
    there as well. `mail_count` is how often the link was mailed, `ended_at` when
    somebody stopped it early. A link that `opens_portal` (contract 2.2) also shows the
    user's lab tests, that of `order_id` first, and lets sources be disconnected and
    results be shared, after the user's birth date; `wrong_birth_dates` were given.
    """

    rules = TableRules(
        without_fence="read by its link, before the tenant is known",
        retention=RetentionRule("30 days after it ended", "users.remove_old_links"),
        route_parameters={"session_id": "uuid"},
    )

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="link_sessions", db_index=False
    )
    provider = models.CharField(max_length=PROVIDER_MAX_LENGTH, blank=True)
    filter_on_providers = ArrayField(
        models.CharField(max_length=PROVIDER_MAX_LENGTH), default=list
    )
    redirect_url = models.CharField(max_length=REDIRECT_URL_MAX_LENGTH, blank=True)
    redirects_on_error = models.BooleanField(default=False)
    redirects_on_close = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True)
    mail_count = models.PositiveSmallIntegerField(default=0, db_default=0)
    ended_at = models.DateTimeField(null=True)
    opens_portal = models.BooleanField(default=False, db_default=False)
    order_id = models.UUIDField(null=True)
    wrong_birth_dates = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["user", "-created_at"], name="link_session_by_user"),
            models.Index(fields=["expires_at"], name="link_session_by_end"),
        ]

    def __str__(self) -> str:
        return f"link session {self.uuid}"

    def is_open(self) -> bool:
        """Return whether the link is open."""
        return self.ended_at is None and timezone.now() < self.expires_at
