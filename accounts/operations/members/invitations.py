"""Invite addresses to a team by a mailed link, and accept the invitations.

The link's token is known twice, when it is made and when it is used; between the two
only its digest is kept.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from datetime import timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from accounts.models import Invitation, Member, Membership
from accounts.models.member import EMAIL_MAX_LENGTH
from accounts.operations.audit.entries import record_team_change
from accounts.operations.members.granting import (
    check_actor_may_grant_roles,
    lock_team_membership,
    may_grant_roles,
    validate_roles,
)
from accounts.operations.members.invitation_mails import compose_invitation
from accounts.operations.members.passwords import check_password_strength
from accounts.operations.members.profile import validate_member_name
from accounts.queries.languages import get_mail_language
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Team

INVITATION_TTL = timedelta(days=7)
INVITATION_RETENTION = timedelta(days=90)
# Open at once, for one team: mail in our name is not to be had without end.
MAX_OPEN = 100
_log = logging.getLogger(__name__)


@transaction.atomic
def invite_member(
    *, team: Team, actor: Actor, email: str, roles: Iterable[str]
) -> tuple[Invitation, str]:
    """Invite an address to a team; return the invitation and its token.

    An address that is invited already gets these roles and a new link; the old link
    ends. Raises: email_invalid, roles_missing, role_unknown, already_member,
    invitation_limit, not_allowed, owners_only. Source: Contract 9.1 (invite_resent);
    Ours: 7 days, as the specification is silent.
    """
    token = secrets.token_urlsafe(32)
    invitation, _ = create_or_renew_invitation(
        team=team,
        actor=actor,
        email=normalize_email_address(email),
        roles=roles,
        token=token,
    )
    return invitation, token


def create_or_renew_invitation(
    *,
    team: Team,
    actor: Actor,
    email: str,
    roles: Iterable[str],
    token: str,
    batch: UUID | None = None,
) -> tuple[Invitation, bool]:
    """Invite a checked address with this token; return if it already was.

    In the caller's transaction. Invitations of one `batch` are those of one link.
    Raises: as invite_member.
    """
    granted_roles = validate_roles(roles)
    lock_team_membership(team)
    check_actor_may_grant_roles(team=team, actor=actor, roles=granted_roles)
    if Membership.objects.filter(team=team, member__email=email).exists():
        raise DomainError(
            "already_member", _("This person is already a member."), "email"
        )
    open_ones = _find_open(team)
    invitation = open_ones.filter(email=email).first()
    if invitation is not None:
        check_actor_may_grant_roles(team=team, actor=actor, roles=invitation.roles)
        return _renew(invitation, actor, granted_roles, token, batch), True
    if open_ones.count() >= MAX_OPEN:
        raise DomainError(
            "invitation_limit",
            _("The team already has %(most)d open invitations. Withdraw one first.")
            % {"most": MAX_OPEN},
        )
    invitation = Invitation(
        team=team,
        email=email,
        roles=granted_roles,
        digest=_hash_token(token),
        batch=batch,
        invited_by_id=_member_id_of_actor(actor),
        expires_at=timezone.now() + INVITATION_TTL,
    )
    invitation.save(force_insert=True)
    _record(
        invitation,
        actor,
        "invite_member",
        {"email": [None, email], "roles": [None, granted_roles]},
    )
    return invitation, False


def normalize_email_address(email: str) -> str:
    """Return a normalized email address. Raises: email_invalid."""
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError:
        raise _invalid_address_error() from None
    if len(email) > EMAIL_MAX_LENGTH:
        raise _invalid_address_error()
    return email


@transaction.atomic
def resend_invitation(
    *, invitation: Invitation, actor: Actor
) -> tuple[Invitation, str]:
    """Renew an open invitation's token for 7 days; the old link ends.

    Raises: invitation_dead, not_allowed, owners_only.
    """
    lock_team_membership(invitation.team)
    invitation = _lock_open(invitation)
    check_actor_may_grant_roles(
        team=invitation.team, actor=actor, roles=invitation.roles
    )
    token = secrets.token_urlsafe(32)
    return _renew(invitation, actor, invitation.roles, token), token


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, actor: Actor) -> Invitation:
    """Withdraw an open invitation, so that its link stops working.

    Raises: invitation_dead, not_allowed, owners_only.
    """
    lock_team_membership(invitation.team)
    invitation = _lock_open(invitation)
    check_actor_may_grant_roles(
        team=invitation.team, actor=actor, roles=invitation.roles
    )
    return _revoke(invitation, actor)


def revoke_invitations_beyond_roles(
    *, member: Member, team: Team, actor: Actor, still_held: Iterable[str]
) -> None:
    """Withdraw a member's invitations that `still_held` roles do not allow.

    In the caller's transaction and lock. Source: Ours: a link that somebody kept must
    not bring them back.
    """
    held = set(still_held)
    for invitation in _find_open(team).filter(invited_by=member):
        if not may_grant_roles(held, invitation.roles):
            _revoke(invitation, actor)


def find_invitation(token: str) -> Invitation | None:
    """Return the open invitation of a token; None for any other text.

    That of a member who may sign in no more opens nothing. The look-up is by digest:
    its time tells nothing of a token's text.
    """
    invitation = _find_by_token(token).first()
    if invitation is None:
        return None
    inviter = invitation.invited_by
    if inviter is not None and not inviter.is_active:
        return None
    return None if invitation.is_expired(timezone.now()) else invitation


@transaction.atomic
def accept_invitation(*, token: str, member: Member, actor: Actor) -> Membership:
    """Join the link's teams as the invited member.

    Raises: invitation_dead, other_address, already_member.
    """
    invitations = _lock_by_token(token)
    if member.email != invitations[0].email:
        raise DomainError("other_address", _("This invitation is for another address."))
    return _join_teams(invitations, member, actor)


@transaction.atomic
def accept_invitation_as_new_member(
    *, token: str, name: str, password: str, address: str | None, proof: str = ""
) -> Membership:
    """Create an account for the invited address and join the team.

    `address` is the client's IP address; `proof` is what the mailed link has more than
    the shown one: with it the address is confirmed as well. Raises: invitation_dead,
    account_exists (who has an account signs in: a link is no proof of being its
    holder), name_missing, name_too_long, password_weak.
    """
    invitations = _lock_by_token(token)
    name = validate_member_name(name)
    email = invitations[0].email
    newcomer = Member(email=email, name=name)
    is_mailed = constant_time_compare(proof, _sign_token(token))
    check_password_strength(password, member=newcomer, field="password")
    try:
        with transaction.atomic():
            member = Member.objects.create_user(
                email=email,
                password=password,
                name=name,
                email_confirmed_at=timezone.now() if is_mailed else None,
            )
    except IntegrityError:
        raise DomainError("account_exists", _("Sign in to join.")) from None
    actor = Actor(ActorKind.MEMBER, str(member.pk), member.email, address)
    return _join_teams(invitations, member, actor)


def build_invitation_link(token: str) -> str:
    """Return the absolute URL for accepting, shown to the inviter.

    Where no mail is sent it is the mailed one: then nobody but the inviter can vouch
    for an address. Source: Ours.
    """
    if not settings.EMAIL_URL:
        return build_mailed_invitation_link(token)
    return build_absolute_url(reverse("invitation_link", args=[token]))


def build_mailed_invitation_link(token: str) -> str:
    """Return the URL sent by mail, which also proves the address.

    Source: Ours: whoever invites sees the other link, and must not make an account in
    another's name.
    """
    path = reverse("mailed_invitation_link", args=[token, _sign_token(token)])
    return build_absolute_url(path)


def describe_inviting_team(invitation: Invitation) -> str:
    """Return the team's name, or the organization's if there are several."""
    if invitation.batch is None:
        return invitation.team.name
    return invitation.team.organisation.name


def mail_invitation(*, invitation: Invitation, token: str) -> bool:
    """Email the link, after the transaction; False if the server refused.

    Source: Ours: no job, as its inputs would keep the token.
    """
    invited = Member.objects.filter(email=invitation.email).first()
    # Who has no account yet reads it as the member who invites them reads the page.
    language = get_mail_language(invited) if invited else translation.get_language()
    mail = compose_invitation(
        invitation=invitation,
        link=build_mailed_invitation_link(token),
        place=describe_inviting_team(invitation),
        language=language or settings.LANGUAGE_CODE,
    )
    try:
        mail.address(invitation.email).send()
    except (OSError, SMTPException):
        _log.warning("mail of invitation %s could not be sent", invitation.pk)
        return False
    return True


def _find_open(team: Team) -> QuerySet[Invitation]:
    return Invitation.objects.filter(team=team, accepted_at=None, revoked_at=None)


def _lock_open(invitation: Invitation) -> Invitation:
    found = _find_open(invitation.team).filter(pk=invitation.pk).first()
    if found is None:
        raise _expired_invitation_error()
    return found


def _find_by_token(token: str) -> QuerySet[Invitation]:
    """Return a token's open invitations to teams that are not deleted."""
    found = Invitation.objects.select_related("team", "invited_by").filter(
        digest=_hash_token(token),
        accepted_at=None,
        revoked_at=None,
        team__deleted_at=None,
    )
    return found.order_by("created_at", "pk")


def _lock_by_token(token: str) -> list[Invitation]:
    """Return a token's invitations, with their teams locked."""
    if find_invitation(token) is None:
        raise _expired_invitation_error()
    for invitation in sorted(_find_by_token(token), key=lambda each: each.team_id):
        lock_team_membership(invitation.team)
    # Another may have used it meanwhile.
    if find_invitation(token) is None:
        raise _expired_invitation_error()
    return list(_find_by_token(token))


def _join_teams(
    invitations: list[Invitation], member: Member, actor: Actor
) -> Membership:
    """Join each team the member is not in; return the first membership."""
    teams = [each.team_id for each in invitations]
    held = Membership.objects.filter(team__in=teams, member=member)
    known = set(held.values_list("team_id", flat=True))
    joined = [
        _join_team(invitation, member, actor)
        for invitation in invitations
        if invitation.team_id not in known
    ]
    if not joined:
        raise DomainError("already_member", _("You are already a member of this team."))
    return joined[0]


def _join_team(invitation: Invitation, member: Member, actor: Actor) -> Membership:
    membership = Membership(member=member, team=invitation.team, roles=invitation.roles)
    membership.save(force_insert=True)
    invitation.accepted_at = timezone.now()
    invitation.save(update_fields=["accepted_at"])
    record_team_change(
        team=invitation.team,
        actor=actor,
        verb="accept_invitation",
        subject="member",
        subject_id=member.pk,
        changes={"roles": [None, membership.roles]},
    )
    return membership


def _renew(
    invitation: Invitation,
    actor: Actor,
    roles: list[str],
    token: str,
    batch: UUID | None = None,
) -> Invitation:
    now = timezone.now()
    before, invitation.roles = invitation.roles, roles
    invitation.digest = _hash_token(token)
    invitation.batch = batch
    invitation.invited_by_id = _member_id_of_actor(actor)
    invitation.resent_at = now
    invitation.expires_at = now + INVITATION_TTL
    invitation.save(
        update_fields=[
            "roles",
            "digest",
            "batch",
            "invited_by",
            "resent_at",
            "expires_at",
        ]
    )
    changes = {} if before == roles else {"roles": [before, roles]}
    _record(invitation, actor, "resend_invitation", changes)
    return invitation


def _revoke(invitation: Invitation, actor: Actor) -> Invitation:
    invitation.revoked_at = timezone.now()
    invitation.save(update_fields=["revoked_at"])
    _record(invitation, actor, "revoke_invitation", {})
    return invitation


def delete_old_invitations(*, at: datetime) -> int:
    """Delete invitations that ended INVITATION_RETENTION ago; return how many.

    Over all teams. What became of them stays in the audit. Source: Ours: the address of
    somebody who never came is nobody's to keep.
    """
    old = Invitation.objects.filter(expires_at__lt=at - INVITATION_RETENTION)
    return old.delete()[0]


def _record(
    invitation: Invitation, actor: Actor, verb: str, changes: Mapping[str, object]
) -> None:
    record_team_change(
        team=invitation.team,
        actor=actor,
        verb=verb,
        subject="invitation",
        subject_id=invitation.pk,
        changes=changes,
    )


def _invalid_address_error() -> DomainError:
    return DomainError("email_invalid", _("Enter a valid email address."), "email")


def _expired_invitation_error() -> DomainError:
    return DomainError(
        "invitation_dead",
        _("This invitation was used, withdrawn or is older than 7 days."),
    )


def _sign_token(token: str) -> str:
    made = salted_hmac("accounts.invitation.mailed", token, algorithm="sha256")
    return made.hexdigest()


def _hash_token(token: str) -> bytes:
    # 256 random bits: no salt or stretching helps.
    return hashlib.sha256(token.encode()).digest()


def _member_id_of_actor(actor: Actor) -> str | None:
    return actor.key if actor.kind == ActorKind.MEMBER else None
