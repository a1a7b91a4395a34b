"""Bring the lake up to date: write the files that are due, remove those that ended."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson
import psycopg
from django.utils import timezone

from accounts.operations.audit.entries import record_change
from exchange.models import LakeFile, LakeRun
from exchange.operations.lake.due import find_due_files
from exchange.payloads.lake.places import ROOT, get_extract_file, get_schema_file
from exchange.payloads.lake.rows import write_extract
from exchange.payloads.lake.schema import build_schema_document
from portal.lib.actor import Actor
from portal.lib.database import rows
from portal.lib.errors import Damaged
from portal.lib.storage.lake import open_lake_store
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Set
    from datetime import datetime

    from accounts.models import Tenant
    from exchange.payloads.lake.rows import Extract
    from portal.lib.storage import FileStore
    from portal.lib.storage.answers import FoundFile

LAKE = Actor.system("exchange.lake")
# All months are compared this often; what an erasure left to do, each hour.
RUN_EVERY = timedelta(hours=20)
_LOCK = "SELECT pg_try_advisory_lock(hashtext('exchange lake'))"
_UNLOCK = "SELECT pg_advisory_unlock(hashtext('exchange lake'))"
_KEPT_RUNS = 100
# A younger file may be one that is being written.
_ORPHAN_AGE = timedelta(days=1)


class _DiscardedError(Exception):
    """The new file has no rows, or the bytes of the older one."""


@dataclass(frozen=True, slots=True)
class _Written:
    """What is in a file; `size` in bytes."""

    rows: int
    size: int
    sha256: str


@dataclass(slots=True)
class _Done:
    """What was done for a tenant."""

    files: int = 0
    rows: int = 0
    removed: int = 0


def export_lake(*, at: datetime) -> LakeRun | None:
    """Write the lake's files that differ from what is stored; return the run.

    None where the lake is off, or another process is at it. Inside `across_tenants`. A
    file is replaced at once when it is whole, so whoever is killed in between leaves
    the older one. One that can't be written is counted, and the others go on. Source:
    Ours: analysts read months that are closed, and what changes in them is exported
    anew. Raises: storage_unavailable (503); the run has no end then.
    """
    store = open_lake_store()
    if store is None:
        return None
    with _alone() as is_alone:
        if not is_alone:
            return None
        run = LakeRun.objects.create(started_at=at)
        listed = list(store.find_files(ROOT))
        _mark_missing({each.name for each in listed})
        done: dict[int, _Done] = defaultdict(_Done)
        tenants: dict[int, Tenant] = {}
        due = find_due_files(at=at)
        run.unchanged = due.unchanged
        for file in due.remove:
            tenants[file.tenant_id] = file.tenant
            _remove(store, file)
            done[file.tenant_id].removed += 1
        for extract, mark in due.write:
            tenant = tenants[extract.tenant.pk] = extract.tenant
            with acting_for(tenant):
                _write(store, extract, mark, run, done[tenant.pk])
        for pk, tenant in tenants.items():
            _finish_tenant(store, tenant, done[pk])
        run.removed = sum(each.removed for each in done.values())
        run.finished_at = timezone.now()
        run.save()
        _delete_orphans(store, listed, at)
        kept = LakeRun.objects.order_by("-pk").values("pk")[:_KEPT_RUNS]
        LakeRun.objects.exclude(pk__in=[each["pk"] for each in kept]).delete()
        return run


def export_lake_if_due(*, at: datetime) -> LakeRun | None:
    """Run the export if the last run is old or broke off, or files are stale."""
    last = LakeRun.objects.order_by("-pk").first()
    is_whole = last and last.finished_at and last.started_at > at - RUN_EVERY
    if is_whole and not LakeFile.unscoped.filter(mark="").exists():
        return None
    return export_lake(at=at)


def remove_lake(*, only: Tenant | None = None) -> int:
    """Delete all files of the lake, or those of a tenant; return how many.

    Inside `across_tenants`. Raises: storage_unavailable.
    """
    store = open_lake_store()
    files = LakeFile.unscoped.select_related("tenant__team")
    if only is not None:
        files = files.filter(tenant=only)
    if store is None:
        return 0
    done: dict[Tenant, int] = defaultdict(int)
    for file in files.order_by("pk"):
        _remove(store, file)
        done[file.tenant] += 1
    for tenant, number in done.items():
        store.delete(get_schema_file(tenant))
        _record(tenant, _Done(removed=number))
    return sum(done.values())


@contextmanager
def _alone() -> Iterator[bool]:
    """Let one process at a time be in the block; it says whether this one is."""
    ((is_alone,),) = rows.fetch_rows(_LOCK)
    try:
        yield bool(is_alone)
    finally:
        if is_alone:
            # A connection that is broken has no lock any more.
            with suppress(psycopg.Error):
                rows.fetch_rows(_UNLOCK)


def _write(
    store: FileStore, extract: Extract, mark: str, run: LakeRun, done: _Done
) -> None:
    name = get_extract_file(extract)
    key: dict[str, Any] = {
        "tenant": extract.tenant,
        "dataset": extract.dataset,
        "month": extract.month,
        "part": extract.part,
    }
    mine = LakeFile.objects.for_tenant(extract.tenant).filter(**key)
    known = mine.values_list("sha256", flat=True).first()
    try:
        with suppress(_DiscardedError), store.new_file(name) as opened:
            written = _write_rows(extract, opened)
            _require_changed(written, known)
    except Damaged:
        # It says by itself what it is. The older file may hold users who were erased
        # since; the month comes back with what is restored.
        run.failed += 1
        written = _Written(0, 0, "")
    if not written.rows:
        for file in mine.select_related("tenant__team"):
            _remove(store, file)
            done.removed += 1
    elif written.sha256 == known:
        mine.update(mark=mark)
        run.unchanged += 1
    else:
        now = {"mark": mark, "stored_as": name, "exported_at": timezone.now()}
        LakeFile.unscoped.update_or_create(**key, defaults=asdict(written) | now)
        run.written += 1
        run.rows += written.rows
        done.files += 1
        done.rows += written.rows


def _write_rows(extract: Extract, opened: BinaryIO) -> _Written:
    number = write_extract(extract, opened)
    opened.flush()
    path = Path(opened.name)
    with path.open("rb") as read:
        sha256 = hashlib.file_digest(read, "sha256").hexdigest()
    return _Written(number, path.stat().st_size, sha256)


def _require_changed(written: _Written, known: str | None) -> None:
    if not written.rows or written.sha256 == known:
        raise _DiscardedError


def _remove(store: FileStore, file: LakeFile) -> None:
    # The file first: a row without one is found again, a file without a row would not.
    store.delete(file.stored_as)
    LakeFile.unscoped.filter(pk=file.pk).delete()


def _finish_tenant(store: FileStore, tenant: Tenant, done: _Done) -> None:
    if not done.files and not done.removed:
        return
    if done.files:
        with store.new_file(get_schema_file(tenant)) as opened:
            opened.write(
                orjson.dumps(build_schema_document(), option=orjson.OPT_INDENT_2)
            )
    _record(tenant, done)


def _record(tenant: Tenant, done: _Done) -> None:
    with acting_for(tenant):
        record_change(
            tenant=tenant,
            actor=LAKE,
            verb="export_to_lake",
            subject="lake",
            subject_id="",
            changes={
                "files": done.files,
                "rows": done.rows,
                "removed_files": done.removed,
            },
        )


def _mark_missing(present: Set[str]) -> None:
    """Have files made again that are not there, as where the lake has a new place."""
    for file in LakeFile.unscoped.exclude(sha256="").only("stored_as"):
        if file.stored_as not in present:
            LakeFile.unscoped.filter(pk=file.pk).update(mark="", sha256="")


def _delete_orphans(store: FileStore, listed: list[FoundFile], at: datetime) -> None:
    """Delete files that no row names: of a broken run, or left by a restore."""
    known = set(LakeFile.unscoped.values_list("stored_as", flat=True))
    for found in listed:
        is_ours = found.name in known or found.name.endswith("/schema.json")
        if not is_ours and found.modified_at < at - _ORPHAN_AGE:
            store.delete(found.name)
    store.drop_unfinished(ROOT)
