"""Announcement: a source's word that data changed, and the pull that reads it."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from users.models.sources.pull import Pull
from users.models.sources.source import Connection


class AnnouncementQuerySet(TenantQuerySet["Announcement"]):
    """Conditions on sets of announcements."""

    def pending(self) -> AnnouncementQuerySet:
        """Filter announcements that no pull reads yet."""
        return self.filter(pull=None)


class Announcement(TenantOwned):
    """Data of a resource that changed from `first_at` to `last_at` at its source.

    While it waits for a pull, further ones of the resource widen it and are counted in
    `times`; `at` is when the last of them came. A pull that fails gives it back.
    """

    rules = TableRules(
        without_fence="times and names of resources",
        retention=RetentionRule("with its pull", "users.remove_old_arrivals"),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    connection = models.ForeignKey(
        Connection,
        on_delete=models.CASCADE,
        related_name="announcements",
        db_index=False,
    )
    resource = models.CharField(max_length=50)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    at = models.DateTimeField(default=timezone.now, editable=False)
    times = models.PositiveIntegerField(default=1)
    pull = models.ForeignKey(
        Pull, on_delete=models.CASCADE, null=True, related_name="announcements"
    )

    objects = TenantManager(AnnouncementQuerySet)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "resource"],
                condition=models.Q(pull=None),
                name="announcement_pending_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["connection", "resource", "at"], name="announcement_by_source"
            )
        ]

    def __str__(self) -> str:
        return f"{self.resource} at {self.at}"
