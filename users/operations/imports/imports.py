"""Imports of files: start, run and cancel them; the only writer of their status.

A file is read whole before any of it is stored, and what was read is stored part by
part, each exactly once however often a worker dies.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import emit_events
from portal.lib.actor import Actor
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotFound
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.network.scanning import require_malware_free_upload
from portal.lib.storage import open_local_copy, write_stored_file
from users.models import ImportJob
from users.models.import_job import FILE_NAME_MAX_LENGTH
from users.operations.imports.files import (
    PARTS,
    delete_import_upload,
    write_import_upload,
)
from users.operations.imports.parts import store_import_part
from users.queries import live_user, lock_user
from users.states.imports import (
    IMPORT_MOVES,
    OPEN_IMPORTS,
    DropReason,
    ImportFormat,
    ImportRefusal,
    ImportStatus,
)
from users.wearables.formats.parts import read_import_file_parts
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.sniffing import detect_file_format
from users.wearables.formats.staging import Progress, parse_file_into_parts
from users.wearables.providers import PROVIDERS
from users.wearables.readings import build_batch_parsing_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from uuid import UUID

    from users.models import User
    from users.operations.imports.files import NewUpload
    from users.wearables.formats.staging import Staged

    # Called with an import that has gone on.
    Watch = Callable[[ImportJob], None]

IMPORT_JOB = "users.import_file"
IMPORTER = Actor.system(IMPORT_JOB)
# Ours: each holds a file on disk, and a person has one export at a time.
OPEN_MAX = 3
# How often a run says how far it is.
_TOLD_EVERY_SECONDS = 1.0
# What is not stored under a source of its own: CSV, NDJSON, unknown makers of FIT.
DEFAULT_PROVIDER = "manual"


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """An uploaded file: its bytes in chunks, its name and its source.

    `provider` is the source that rows of CSV or NDJSON are stored under; other formats
    tell it themselves.
    """

    file_name: str
    chunks: Iterable[bytes]
    provider: str = DEFAULT_PROVIDER


@dataclass(frozen=True, slots=True)
class _CheckedUpload:
    """A stored file, and the format it was found to have."""

    upload: NewUpload
    format: ImportFormat


class _Stopped(Exception):
    """The import was cancelled or is run by another worker."""


def start_health_data_import(
    *, user: User, actor: Actor, request: ImportRequest
) -> ImportJob:
    """Store an uploaded file and enqueue its import, with status `waiting`.

    A file whose first bytes are not health data is refused at once and not stored.

    Raises: file_too_large (413); scanner_unavailable, storage_unavailable (503);
    file_infected, provider_unknown, too_many_imports, file_empty,
    unsupported_file_type, file_damaged, encrypted_file, archive_too_large,
    no_export_inside (400); not_found.
    Source: Ours (the specification is silent on files).
    """
    with _store_upload(request) as upload:
        job = _create_import_job(user, actor, request, upload)
        enqueue_job(
            IMPORT_JOB,
            tenant=user.tenant,
            lock=f"import:{job.id}",
            job_id=str(job.id),
        )
    return job


def create_health_data_import(
    *, user: User, actor: Actor, request: ImportRequest
) -> ImportJob:
    """Store a file whose import the caller runs, by `run_health_data_import`.

    Raises: as start_health_data_import. Source: Ours (the command of operators).
    """
    with _store_upload(request) as upload:
        return _create_import_job(user, actor, request, upload)


@contextmanager
def _store_upload(request: ImportRequest) -> Iterator[_CheckedUpload]:
    """Store a checked upload, in a transaction that its job is created in.

    The file is deleted where the job is not created.
    """
    if request.provider not in PROVIDERS:
        raise DomainError("provider_unknown", _("Unknown source."), "provider")
    with write_import_upload(request.chunks) as upload:
        require_malware_free_upload(upload.opened)
        format_ = detect_file_format(upload.path)
    is_written = False
    try:
        with transaction.atomic():
            yield _CheckedUpload(upload, format_)
            is_written = True
    except BaseException:
        # A commit that fails may have been made, and its row needs the file: if it was
        # not, the sweep removes it.
        if not is_written:
            delete_import_upload(upload.name)
        raise


def _create_import_job(
    user: User, actor: Actor, request: ImportRequest, checked: _CheckedUpload
) -> ImportJob:
    user = lock_user(user)
    _check_open(user)
    upload, format_ = checked.upload, checked.format
    job = ImportJob(
        tenant=user.tenant,
        user=user,
        file_name=_clean_file_name(request.file_name),
        format=format_,
        provider=_provider_of(format_, request.provider),
        stored_as=upload.name,
        size=upload.size,
        sha256=upload.sha256,
    )
    job.save(force_insert=True)
    _record(job, actor, "start_import", format=str(format_))
    return job


def cancel_health_data_import(*, job: ImportJob, actor: Actor) -> ImportJob:
    """Cancel an import; records stored so far are kept, the file is deleted.

    Raises: transition_not_allowed, where it has ended. Source: Ours.
    """
    with transaction.atomic():
        old = job.status
        change_import_status(
            job=job, to=ImportStatus.CANCELLED, finished_at=timezone.now()
        )
        _record(job, actor, "cancel_import", status=[old, ImportStatus.CANCELLED.value])
    return job


def run_health_data_import(
    *, tenant_pk: int, job_id: UUID, watch: Watch | None = None
) -> None:
    """Run an import from its current status to its end.

    `watch` is called with the import as it goes on, a few times a second. Safe to
    repeat and to run twice at once. Reading that was cut short starts again, storing
    goes on behind the last stored part. Source: Ours: jobs run at least once.
    """
    job = _find_job(tenant_pk, job_id)
    if job is None or not job.is_open:
        return
    try:
        if job.status != ImportStatus.STORING:
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


@transaction.atomic
def change_import_status(
    *, job: ImportJob, to: ImportStatus, **changes: object
) -> ImportJob:
    """Change an import's status and row; delete its file at the end.

    The one writer of status. Raises: transition_not_allowed. Source: Ours.
    """
    if to not in OPEN_IMPORTS:
        transaction.on_commit(partial(delete_import_upload, job.stored_as))
        changes["stored_as"] = ""
    move_status(job, moves=IMPORT_MOVES, to=to, **changes)
    return job


def _read(job: ImportJob, watch: Watch | None) -> None:
    """Parse the whole file into parts to store. Raises: _Stopped."""
    if job.status == ImportStatus.WAITING:
        change_import_status(
            job=job, to=ImportStatus.READING, started_at=timezone.now()
        )
    user = live_user(tenant=job.tenant, user_id=job.user.uuid)
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
                context=build_batch_parsing_context(
                    user=user,
                    provider=job.provider or DEFAULT_PROVIDER,
                    now=timezone.now(),
                ),
                on_progress=_ProgressWriter(job, watch),
            )
    except FileRefused as refusal:
        _fail(job, refusal.reason, to=ImportStatus.REFUSED)
        return
    found = _found(staged)
    if not staged.parts:
        _fail(job, ImportRefusal.NO_ROWS, to=ImportStatus.REFUSED, **found)
        return
    change_import_status(
        job=job,
        to=ImportStatus.STORING,
        batches=staged.parts,
        read_at=timezone.now(),
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
    }


def _store(job: ImportJob, watch: Watch | None) -> None:
    """Store the parts that are not stored yet. Raises: _Stopped."""
    with open_local_copy(job.stored_as + PARTS) as parts:
        _store_parts(job, parts, watch)
    with transaction.atomic():
        change_import_status(
            job=job, to=ImportStatus.COMPLETED, finished_at=timezone.now()
        )
        _record(job, IMPORTER, "finish_import", rows=job.rows_accepted)
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
                        "provider": job.provider,
                    },
                )
                for resource, count in sorted(job.counts.items())
                if count["created"] or count["updated"]
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
        _record(job, IMPORTER, "fail_import", failure=reason.value)


def _check_open(user: User) -> None:
    mine = ImportJob.objects.for_tenant(user.tenant).filter(user=user)
    if mine.open().count() >= OPEN_MAX:
        raise DomainError(
            "too_many_imports",
            _("Limit reached: %(limit)d imports of this user are in progress.")
            % {"limit": OPEN_MAX},
            "file",
        )


def _find_job(tenant_pk: int, job_id: UUID) -> ImportJob | None:
    tenant = Tenant.objects.select_related("team").filter(pk=tenant_pk).first()
    if tenant is None:
        return None
    rows = ImportJob.objects.for_tenant(tenant).select_related("user")
    job: ImportJob | None = rows.filter(id=job_id).first()
    if job is not None:
        job.tenant = job.user.tenant = tenant
    return job


def _clean_file_name(name: str) -> str:
    """Return the sender's file name without folders, safe to store and show."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(sign for sign in last if sign.isprintable()).strip()
    return shown[-FILE_NAME_MAX_LENGTH:] or "file"


def _provider_of(format_: ImportFormat, provider: str) -> str:
    if format_ == ImportFormat.APPLE_HEALTH:
        return "apple_health_kit"
    return "" if format_ == ImportFormat.FIT else provider


def _record(job: ImportJob, actor: Actor, verb: str, **changes: object) -> None:
    record_change(
        tenant=job.tenant,
        actor=actor,
        verb=verb,
        subject="import",
        subject_id=job.id,
        user_uuid=job.user.uuid,
        changes=changes,
    )
