"""Receive documents without an order, by mail or from staff, and enqueue their reading.

What can be refused is refused before anything is stored, as of uploads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from portal.lib.errors import DomainError
from portal.lib.jobs.jobs import enqueue_job
from reports.models import UnmatchedDocument
from reports.operations.jobs.submission import (
    MAX_BYTES,
    MAX_PARTS,
    ReportPart,
    build_upload_too_large_error,
    check_and_store_files,
    require_report_parsing_enabled,
)
from reports.operations.reading.files import delete_stored_report_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portal.lib.actor import Actor
    from reports.models import ReceivedMail, ReportFile

READ_JOB = "reports.read_document"


def receive_document(
    *, tenant: Tenant, actor: Actor, part: ReportPart
) -> UnmatchedDocument:
    """Receive a document of which nobody says the order; the same again is the first.

    Raises: as check_documents.
    """
    files = check_documents(tenant=tenant, parts=(part,))
    try:
        with transaction.atomic():
            (document,) = store_documents(tenant=tenant, actor=actor, files=files)
    except BaseException:
        delete_stored_report_files([file.stored_as for file in files])
        raise
    return document


def check_documents(*, tenant: Tenant, parts: Sequence[ReportPart]) -> list[ReportFile]:
    """Check and store files, each a document of its own; return unsaved rows of them.

    All or none are stored. Raises: parsing_not_enabled (403); as submit_report of
    files.
    """
    require_report_parsing_enabled(tenant)
    if len(parts) > MAX_PARTS:
        raise DomainError(
            "too_many_files",
            _("Send at most %(n)d files at once.") % {"n": MAX_PARTS},
            "file",
        )
    if sum(len(part.content) for part in parts) > MAX_BYTES:
        raise build_upload_too_large_error()
    stored: list[ReportFile] = []
    try:
        for part in parts:
            files, _is_inspected = check_and_store_files(tenant=tenant, parts=(part,))
            stored += files
    except BaseException:
        delete_stored_report_files([file.stored_as for file in stored])
        raise
    return stored


def store_documents(
    *,
    tenant: Tenant,
    actor: Actor,
    files: Sequence[ReportFile],
    mail: ReceivedMail | None = None,
) -> list[UnmatchedDocument]:
    """Store documents of checked files, in the caller's transaction.

    One that the team has already is that one, whatever became of it: its new file is
    deleted on commit. Source: Ours: a document is one, by mail and by hand.
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    documents = []
    for file in files:
        known = _find_document(tenant, file.sha256)
        if known is not None:
            _delete_on_commit(file.stored_as)
            documents.append(known)
            continue
        document = UnmatchedDocument(
            tenant=tenant,
            mail=mail,
            stored_as=file.stored_as,
            content_type=file.content_type,
            size=file.size,
            sha256=file.sha256,
            source_key=f"{actor.kind} {actor.key}",
            source_label=actor.label,
        )
        document.save(force_insert=True)
        record_change(
            tenant=tenant,
            actor=actor,
            verb="receive_document",
            subject="unmatched_document",
            subject_id=document.pk,
        )
        enqueue_job(
            READ_JOB,
            tenant=tenant,
            lock=f"unmatched_document:{document.pk}",
            document_id=str(document.pk),
        )
        documents.append(document)
    return documents


def _find_document(tenant: Tenant, digest: str) -> UnmatchedDocument | None:
    rows = UnmatchedDocument.objects.for_tenant(tenant)
    found: UnmatchedDocument | None = rows.filter(sha256=digest).first()
    if found is not None:
        found.tenant = tenant
    return found


def _delete_on_commit(name: str) -> None:
    transaction.on_commit(lambda: delete_stored_report_files([name]))
