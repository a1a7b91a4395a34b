"""Submission of files: check an upload, store it and create its import.

A file whose first bytes are not health data is refused here and not stored.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.network.scanning import require_malware_free_upload
from users.models import ImportJob
from users.models.import_job import FILE_NAME_MAX_LENGTH
from users.operations.imports.files import delete_import_upload, write_import_upload
from users.operations.imports.runs import DEFAULT_PROVIDER, IMPORT_JOB
from users.operations.imports.status import change_import_status, record_import_change
from users.queries import lock_user
from users.states.imports import ImportFormat, ImportStatus
from users.wearables.formats.sniffing import detect_file_format
from users.wearables.formats.vendors import PROVIDERS as PROVIDERS_OF_FORMATS
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portal.lib.actor import Actor
    from users.models import User
    from users.operations.imports.files import NewUpload


# Ours: each holds a file on disk, and a person has one export at a time.
OPEN_MAX = 3


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


def start_health_data_import(
    *,
    user: User,
    actor: Actor,
    request: ImportRequest,
    needs_confirmation: bool = False,
) -> ImportJob:
    """Store an uploaded file and enqueue its import, with status `waiting`.

    A file whose first bytes are not health data is refused at once and not stored. With
    `needs_confirmation`, the import stops at its plan, see confirm_health_data_import.

    Raises: file_too_large (413); scanner_unavailable, storage_unavailable (503);
    file_infected, provider_unknown, too_many_imports, file_empty,
    unsupported_file_type, file_damaged, encrypted_file, archive_too_large,
    no_export_inside (400); not_found.
    Source: Ours (the specification is silent on files).
    """
    with _store_upload(request) as upload:
        job = _create_import_job(
            user, actor, request, upload, needs_confirmation=needs_confirmation
        )
        _enqueue(job)
    return job


@transaction.atomic
def confirm_health_data_import(*, job: ImportJob, actor: Actor) -> ImportJob:
    """Store what the plan of a read import says: enqueue its run again.

    Raises: transition_not_allowed, unless its status is `ready`. Source: Ours.
    """
    change_import_status(job=job, to=ImportStatus.STORING)
    record_import_change(job, actor, "confirm_import")
    _enqueue(job)
    return job


def _enqueue(job: ImportJob) -> None:
    enqueue_job(
        IMPORT_JOB, tenant=job.tenant, lock=f"import:{job.id}", job_id=str(job.id)
    )


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
        format_ = detect_file_format(upload.path, request.file_name)
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
    user: User,
    actor: Actor,
    request: ImportRequest,
    checked: _CheckedUpload,
    *,
    needs_confirmation: bool = False,
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
        needs_confirmation=needs_confirmation,
    )
    job.save(force_insert=True)
    record_import_change(job, actor, "start_import", format=str(format_))
    return job


def _check_open(user: User) -> None:
    mine = ImportJob.objects.for_tenant(user.tenant).filter(user=user)
    if mine.open().count() >= OPEN_MAX:
        raise DomainError(
            "too_many_imports",
            _("Limit reached: %(limit)d imports of this user are in progress.")
            % {"limit": OPEN_MAX},
            "file",
        )


def _clean_file_name(name: str) -> str:
    """Return the sender's file name without folders, safe to store and show."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(sign for sign in last if sign.isprintable()).strip()
    return shown[-FILE_NAME_MAX_LENGTH:] or "file"


def _provider_of(format_: ImportFormat, provider: str) -> str:
    if format_ == ImportFormat.APPLE_HEALTH:
        return "apple_health_kit"
    return PROVIDERS_OF_FORMATS.get(format_) or provider
