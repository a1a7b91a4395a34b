"""CalendarFeed: a secret address that a calendar fetches visits from."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class CalendarFeed(TenantOwned):
    """The visits of a member, or with a `site_code` those of one service center.

    `digest` is the SHA-256 of the secret in its address, which is shown once.
    `member` created the address; the member's own feed ends with their right to see
    visits, a center's goes on. `provider`, `site_code` and `site_name` are as in an
    appointment. `last_read_at` is written at most once an hour.
    """

    rules = TableRules(
        without_fence="found by its secret, before the tenant is known",
        without_user="addresses of a team's calendars",
        retention="kept until the address is revoked",
        route_parameters={"feed_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    member = models.ForeignKey(
        "accounts.Member", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    provider = models.CharField(max_length=100, blank=True)
    site_code = models.CharField(max_length=20, blank=True)
    site_name = models.CharField(max_length=150, blank=True)
    digest = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(default=timezone.now)
    last_read_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("calendar address")
        verbose_name_plural = gettext_lazy("calendar addresses")
        constraints = [
            models.UniqueConstraint(fields=["digest"], name="calendar_feed_once"),
            models.UniqueConstraint(
                fields=["tenant", "member"],
                condition=models.Q(site_code=""),
                name="calendar_feed_once_per_member",
            ),
            models.UniqueConstraint(
                fields=["tenant", "provider", "site_code"],
                condition=~models.Q(site_code=""),
                name="calendar_feed_once_per_site",
            ),
        ]

    def __str__(self) -> str:
        return f"calendar address {self.pk}"
