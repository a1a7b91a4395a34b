"""Run the accounts jobs: team erasure, audit chain, notices and cleanups.

A job calls one operation.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import Team, Tenant
from accounts.operations.api_keys.assertions import delete_used_assertions
from accounts.operations.api_keys.call_limits import delete_old_rate_limit_windows
from accounts.operations.api_keys.call_log import delete_expired_api_calls
from accounts.operations.assistants import delete_old_assistant_calls
from accounts.operations.audit.chain import (
    record_audit_chain_anchors,
    seal_new_audit_entries,
)
from accounts.operations.members.invitations import delete_old_invitations
from accounts.operations.notices import (
    MAIL_JOB,
    delete_old_notices,
    enqueue_due_notice_mails,
    requeue_notices_of_refused_mail,
    send_notice_mail,
)
from accounts.operations.sign_in.sessions import delete_expired_sessions
from accounts.operations.teams.deletion import (
    ERASE_JOB,
    enqueue_due_team_erasures,
    erase_team,
)
from accounts.operations.teams.retention import apply_retention
from portal.lib.actor import Actor
from portal.lib.jobs.jobs import periodic_job, tenant_job

SWEEPS = Actor.system("accounts.sweep")


@tenant_job(ERASE_JOB)
def erase_team_data(*, tenant_pk: int, **_inputs: Any) -> None:
    """Erase the team of this tenant, with both environments, if the undo is over."""
    erase_team(team=Team.objects.get(tenants=tenant_pk), actor=SWEEPS)


@periodic_job("47 * * * *", "accounts.sweep")
def enqueue_team_erasures() -> None:
    """Once an hour, enqueue the erasure of teams that are due."""
    enqueue_due_team_erasures()


@periodic_job("53 3 * * *", "accounts.prune_calls")
def delete_old_api_calls() -> None:
    """Once a day, delete calls past the retention of the call log."""
    delete_expired_api_calls()
    delete_old_assistant_calls()


@periodic_job("23 * * * *", "accounts.forget_call_windows")
def delete_ended_rate_limit_windows() -> None:
    """Once an hour, delete rate limit windows that ended long ago."""
    delete_old_rate_limit_windows()


@periodic_job("* * * * *", "accounts.seal_audit")
def seal_audit_entries() -> None:
    """Every minute, add new audit entries to the hash chain."""
    seal_new_audit_entries()


@periodic_job("7 * * * *", "accounts.anchor_audit")
def anchor_audit_chains() -> None:
    """Once an hour, record the ends of the audit chains outside the database."""
    seal_new_audit_entries()
    record_audit_chain_anchors()


@periodic_job("23 3 * * *", "accounts.forget_sessions")
def delete_old_sessions() -> None:
    """Once a day, delete sessions that have expired."""
    delete_expired_sessions()


@periodic_job("29 3 * * *", "accounts.forget_invitations")
def delete_ended_invitations() -> None:
    """Once a day, delete invitations that ended long ago."""
    delete_old_invitations(at=timezone.now())


def _requeue_refused_mail(*, tenant_pk: int, mail_id: str) -> None:
    """Queue the notices of a mail that failed in every run again."""
    requeue_notices_of_refused_mail(
        tenant=Tenant.objects.get(pk=tenant_pk),
        mail_id=UUID(mail_id),
        at=timezone.now(),
    )


@tenant_job(MAIL_JOB, on_give_up=_requeue_refused_mail)
def mail_member_notices(*, tenant_pk: int, mail_id: str) -> None:
    """Send one mail of notices to a member."""
    send_notice_mail(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        mail_id=UUID(mail_id),
    )


@periodic_job("*/5 * * * *", "accounts.enqueue_due_mails")
def enqueue_notice_mails() -> None:
    """Every five minutes, put due notices into mails."""
    enqueue_due_notice_mails(at=timezone.now())


@periodic_job("27 3 * * *", "accounts.forget_notices")
def delete_notices_past_retention() -> None:
    """Once a day, delete notices past their retention."""
    delete_old_notices(at=timezone.now())


@periodic_job("37 * * * *", "accounts.remove_used_assertions")
def delete_expired_assertions() -> None:
    """Each hour, delete sign-in assertions that have expired."""
    delete_used_assertions()


@periodic_job("13 2 * * *", "accounts.apply_retention")
def delete_data_past_retention() -> None:
    """Once a day, delete data past its team's retention."""
    apply_retention(at=timezone.now())
