"""The check of the lake: that months are exported, and that erasures reach it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import ProgrammingError
from django.utils import timezone

from exchange.operations.lake.erasure import REMOVED_WITHIN, is_lake_on
from exchange.queries.lake import (
    count_lake_files,
    find_last_whole_run,
    list_lake_runs,
)
from portal.lib.errors import Unavailable
from portal.lib.storage.address import AddressInvalid
from portal.lib.storage.lake import describe_lake_place, open_lake_store
from portal.lib.tenancy import across_tenants
from portal.ops.health.findings import Finding

_LATE = REMOVED_WITHIN + timedelta(hours=6)


def check_lake() -> Finding:
    """Check that the lake's export ran completely lately, or is off without files."""
    try:
        with across_tenants(why="the lake has files of all tenants"):
            files = count_lake_files()
        last, whole = list_lake_runs(1), find_last_whole_run()
    except ProgrammingError:  # no such table before the first migrate
        return Finding(True, "The lake has no tables yet.")
    if not is_lake_on():
        if not files:
            return Finding(True, "The lake is off.")
        return Finding(
            False,
            f"The lake is off, and {files} of its files remain: erased users stay in"
            " them.",
            "Set LAKE_DIR or LAKE_URL again and run `manage.py lake --remove`.",
            works_still=True,
        )
    where = describe_lake_place()
    if refused := _check_bucket(where):
        return refused
    if last and last[0].failed:
        return Finding(
            False,
            f"{last[0].failed} files of the lake in {where} could not be written.",
            "`manage.py pack_samples --check` lists the days that are corrupt.",
            works_still=True,
        )
    if whole is None or whole.started_at < timezone.now() - _LATE:
        return Finding(
            False,
            f"Months were not exported to {where} in the last day.",
            "Check that the worker runs, or run `manage.py lake` for the reason.",
            works_still=True,
        )
    hours = (timezone.now() - whole.started_at) / timedelta(hours=1)
    return Finding(
        True, f"{files} files are in the lake in {where}, compared {hours:.0f} h ago."
    )


def _check_bucket(where: str) -> Finding | None:
    if not settings.LAKE_URL:
        return None
    try:
        from portal.lib.storage.bucket import BucketStorage

        store = open_lake_store()
        keeps_versions = isinstance(store, BucketStorage) and store.keeps_versions()
    except (ImportError, AddressInvalid, Unavailable):
        return Finding(
            False,
            "The bucket of LAKE_URL can't be reached.",
            "Check LAKE_URL; `manage.py check` says whether it can be read.",
            works_still=True,
        )
    if not keeps_versions:
        return None
    return Finding(
        False,
        f"The lake is in {where}, which keeps versions, so erased users stay in them.",
        "Disable versioning, or expire old versions within a day.",
        works_still=True,
    )
