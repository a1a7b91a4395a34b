"""UserExport: an archive of all data about one user."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User

# Ours: long enough to be fetched, short for a second copy of all there is.
EXPORT_RETENTION = timedelta(days=7)


class UserExport(TenantOwned):
    """One archive, from the request until its file is deleted.

    Neither `finished_at` nor `failed_at`: a job is at it. `stored_as` is the file's
    name in the default storage, empty before and after; `size` is in bytes.
    """

    rules = TableRules(
        without_fence="state of an export; its file is in storage",
        retention=RetentionRule("7 days", "users.remove_old_exports"),
        route_parameters={"export_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="exports")
    asked_by = models.CharField(max_length=254)
    asked_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    stored_as = models.CharField(max_length=100, blank=True)
    size = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return f"export {self.id}"

    @property
    def is_open(self) -> bool:
        """Return whether the archive is still being created."""
        return self.finished_at is None and self.failed_at is None
