"""Reads of what the lake has: by environment and dataset, and the last runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Max, Min, Sum

from exchange.models import LakeFile, LakeRun

if TYPE_CHECKING:
    from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class LakeDataset:
    """Files of one dataset of an environment; months by their first day, inclusive."""

    team: str
    team_slug: str
    environment: str
    dataset: str
    first_month: date
    last_month: date
    files: int
    rows: int
    size: int  # bytes
    exported_at: datetime


def list_lake_datasets() -> list[LakeDataset]:
    """List what is in the lake, over all tenants; inside `across_tenants`."""
    names = (
        *("tenant__team__name", "tenant__team__slug"),
        *("tenant__environment", "dataset"),
    )
    found = LakeFile.unscoped.values(*names).order_by(*names)
    return [
        LakeDataset(*row)
        for row in found.values_list(
            *names,
            Min("month"),
            Max("month"),
            Count("pk"),
            Sum("rows"),
            Sum("size"),
            Max("exported_at"),
        )
    ]


def count_lake_files() -> int:
    """Count the files of the lake, of all tenants; inside `across_tenants`."""
    return LakeFile.unscoped.count()


def count_stale_lake_files() -> int:
    """Count files that wait to be written again; inside `across_tenants`."""
    return LakeFile.unscoped.filter(mark="").count()


def list_lake_runs(limit: int) -> list[LakeRun]:
    """List the last runs of the export, newest first."""
    return list(LakeRun.objects.order_by("-pk")[:limit])


def find_last_whole_run() -> LakeRun | None:
    """Return the last run that ended without a failure."""
    whole = LakeRun.objects.filter(finished_at__isnull=False, failed=0)
    return whole.order_by("-pk").first()
