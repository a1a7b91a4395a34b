"""Runs of imports: read a file whole, then store what was read part by part.

Nothing is stored before the whole file was read. Each part is stored exactly once,
however often a worker dies.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from accounts.models import Tenant
from accounts.webhooks.operations import emit_events
from portal.lib.actor import Actor
from portal.lib.errors import DomainError, NotFound
from portal.lib.storage import open_local_copy, write_stored_file
from users.models import ImportJob
from users.operations.imports.files import PARTS, delete_import_upload
from users.operations.imports.parts import store_import_part
from users.operations.imports.status import (
    cancel_health_data_import,
    change_import_status,
    record_import_change,
)
from users.queries import live_user, lock_user
from users.states.imports import DropReason, ImportFormat, ImportRefusal, ImportStatus
from users.wearables.formats.parts import read_import_file_parts
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.staging import Progress, parse_file_into_parts
from users.wearables.readings import build_batch_parsing_context

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from users.wearables.formats.staging import Staged

    # Called with an import that has gone on.
    Watch = Callable[[ImportJob], None]


IMPORT_JOB = "users.import_file"
IMPORTER = Actor.system(IMPORT_JOB)
# How often a run says how far it is.
_TOLD_EVERY_SECONDS = 1.0
# What is not stored under a source of its own: CSV, NDJSON, unknown makers of FIT.
DEFAULT_PROVIDER = "manual"


class _Stopped(Exception):
    """The import was cancelled or is run by another worker."""


def run_health_data_import(
    *, tenant_pk: int, job_id: UUID, watch: Watch | None = None
) -> None:
    """Run an import from its current status to its end, or to a member's confirmation.

    `watch` is called with the import as it goes on, a few times a second. Safe to
    repeat and to run twice at once. Reading that was cut short starts again, storing
    goes on behind the last stored part. Source: Ours: jobs run at least once.
    """
    job = _find_job(tenant_pk, job_id)
    if job is None or not job.is_open:
        return
    try:
        if job.status in {ImportStatus.WAITING, ImportStatus.READING}:
            _read(job, watch)
        if job.status == ImportStatus.STORING:
            _store(job, watch)
    except _Stopped:
        pass
    except NotFound:  # the user was deleted meanwhile
        left = _find_job(tenant_pk, job_id)
        if left is not None and left.is_open:
            cancel_health_data_import(job=left, actor=IMPORTER)
    except DomainError as refusal:
        if refusal.code != "transition_not_allowed":  # another was quicker
            raise
    _remove_leftover_files(job)


def mark_health_data_import_failed(*, tenant_pk: int, job_id: UUID) -> None:
    """Mark an import as failed that no run could finish."""
    job = _find_job(tenant_pk, job_id)
    if job is not None and job.is_open:
        _fail(job, ImportRefusal.PROCESSING_ERROR, to=ImportStatus.FAILED)


def _read(job: ImportJob, watch: Watch | None) -> None:
    """Parse the whole file into parts to store. Raises: _Stopped."""
    if job.status == ImportStatus.WAITING:
        change_import_status(
            job=job, to=ImportStatus.READING, started_at=timezone.now()
        )
    user = live_user(tenant=job.tenant, user_id=job.user.uuid)
    context = build_batch_parsing_context(
        user=user, provider=job.provider or DEFAULT_PROVIDER, now=timezone.now()
    )
    try:
        # Another run may be at it as well, and keeps the same.
        with (
            open_local_copy(job.stored_as) as path,
            write_stored_file(job.stored_as + PARTS) as parts,
        ):
            staged = parse_file_into_parts(
                path,
                Path(parts.name),
                format_=ImportFormat(job.format),
                file_name=job.file_name,
                context=context,
                on_progress=_ProgressWriter(job, watch),
            )
    except FileRefused as refusal:
        _fail(
            job,
            refusal.reason,
            to=ImportStatus.REFUSED,
            recognized_as=refusal.saw,
        )
        return
    found = _found(staged)
    if not staged.parts:
        _fail(job, ImportRefusal.NO_ROWS, to=ImportStatus.REFUSED, **found)
        return
    change_import_status(
        job=job,
        to=ImportStatus.READY if job.needs_confirmation else ImportStatus.STORING,
        batches=staged.parts,
        read_at=timezone.now(),
        time_zone=context.time_zone,
        **found,
    )


def _found(staged: Staged) -> dict[str, Any]:
    return {
        "provider": staged.provider,
        "bytes_total": staged.bytes_total,
        "bytes_read": staged.bytes_total,
        "rows_read": staged.rows_read,
        "rows_accepted": staged.rows_read - staged.rows_dropped,
        "rows_dropped": staged.rows_dropped,
        "drops": staged.drops,
        "plan": staged.plan,
    }


def _store(job: ImportJob, watch: Watch | None) -> None:
    """Store the parts that are not stored yet. Raises: _Stopped."""
    with open_local_copy(job.stored_as + PARTS) as parts:
        _store_parts(job, parts, watch)
    with transaction.atomic():
        change_import_status(
            job=job, to=ImportStatus.COMPLETED, finished_at=timezone.now()
        )
        record_import_change(job, IMPORTER, "finish_import", rows=job.rows_accepted)
        emit_events(
            tenant=job.tenant,
            user=job.user.ref,
            messages=[
                (
                    f"historical.data.{resource}.created",
                    {
                        "user_id": str(job.user.uuid),
                        "start_date": count["first"],
                        "end_date": count["last"],
                        "provider": provider or job.provider,
                    },
                )
                for resource, count in sorted(job.counts.items())
                if count["created"] or count["updated"]
                for provider in count.get("providers", [""])
            ],
        )


def _store_parts(job: ImportJob, path: Path, watch: Watch | None) -> None:
    for number, part in enumerate(read_import_file_parts(path)):
        if number < job.batches_done:
            continue
        with transaction.atomic():
            user = lock_user(job.user)
            stored = store_import_part(
                user=user, actor=IMPORTER, provider=job.provider, part=part
            )
            counts = stored.added_to(job.counts)
            dropped = job.drops
            if stored.dropped:
                reason = DropReason.OUT_OF_BOUNDS.value
                kinds = {**dropped.get(reason, {})}
                kinds[part.resource] = kinds.get(part.resource, 0) + stored.dropped
                dropped = {**dropped, reason: kinds}
            # Only one run gets from a part to the next; the other's part is undone.
            _write_progress(
                job,
                status=ImportStatus.STORING,
                before=number,
                batches_done=number + 1,
                counts=counts,
                drops=dropped,
                rows_accepted=job.rows_accepted - stored.dropped,
                rows_dropped=job.rows_dropped + stored.dropped,
            )
        if watch is not None:
            watch(job)


class _ProgressWriter:
    """Write the progress of parsing at intervals. Raises: _Stopped."""

    def __init__(self, job: ImportJob, watch: Watch | None) -> None:
        self.job = job
        self.watch = watch
        self.told_at = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self.told_at < _TOLD_EVERY_SECONDS:
            return
        self.told_at = now
        _write_progress(
            self.job,
            status=ImportStatus.READING,
            before=0,
            bytes_read=progress.bytes_read,
            bytes_total=progress.bytes_total,
            rows_read=progress.rows_read,
            rows_accepted=progress.rows_read - progress.rows_dropped,
            rows_dropped=progress.rows_dropped,
        )
        if self.watch is not None:
            self.watch(self.job)


def _write_progress(
    job: ImportJob, *, status: ImportStatus, before: int, **changes: object
) -> None:
    """Write progress unless another run changed the import. Raises: _Stopped."""
    mine = ImportJob.objects.for_tenant(job.tenant)
    here = mine.filter(id=job.id, status=status, batches_done=before)
    if here.update(**changes) != 1:
        raise _Stopped
    for name, value in changes.items():
        setattr(job, name, value)


def _remove_leftover_files(job: ImportJob) -> None:
    """Delete files of a run whose import another run ended."""
    mine = ImportJob.objects.for_tenant(job.tenant).filter(id=job.id)
    if not mine.open().exists():
        delete_import_upload(job.stored_as)


def _fail(
    job: ImportJob, reason: ImportRefusal, *, to: ImportStatus, **changes: object
) -> None:
    with transaction.atomic():
        change_import_status(
            job=job,
            to=to,
            failure=reason.value,
            finished_at=timezone.now(),
            **changes,
        )
        record_import_change(job, IMPORTER, "fail_import", failure=reason.value)


def _find_job(tenant_pk: int, job_id: UUID) -> ImportJob | None:
    tenant = Tenant.objects.select_related("team").filter(pk=tenant_pk).first()
    if tenant is None:
        return None
    rows = ImportJob.objects.for_tenant(tenant).select_related("user")
    job: ImportJob | None = rows.filter(id=job_id).first()
    if job is not None:
        job.tenant = job.user.tenant = tenant
    return job
