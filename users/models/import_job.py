"""ImportJob: the import of a user's file, from upload to the last stored part."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from users.models.user import User
from users.states.imports import (
    OPEN_IMPORTS,
    ImportFormat,
    ImportRefusal,
    ImportStatus,
)

FILE_NAME_MAX_LENGTH = 255


class ImportJobQuerySet(TenantQuerySet["ImportJob"]):
    """Conditions on sets of imports."""

    def open(self) -> ImportJobQuerySet:
        """Filter imports that have not ended."""
        return self.filter(status__in=OPEN_IMPORTS)


class ImportJob(TenantOwned):
    """The import of one file; `stored_as` is empty once the file is deleted.

    `provider` is the source that the data is of, blank until the file tells it. The
    file is read whole first: `bytes_read` of `bytes_total` (of what an archive unpacks
    to). Its rows are accepted or dropped; `drops` counts why, {reason: {what: rows}}.
    `plan` of a file that was read is {resource: {rows, first, last}}; if the import
    `needs_confirmation`, nothing is stored before a member confirms it. Times without a
    zone are read in `time_zone`. `recognized_as` is what the reader of a refused file
    took it for, blank if that is its format.
    What was read waits in `batches` parts, of which `batches_done` are stored: the next
    run goes on there. `counts` says what became of them, by the contract's names of
    resources: {resource: {created, updated, unchanged, first, last}}, times in ISO, and
    `providers` where an archive of recordings has several (empty: the import's own).
    """

    rules = TableRules(
        without_fence="what became of a file; its rows are samples and summaries",
        retention="with its user",
        route_parameters={"import_id": "id"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="imports", db_index=False
    )
    file_name = models.CharField(max_length=FILE_NAME_MAX_LENGTH)
    format = models.CharField(max_length=30, choices=ImportFormat.offered)
    provider = models.CharField(max_length=50, blank=True)
    status = models.CharField(
        max_length=30, choices=ImportStatus.offered, default=ImportStatus.WAITING
    )
    failure = models.CharField(max_length=50, choices=ImportRefusal.offered, blank=True)
    recognized_as = models.CharField(max_length=200, blank=True, db_default="")
    stored_as = models.CharField(max_length=100, blank=True)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    bytes_total = models.BigIntegerField(default=0)
    bytes_read = models.BigIntegerField(default=0)
    rows_read = models.BigIntegerField(default=0)
    rows_accepted = models.BigIntegerField(default=0)
    rows_dropped = models.BigIntegerField(default=0)
    drops = models.JSONField(default=dict)
    needs_confirmation = models.BooleanField(default=False, db_default=False)
    plan = models.JSONField(null=True)
    time_zone = models.CharField(max_length=64, blank=True, db_default="")
    batches = models.PositiveIntegerField(default=0)
    batches_done = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = TenantManager(ImportJobQuerySet)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["user", "-created_at"], name="import_by_user"),
            models.Index(fields=["stored_as"], name="import_by_file"),
        ]

    def __str__(self) -> str:
        return f"import {self.id}"

    @property
    def is_open(self) -> bool:
        """Return whether the import has not ended."""
        return self.status in OPEN_IMPORTS

    @property
    def percent(self) -> int:
        """Return the progress, 0 to 100: reading is one half, storing the other."""
        if self.status == ImportStatus.COMPLETED:
            return 100
        read = self.bytes_read / self.bytes_total if self.bytes_total else 0.0
        stored = self.batches_done / self.batches if self.batches else 0.0
        return min(int(50 * read + 50 * stored), 99)
