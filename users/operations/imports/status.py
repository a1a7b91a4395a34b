"""Status of imports: the only writer of it, and what the audit records of it.

The file of an import that ends is deleted when the transaction commits.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.actor import Actor
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError
from portal.lib.tenancy import acting_for
from users.models import ImportJob
from users.operations.imports.files import delete_import_upload
from users.states.imports import (
    IMPORT_MOVES,
    OPEN_IMPORTS,
    ImportRefusal,
    ImportStatus,
)
from users.wearables.formats.refusals import explain_import_refusal

SWEEPER = Actor.system("users.sweep_orphan_imports")
# Ours: long enough to come back to a page, short for a file that nobody wants.
CONFIRM_WITHIN = timedelta(days=1)


def cancel_health_data_import(*, job: ImportJob, actor: Actor) -> ImportJob:
    """Cancel an import; records stored so far are kept, the file is deleted.

    Raises: transition_not_allowed, where it has ended. Source: Ours.
    """
    with transaction.atomic():
        old = job.status
        change_import_status(
            job=job, to=ImportStatus.CANCELLED, finished_at=timezone.now()
        )
        record_import_change(
            job, actor, "cancel_import", status=[old, ImportStatus.CANCELLED.value]
        )
    return job


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


def explain_refused_import(job: ImportJob) -> str:
    """Return why the file was refused and what it was recognized as, for people."""
    said = explain_import_refusal(ImportRefusal.known(job.failure), job.recognized_as)
    if job.recognized_as:
        return said
    recognized = _("Recognized as: %(format)s.") % {"format": job.get_format_display()}
    return f"{said} {recognized}"


def cancel_unconfirmed_imports() -> int:
    """Cancel imports whose plan no member confirmed in a day; return how many.

    Works over all tenants. Source: Ours: their files are health data without a use.
    """
    old = ImportJob.unscoped.filter(
        status=ImportStatus.READY, read_at__lt=timezone.now() - CONFIRM_WITHIN
    )
    jobs = list(old.select_related("tenant__team", "user"))
    for job in jobs:
        job.user.tenant = job.tenant
        with acting_for(job.tenant), suppress(DomainError):  # it has just gone on
            cancel_health_data_import(job=job, actor=SWEEPER)
    return len(jobs)


def record_import_change(
    job: ImportJob, actor: Actor, verb: str, **changes: object
) -> None:
    """Record an operation on an import in the audit."""
    record_change(
        tenant=job.tenant,
        actor=actor,
        verb=verb,
        subject="import",
        subject_id=job.id,
        user_uuid=job.user.uuid,
        changes=changes,
    )
