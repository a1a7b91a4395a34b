"""Record where a member is signed in, and end sessions."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import MemberSession
from accounts.models.member_session import USER_AGENT_MAX_LENGTH
from accounts.operations.members.profile import record_own_change_in_team_audits
from portal.lib.actor import Actor
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Member


def record_session_activity(
    *, member: Member, session_key: str, address: str | None, user_agent: str
) -> None:
    """Record that a member's session was seen now, from this address.

    What nobody has used for as long as a session lives is forgotten on the way.
    """
    now = timezone.now()
    dead = now - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    MemberSession.objects.filter(member=member, last_seen_at__lt=dead).delete()
    MemberSession.objects.update_or_create(
        session_key=session_key,
        defaults={
            "member": member,
            "proof": member.get_session_auth_hash(),
            "address": address,
            "user_agent": user_agent[:USER_AGENT_MAX_LENGTH],
            "last_seen_at": now,
        },
    )


@transaction.atomic
def record_sign_in(*, member: Member, actor: Actor) -> None:
    """Record a sign-in in the audit of each of the member's teams.

    Source: OWASP ASVS 7.2.1; Ours: a refused one is a line of the log instead, as more
    work for a member than for nobody would tell by its time who is one.
    """
    record_own_change_in_team_audits(member=member, actor=actor, verb="sign_in")


@transaction.atomic
def record_wrong_second_factor(
    *, member: Member, address: str | None, kind: str
) -> None:
    """Record a correct password with a wrong second factor.

    Source: as record_sign_in.
    """
    record_own_change_in_team_audits(
        member=member,
        actor=replace(Actor.system("accounts.sign_in"), address=address),
        verb="refuse_second_factor",
        changes={"kind": kind},
    )


def delete_expired_sessions() -> None:
    """Delete expired sessions, Django's and the members' records.

    Source: Ours: a session that nobody ends by signing out would stay for good.
    """
    SessionStore.clear_expired()
    dead = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    MemberSession.objects.filter(last_seen_at__lt=dead).delete()


def delete_signed_out_session(*, session_key: str) -> None:
    """Delete the record of a session that ended by signing out."""
    MemberSession.objects.filter(session_key=session_key).delete()


@transaction.atomic
def end_member_session(*, member: Member, actor: Actor, session_id: UUID) -> None:
    """Sign a member out on one device, from its next request on.

    Raises: not_found, for another's session too.
    """
    session = MemberSession.objects.filter(pk=session_id, member=member).first()
    if session is None:
        raise NotFound("not_found", _("This session has ended."))
    Session.objects.filter(session_key=session.session_key).delete()
    session.delete()
    record_own_change_in_team_audits(member=member, actor=actor, verb="end_session")
