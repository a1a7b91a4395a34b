"""Background jobs of reports; each calls one operation."""

from __future__ import annotations

from uuid import UUID

from accounts.models import Tenant
from portal.lib.jobs.jobs import periodic_job, tenant_job
from reports.operations.documents.reading import (
    leave_unreadable_document,
    read_document,
)
from reports.operations.documents.receiving import READ_JOB
from reports.operations.jobs.parsing import (
    INSPECT_JOB,
    PARSE_JOB,
    fail_parsing_after_retries,
    inspect_submitted_report,
    parse_submitted_report,
)
from reports.operations.jobs.receiving import RECEIVE_JOB, receive_lab_document
from reports.operations.jobs.rereading import (
    REREAD_JOB,
    fail_rereading_after_retries,
    parse_report_again,
)
from reports.operations.mail.polling import (
    POLL_JOB,
    delete_old_mails,
    enqueue_mailbox_polls,
    poll_report_mailbox,
)
from reports.operations.reading.files import delete_orphan_report_files
from reports.operations.reading.page_images import (
    DRAW_JOB,
    render_pages_of_report_in_review,
)


def fail_parsing_after_retries_job(*, tenant_pk: int, job_id: str) -> None:
    """Fail a parsing job after all its runs failed."""
    fail_parsing_after_retries(tenant_pk=tenant_pk, job_id=UUID(job_id))


# A queue of its own, so that workers can be set aside for it.
@tenant_job(PARSE_JOB, queue="parsing", on_give_up=fail_parsing_after_retries_job)
def parse_submitted_report_job(*, tenant_pk: int, job_id: str) -> None:
    """Parse a submitted report."""
    parse_submitted_report(tenant_pk=tenant_pk, job_id=UUID(job_id))


@tenant_job(INSPECT_JOB, queue="parsing", on_give_up=fail_parsing_after_retries_job)
def inspect_submitted_report_job(*, tenant_pk: int, job_id: str) -> None:
    """Inspect whether a submitted report can be opened."""
    inspect_submitted_report(tenant_pk=tenant_pk, job_id=UUID(job_id))


def fail_rereading_after_retries_job(*, tenant_pk: int, rereading_id: int) -> None:
    """Fail a new reading after all its runs failed."""
    fail_rereading_after_retries(tenant_pk=tenant_pk, rereading_id=rereading_id)


@tenant_job(REREAD_JOB, queue="parsing", on_give_up=fail_rereading_after_retries_job)
def reread_completed_report_job(*, tenant_pk: int, rereading_id: int) -> None:
    """Parse a completed report again."""
    parse_report_again(tenant_pk=tenant_pk, rereading_id=rereading_id)


@tenant_job(DRAW_JOB, queue="parsing")
def render_report_pages_job(*, tenant_pk: int, job_id: str) -> None:
    """Render the pages of a report that is pending review."""
    render_pages_of_report_in_review(tenant_pk=tenant_pk, job_id=UUID(job_id))


@tenant_job(RECEIVE_JOB)
def receive_lab_document_job(*, tenant_pk: int, document_id: str) -> None:
    """Take a document that a lab sent as a report of its order."""
    receive_lab_document(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        document_id=UUID(document_id),
    )


@periodic_job("40 3 * * *", "reports.sweep_orphan_files")
def delete_orphan_report_files_job() -> None:
    """Delete files without a row."""
    delete_orphan_report_files()


def leave_unreadable_document_job(*, tenant_pk: int, document_id: str) -> None:
    """Leave a document to a person after all runs of its reading failed."""
    leave_unreadable_document(tenant_pk=tenant_pk, document_id=UUID(document_id))


@tenant_job(READ_JOB, queue="parsing", on_give_up=leave_unreadable_document_job)
def read_document_job(*, tenant_pk: int, document_id: str) -> None:
    """Read a document without an order and match it."""
    read_document(tenant_pk=tenant_pk, document_id=UUID(document_id))


@tenant_job(POLL_JOB)
def poll_mailbox_job(*, tenant_pk: int) -> None:
    """Poll a team's mailbox."""
    poll_report_mailbox(tenant=Tenant.objects.select_related("team").get(pk=tenant_pk))


@periodic_job("*/2 * * * *", "reports.poll_mailboxes")
def poll_mailboxes_job() -> None:
    """Poll all mailboxes."""
    enqueue_mailbox_polls()


@periodic_job("50 3 * * *", "reports.mail_cleanup")
def delete_old_mails_job() -> None:
    """Delete what is known of old mails."""
    delete_old_mails()
