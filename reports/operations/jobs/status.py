"""Status of parsing jobs: the only writer of it.

Each change records its transition, and sends an event where the contract names one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import UserRef, emit_event
from portal.lib.database.transitions import move_status
from reports.models import ParsingJob, ParsingJobTransition, ReportResult
from reports.payloads import build_parsing_job_payload
from reports.states import JOB_MOVES, ParsingJobStatus, UnreadScript

if TYPE_CHECKING:
    from portal.lib.actor import Actor
    from reports.parser.report import FailureReason, Script


EMITTED = frozenset(
    {
        ParsingJobStatus.COMPLETED,
        ParsingJobStatus.FAILED,
        ParsingJobStatus.PENDING_REVIEW,
    }
)  # Contract 7.5


@transaction.atomic
def mark_parsing_job_started(*, job: ParsingJob, actor: Actor) -> ParsingJob:
    """Mark a job as started. Raises: transition_not_allowed."""
    return change_status_and_audit(
        job, ParsingJobStatus.STARTED, actor, verb="start_parsing"
    )


@transaction.atomic
def mark_parsing_job_failed(
    *,
    job: ParsingJob,
    actor: Actor,
    reason: FailureReason,
    why: str = "",
    script: Script | None = None,
) -> ParsingJob:
    """Fail a job and delete the values that were pending review.

    why may be empty. script: the one that could not be read; the history names it too.

    Raises: transition_not_allowed. Source: Contract 7.2, 7.3.
    """
    ReportResult.objects.for_tenant(job.tenant).filter(job=job).delete()
    return change_status_and_audit(
        job,
        ParsingJobStatus.FAILED,
        actor,
        verb="fail_parsing",
        why=why or script or reason,
        failure_reason=reason,
        unread_script=UnreadScript.known(script or "") or "",
        metadata=None,
        notes=None,
        unread=None,
        hold_reasons=[],
        finished_at=timezone.now(),
    )


@transaction.atomic
def change_parsing_job_status(
    *,
    job: ParsingJob,
    to: ParsingJobStatus,
    actor: Actor,
    why: str = "",
    **changes: object,
) -> ParsingJob:
    """Change a job's status and columns, record the transition and send the event.

    The one writer of status. Raises: transition_not_allowed. Source: Contract 7.3, 7.5.
    """
    old = job.status
    move_status(job, moves=JOB_MOVES, to=to, **changes)
    ParsingJobTransition(
        tenant=job.tenant,
        job=job,
        old=old,
        new=to,
        actor_kind=actor.kind,
        actor_key=actor.key,
        actor_label=actor.label,
        why=why,
    ).save(force_insert=True)
    if to in EMITTED:
        send_parsing_job_event(job, "updated")
    return job


def change_status_and_audit(
    job: ParsingJob,
    to: ParsingJobStatus,
    actor: Actor,
    *,
    verb: str,
    why: str = "",
    **changes: object,
) -> ParsingJob:
    """Change the status for an operation, and audit it under the operation's name."""
    old = job.status
    change_parsing_job_status(job=job, to=to, actor=actor, why=why, **changes)
    record_change(
        tenant=job.tenant,
        actor=actor,
        verb=verb,
        subject="parsing_job",
        subject_id=job.id,
        user_uuid=job.user.uuid,
        changes={"status": [old, to]},
    )
    return job


def send_parsing_job_event(job: ParsingJob, change: str) -> None:
    """Send the job's event. Source: Contract 7.5."""
    emit_event(
        tenant=job.tenant,
        user=UserRef(user_uuid=job.user.uuid, client_user_id=job.user.client_user_id),
        event_type=f"lab_report.parsing_job.{change}",
        data=build_parsing_job_payload(job),
    )
