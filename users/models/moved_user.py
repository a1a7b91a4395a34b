"""MovedUser: a user brought along from another platform, and how far."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User


class MovedUser(TenantOwned):
    """A user of another platform, and up to where each feed is stored.

    `external_id` is the platform's. `feeds` maps a feed to its `cursor`, the number of
    elements that were `read`, `stored` and `skipped` (by rule), and `is_done`. It is
    written with the data, so that an import that was killed goes on behind it.
    `held_sources` are providers of data without a connection there: they are connected
    here while they are stored, and ended with it.
    """

    rules = TableRules(without_fence="IDs and counts", retention="with its user")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    platform = models.CharField(max_length=50)
    external_id = models.CharField(max_length=255)
    feeds = models.JSONField(default=dict)
    held_sources = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "platform", "external_id"], name="moved_user_once"
            ),
            models.UniqueConstraint(
                fields=["platform", "user"], name="moved_user_from_one"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.external_id} of {self.platform}"
