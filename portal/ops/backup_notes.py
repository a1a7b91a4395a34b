"""When backups were made, so that somebody notices when none is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models, transaction
from django.utils import timezone

from portal.lib.table_rules import TableRules

if TYPE_CHECKING:
    from datetime import datetime


class BackupNote(models.Model):
    """That a backup was written to its end; only the last is kept.

    It is noted after the snapshot, so a restored installation knows of the one before.
    """

    rules = TableRules(
        without_tenant="of the installation",
        without_user="when backups were made",
        retention="the last alone is kept",
    )

    made_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        app_label = "portal"

    def __str__(self) -> str:
        return f"backup of {self.made_at:%Y-%m-%d}"


@transaction.atomic
def record_backup_time() -> None:
    """Record that a backup was made just now."""
    BackupNote.objects.all().delete()
    BackupNote().save(force_insert=True)


def find_last_backup_time() -> datetime | None:
    """Return when the last backup was made, None if none is known of."""
    noted: datetime | None = BackupNote.objects.aggregate(last=models.Max("made_at"))[
        "last"
    ]
    return noted
