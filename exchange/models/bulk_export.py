"""BulkExport: files of a tenant's resources, from the request to their removal."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

# Ours: long enough to be fetched, short for a second copy of all there is.
BULK_EXPORT_RETENTION = timedelta(days=1)
URL_MAX_LENGTH = 2000


class BulkExport(TenantOwned):
    """One `$export` (Bulk Data Access 2.0).

    Neither `finished_at`, `failed_at` nor `cancelled_at`: a job is at it. `types` are
    resource types, `areas` what its caller may read, `since` the earliest change.
    `actor_key` is the kind and key of who asked, the only one who may fetch it.
    `transaction_time` is when the job began to read, `written` how many resources it
    has written. `request_url` is the address that was asked.
    """

    rules = TableRules(
        without_fence="state of an export; its files are in storage",
        without_user="files of many users: removed when any of them is erased",
        retention=RetentionRule("1 day", "exchange.remove_old_exports"),
        route_parameters={"bulk_export_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    types = ArrayField(models.CharField(max_length=40))
    areas = ArrayField(models.CharField(max_length=40))
    since = models.DateTimeField(null=True)
    request_url = models.CharField(max_length=URL_MAX_LENGTH)
    actor_key = models.CharField(max_length=100)
    actor_label = models.CharField(max_length=254)
    requested_at = models.DateTimeField(default=timezone.now, editable=False)
    transaction_time = models.DateTimeField(null=True)
    written = models.PositiveBigIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("bulk export")
        verbose_name_plural = gettext_lazy("bulk exports")
        indexes = [models.Index(fields=["requested_at"], name="bulk_export_by_age")]

    def __str__(self) -> str:
        return f"bulk export {self.pk}"

    @property
    def is_open(self) -> bool:
        """Return whether its files are still being written."""
        ends = (self.finished_at, self.failed_at, self.cancelled_at)
        return all(end is None for end in ends)


class BulkExportFile(TenantOwned):
    """One NDJSON file of an export; `stored_as` is its name in the default storage."""

    rules = TableRules(
        without_fence="state of an export; its files are in storage",
        without_user="files of many users: removed when any of them is erased",
        route_parameters={"bulk_file_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    export = models.ForeignKey(
        BulkExport, on_delete=models.CASCADE, related_name="files"
    )
    type = models.CharField(max_length=40)
    number = models.PositiveIntegerField()
    stored_as = models.CharField(max_length=100, unique=True)
    count = models.PositiveIntegerField()
    size = models.BigIntegerField()  # bytes

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("bulk export file")
        verbose_name_plural = gettext_lazy("bulk export files")
        constraints = [
            models.UniqueConstraint(
                fields=["export", "type", "number"], name="bulk_export_file_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.export_id} {self.type} {self.number}"
