"""Jobs of the accounts app: erasing deleted teams, the audit's chain, mail to members.

A job calls one operation. Must not be here: what the operations do.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import Team, Tenant
from accounts.operations.api_calls import prune_calls
from accounts.operations.audit_chain import anchor_audit, seal_audit
from accounts.operations.call_limits import forget_old_windows
from accounts.operations.invitations import forget_invitations
from accounts.operations.notices import (
    MAIL_JOB,
    enqueue_due_mails,
    forget_notices,
    give_up_mail,
    mail_notices,
)
from accounts.operations.retention import apply_retention
from accounts.operations.sessions import forget_dead_sessions
from accounts.operations.team_deletion import (
    ERASE_JOB,
    enqueue_due_team_erasures,
    erase_team,
)
from portal.lib.actor import Actor
from portal.lib.jobs import job, periodic

SWEEPS = Actor.system("accounts.sweep")


@job(ERASE_JOB)
def erase(*, tenant_pk: int, **_inputs: Any) -> None:
    """Erase the team of this tenant, with both environments, if the undo is over."""
    erase_team(team=Team.objects.get(tenants=tenant_pk), actor=SWEEPS)


@periodic("47 * * * *", "accounts.sweep")
def sweep() -> None:
    """Once an hour, find teams that are due."""
    enqueue_due_team_erasures()


@periodic("53 3 * * *", "accounts.prune_calls")
def prune_log_of_calls() -> None:
    """Once a day, delete calls that were kept long enough."""
    prune_calls()


@periodic("23 * * * *", "accounts.forget_call_windows")
def forget_windows() -> None:
    """Once an hour, forget who made calls long ago."""
    forget_old_windows()


@periodic("* * * * *", "accounts.seal_audit")
def seal() -> None:
    """Every minute, chain what was added to the audit."""
    seal_audit()


@periodic("7 * * * *", "accounts.anchor_audit")
def anchor() -> None:
    """Once an hour, write down where the chains of the audit end."""
    seal_audit()
    anchor_audit()


@periodic("23 3 * * *", "accounts.forget_sessions")
def forget_sessions() -> None:
    """Once a day, delete sessions that have expired."""
    forget_dead_sessions()


@periodic("29 3 * * *", "accounts.forget_invitations")
def forget_old_invitations() -> None:
    """Once a day, delete invitations that ended long ago."""
    forget_invitations(at=timezone.now())


def _put_back(*, tenant_pk: int, mail_id: str) -> None:
    """Let notices of a mail that was refused in every run wait for another."""
    give_up_mail(
        tenant=Tenant.objects.get(pk=tenant_pk),
        mail_id=UUID(mail_id),
        at=timezone.now(),
    )


@job(MAIL_JOB, on_give_up=_put_back)
def mail_member(*, tenant_pk: int, mail_id: str) -> None:
    """Mail a member what waits for them."""
    mail_notices(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        mail_id=UUID(mail_id),
    )


@periodic("*/5 * * * *", "accounts.enqueue_due_mails")
def mail_members() -> None:
    """Every five minutes, put what is due into mails."""
    enqueue_due_mails(at=timezone.now())


@periodic("27 3 * * *", "accounts.forget_notices")
def forget_old_notices() -> None:
    """Once a day, delete what was told long ago."""
    forget_notices(at=timezone.now())


@periodic("13 2 * * *", "accounts.apply_retention")
def remove_old_data() -> None:
    """Once a day, remove what teams have kept for as long as they said."""
    apply_retention(at=timezone.now())
