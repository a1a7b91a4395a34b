"""LakeFile and LakeRun: which files of months analysts have, and when they were made.

The lake is a copy for analytics; nothing is read back from it.
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class LakeFile(TenantOwned):
    """A Parquet file in the lake: a dataset's rows of one month of a tenant.

    `dataset` is a key of exchange.payloads.lake.schema.DATASETS, `month` its first
    day. `part` holds the users whose uuid begins with it; empty: all. `mark` is that of
    the rows that the file was made of (portal.lib.database.months), in hex; empty where
    it is not known, so that the file is made again. `exported_at` is when its bytes
    last changed.
    """

    rules = TableRules(
        without_fence="names and sizes of files",
        without_user="files of many users: made again when any of them is erased",
        retention="as long as its file, which goes with the last of its rows",
    )

    tenant = models.ForeignKey(
        "accounts.Tenant", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    dataset = models.CharField(max_length=20)
    month = models.DateField()
    part = models.CharField(max_length=2, blank=True)
    mark = models.CharField(max_length=40, blank=True)
    stored_as = models.CharField(max_length=200, unique=True)
    rows = models.PositiveBigIntegerField()
    size = models.PositiveBigIntegerField()  # bytes
    sha256 = models.CharField(max_length=64)
    exported_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("lake file")
        verbose_name_plural = gettext_lazy("lake files")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "dataset", "month", "part"], name="lake_file_once"
            )
        ]

    def __str__(self) -> str:
        return self.stored_as


class LakeRun(models.Model):
    """A run of the export, over all tenants. `failed` are files that could not be made.

    What was deleted before `started_at` is in no file once a run that has a
    `finished_at` and no `failed` is over.
    """

    rules = TableRules(
        without_tenant="numbers of files of all tenants",
        without_user="numbers of files",
        retention="the last 100 are kept",
    )

    started_at = models.DateTimeField(db_index=True)
    finished_at = models.DateTimeField(null=True)
    written = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    rows = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = gettext_lazy("lake run")
        verbose_name_plural = gettext_lazy("lake runs")

    def __str__(self) -> str:
        return f"{self.started_at:%Y-%m-%d %H:%M}"
