"""Pull: fetching one resource from a source; and the count of refreshes."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from portal.lib.translation import gettext_lazy
from users.models.sources.source import Connection
from users.models.user import User
from users.states import PullStatus


class PullQuerySet(TenantQuerySet["Pull"]):
    """Conditions on sets of pulls."""

    def open(self) -> PullQuerySet:
        """Filter pulls that have not ended."""
        return self.filter(ended_at=None)


class Pull(TenantOwned):
    """One pull of one resource from a connected source (contract 5.5).

    `resource` is a name of contract 3.4. `is_history` tells the backfill that follows
    connecting from a refresh; one that `is_announced` reads only what the source said
    had changed, so that the next refresh does not start from its end. Wanted is what is
    dated from `range_start` (null: as far back as the source goes) to `range_end`, both
    included. `position` is where a pull
    that was cut off goes on, in the gateway's own words; never a token or health data.
    `days_with_data` counts days of what came, once it has ended well. `error_type` is a
    ConnectionFault or another short code of what went wrong.
    """

    rules = TableRules(
        without_fence="times and counts",
        retention=RetentionRule(
            "62 days after it ended, except the latest", "users.remove_old_arrivals"
        ),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    connection = models.ForeignKey(
        Connection, on_delete=models.CASCADE, related_name="pulls", db_index=False
    )
    user = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        related_name="pulls",
        db_constraint=False,
        db_index=False,
    )
    provider = models.CharField(max_length=50)
    resource = models.CharField(max_length=50)
    is_history = models.BooleanField()
    is_announced = models.BooleanField(default=False, db_default=False)
    status = models.CharField(
        max_length=100, choices=PullStatus.offered, default=PullStatus.SCHEDULED
    )
    range_start = models.DateTimeField(null=True)
    range_end = models.DateTimeField(null=True)
    position = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    scheduled_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    days_with_data = models.PositiveIntegerField(null=True)
    error_type = models.CharField(max_length=100, blank=True)

    objects = TenantManager(PullQuerySet)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "resource", "is_history", "is_announced"],
                condition=models.Q(ended_at=None),
                name="pull_open_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["user", "provider", "resource", "-id"], name="pull_by_user"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.resource} of {self.provider}: {self.status}"


class Refresh(TenantOwned):
    """A refresh of a user, limited to eight an hour (contract 1.7)."""

    rules = TableRules(
        without_fence="times",
        retention=RetentionRule("1 hour", "users.remove_old_arrivals"),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="refreshes", db_index=False
    )
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("refresh")
        verbose_name_plural = gettext_lazy("refreshes")
        indexes = [models.Index(fields=["user", "at"], name="refresh_by_user")]

    def __str__(self) -> str:
        return f"refresh at {self.at}"
