"""Bulk exports: request, write, cancel and remove. Source: Bulk Data Access 2.0."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import orjson
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change, record_read
from accounts.states import Area
from exchange.models import BulkExport, BulkExportFile
from exchange.models.bulk_export import BULK_EXPORT_RETENTION
from exchange.queries.search import Search, iterate_resources
from exchange.resources.matching import LAST_UPDATED
from exchange.resources.registry import RESOURCE_TYPES
from exchange.resources.subjects import find_user_of_resource
from portal.lib import storage
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import NotAllowed, NotFound, TooMany
from portal.lib.jobs import jobs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from accounts.models import Tenant
    from exchange.resources.base import ResourceType
    from exchange.resources.matching import Json

EXPORT_JOB = "exchange.bulk_export"
FOLDER = "bulk-exports"
# Ours: a caller that starts over again and again waits for its own.
OPEN_AT_MOST = 2
LINES_PER_FILE = 100_000
_PAGE = 500
# A younger file may be one that is being made.
_ORPHAN_AGE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What is exported: types (empty: all that may be read), and changes since when."""

    request_url: str
    types: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    since: datetime | None = None


class _Cancelled(Exception):
    """The export was cancelled, or removed with a user."""


def describe_actor(actor: Actor) -> str:
    """Return the key of who asked for an export."""
    return f"{actor.kind} {actor.key}"


def list_readable_types(areas: frozenset[Area]) -> list[str]:
    """List the resource types of which something may be read with these areas."""
    return [
        name
        for name, resource in RESOURCE_TYPES.items()
        if areas.intersection(resource.areas) and areas.issuperset(resource.also_reads)
    ]


@transaction.atomic
def request_bulk_export(
    *,
    tenant: Tenant,
    actor: Actor,
    areas: frozenset[Area],
    request: ExportRequest,
    types: frozenset[str] = frozenset(RESOURCE_TYPES),
) -> BulkExport:
    """Enqueue an export of a tenant's resources, of `types` at most.

    Raises: scope_missing (403) for a type that may not be read, or for none that may;
    exports_open (429) while OPEN_AT_MOST of the caller are being written.
    """
    readable = [one for one in list_readable_types(areas) if one in types]
    wanted = list(request.types) or [
        name for name in readable if name not in request.without
    ]
    if not wanted or not set(wanted) <= set(readable):
        raise NotAllowed("scope_missing", "This key lacks the scope for this export.")
    mine = BulkExport.objects.for_tenant(tenant).filter(actor_key=describe_actor(actor))
    running = mine.filter(finished_at=None, failed_at=None, cancelled_at=None)
    if running.count() >= OPEN_AT_MOST:
        raise TooMany(
            "exports_open",
            _("Wait until your earlier exports have ended, or cancel them."),
            wait=timedelta(minutes=1),
        )
    export = BulkExport(
        tenant=tenant,
        types=wanted,
        areas=sorted(areas),
        since=request.since,
        request_url=request.request_url,
        actor_key=describe_actor(actor),
        actor_label=actor.label,
    )
    export.save(force_insert=True)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="request_bulk_export",
        subject="bulk_export",
        subject_id=export.pk,
        changes={"types": [None, wanted]},
    )
    jobs.enqueue_job(EXPORT_JOB, tenant=tenant, export_id=str(export.pk))
    return export


def run_bulk_export(*, tenant: Tenant, export_id: UUID) -> bool:
    """Write the files of an export; return whether it was still open.

    A run that follows one that was cut off begins again, and removes what that wrote.
    """
    rows = BulkExport.objects.for_tenant(tenant).filter(pk=export_id)
    export: BulkExport | None = rows.first()
    if export is None or not export.is_open:
        return False
    _remove_files(export)
    rows.update(transaction_time=timezone.now(), written=0)
    users: set[UUID] = set()
    try:
        for name in export.types:
            _write_type(tenant, export, RESOURCE_TYPES[name], users)
    except _Cancelled:
        remaining = rows.first()
        if remaining is not None:
            _remove_files(remaining)
        return True
    still_open = rows.filter(failed_at=None, cancelled_at=None)
    with transaction.atomic():
        done = still_open.update(finished_at=timezone.now())
        if done:
            _audit_users(tenant, export, users)
    if not done and (left := rows.first()):
        _remove_files(left)
    return True


def _audit_users(tenant: Tenant, export: BulkExport, users: set[UUID]) -> None:
    """Record for each user that their data are in an export, as its caller's read."""
    kind, _space, key = export.actor_key.partition(" ")
    actor = Actor(ActorKind(kind), key, export.actor_label)
    for uuid in sorted(users):
        record_read(
            tenant=tenant,
            actor=actor,
            subject="bulk_export",
            subject_id=export.pk,
            user_uuid=uuid,
        )


def _write_type(
    tenant: Tenant, export: BulkExport, resource: ResourceType, users: set[UUID]
) -> None:
    since = export.since and export.since.astimezone(UTC).isoformat()
    search = Search(
        tenant=tenant,
        resource=resource,
        areas=frozenset(Area(one) for one in export.areas),
        wanted=(LAST_UPDATED.read(f"gt{since}"),) if since else (),
        count=_PAGE,
    )
    found = _note_users(iterate_resources(search), users)
    number = 0
    while _write_file(export, resource.name, number, found):
        number += 1


def _note_users(found: Iterator[Json], users: set[UUID]) -> Iterator[Json]:
    for resource in found:
        if uuid := find_user_of_resource(resource):
            users.add(uuid)
        yield resource


def _write_file(
    export: BulkExport, type_: str, number: int, found: Iterator[Json]
) -> bool:
    """Write a file of what is next; return whether there was anything."""
    first = next(found, None)
    if first is None:
        return False
    word = uuid4().hex
    name = f"{FOLDER}/{word[:2]}/{word}"
    count = 0
    with storage.write_stored_file(name) as opened:
        line: Json | None = first
        while line is not None:
            opened.write(orjson.dumps(line) + b"\n")
            count += 1
            if count % _PAGE == 0:
                _note_progress(export, _PAGE)
            line = next(islice(found, 1), None) if count < LINES_PER_FILE else None
        _note_progress(export, count % _PAGE)
        opened.flush()
        size = Path(opened.name).stat().st_size
    with transaction.atomic():
        rows = BulkExport.objects.for_tenant(export.tenant).filter(pk=export.pk)
        if not rows.select_for_update().exists():
            storage.delete_stored_files([name])
            raise _Cancelled
        BulkExportFile(
            tenant_id=export.tenant_id,
            export=export,
            type=type_,
            number=number,
            stored_as=name,
            count=count,
            size=size,
        ).save(force_insert=True)
    return True


def _note_progress(export: BulkExport, more: int) -> None:
    """Add to what was written. Raises: _Cancelled once the export was cancelled."""
    export.written += more
    rows = BulkExport.objects.for_tenant(export.tenant).filter(
        pk=export.pk, cancelled_at=None, failed_at=None
    )
    if not rows.update(written=export.written):
        raise _Cancelled


def mark_bulk_export_failed(*, tenant: Tenant, export_id: UUID) -> None:
    """Mark an export as failed, and remove what it wrote."""
    rows = BulkExport.objects.for_tenant(tenant).filter(pk=export_id, finished_at=None)
    rows.filter(cancelled_at=None).update(failed_at=timezone.now())
    for export in rows:
        _remove_files(export)


def find_bulk_export(*, tenant: Tenant, actor: Actor, export_id: UUID) -> BulkExport:
    """Return an export of this caller. Raises: not_found, also once it is cancelled."""
    rows = BulkExport.objects.for_tenant(tenant).filter(
        pk=export_id, actor_key=describe_actor(actor), cancelled_at=None
    )
    export: BulkExport | None = rows.first()
    if export is None or timezone.now() >= export.requested_at + BULK_EXPORT_RETENTION:
        raise NotFound("not_found", "Export not found.")
    return export


@transaction.atomic
def cancel_bulk_export(*, tenant: Tenant, actor: Actor, export_id: UUID) -> None:
    """Cancel an export, or remove its files where it has ended. Raises: not_found."""
    export = find_bulk_export(tenant=tenant, actor=actor, export_id=export_id)
    rows = BulkExport.objects.for_tenant(tenant).filter(pk=export.pk)
    rows.update(cancelled_at=timezone.now())
    _remove_files(export)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="cancel_bulk_export",
        subject="bulk_export",
        subject_id=export.pk,
    )


def _remove_files(export: BulkExport) -> None:
    """Remove the files of an export: rows now, files on commit."""
    files = BulkExportFile.unscoped.filter(export=export)
    names = list(files.values_list("stored_as", flat=True))
    files.delete()
    transaction.on_commit(partial(storage.delete_stored_files, names))


def remove_exports_with_user(tenant_pk: int, user_uuid: UUID) -> None:
    """Remove all exports of a tenant, as each may hold rows of an erased user."""
    del user_uuid
    exports = BulkExport.unscoped.filter(tenant_id=tenant_pk)
    files = BulkExportFile.unscoped.filter(export__tenant_id=tenant_pk)
    names = list(files.values_list("stored_as", flat=True))
    exports.delete()
    transaction.on_commit(partial(storage.delete_stored_files, names))


def delete_old_bulk_exports() -> int:
    """Delete exports older than BULK_EXPORT_RETENTION, and files without a row.

    Returns how many exports. Over all tenants.
    """
    now = timezone.now()
    old = BulkExport.unscoped.filter(requested_at__lt=now - BULK_EXPORT_RETENTION)
    files = BulkExportFile.unscoped.filter(export__in=old)
    names = list(files.values_list("stored_as", flat=True))
    number = old.count()
    old.delete()
    storage.delete_stored_files(names)
    for file in storage.list_stored_files(FOLDER):
        known = BulkExportFile.unscoped.filter(stored_as=file.name)
        if file.modified_at < now - _ORPHAN_AGE and not known.exists():
            storage.delete_stored_files([file.name])
    storage.delete_unfinished_uploads(FOLDER)
    return number
