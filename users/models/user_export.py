"""UserExport: an archive of everything that is kept about one user.

Must not be here: the archive itself, or anything that writes a row.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db import models
from django.utils import timezone

from portal.lib.tenancy import TenantOwned
from users.models.user import User

# Ours: long enough to be fetched, short for a second copy of all there is.
EXPORT_RETENTION = timedelta(days=7)


class UserExport(TenantOwned):
    """One archive, from asking for it until its file is removed.

    Neither `finished_at` nor `failed_at`: a job is at it. `stored_as` is the file's
    name in the default storage, empty before and after; `size` is in bytes.
    """

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
        """Whether a job is still to make it."""
        return self.finished_at is None and self.failed_at is None
