"""Where a member is signed in: noted, and ended one by one.

Must not be here: ending all of them at once (accounts.operations.profile).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from accounts.models import MemberSession
from accounts.models.member_session import USER_AGENT_MAX_LENGTH
from accounts.operations.profile import tell_teams
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Member
    from portal.lib.actor import Actor


def note_session(
    *, member: Member, session_key: str, address: str | None, user_agent: str
) -> None:
    """Write down that a session of the member was seen now, from there.

    What nobody has used for as long as a session lives is forgotten on the way. Source:
    Ours: no audit line; the audit tells what was done, not each sign-in.
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


def forget_dead_sessions() -> None:
    """Delete what has expired: Django's sessions, and where members were signed in.

    Source: Ours: a session that nobody ends by signing out would stay for good.
    """
    SessionStore.clear_expired()
    dead = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    MemberSession.objects.filter(last_seen_at__lt=dead).delete()


def forget_session(*, session_key: str) -> None:
    """Forget a session that its member has ended by signing out."""
    MemberSession.objects.filter(session_key=session_key).delete()


@transaction.atomic
def end_session(*, member: Member, actor: Actor, session_id: UUID) -> None:
    """Sign a member out on one device, from its next request on.

    Raises: not_found, for another's session too.
    """
    session = MemberSession.objects.filter(pk=session_id, member=member).first()
    if session is None:
        raise NotFound("not_found", "No such session.")
    Session.objects.filter(session_key=session.session_key).delete()
    session.delete()
    tell_teams(member=member, actor=actor, verb="end_session")
