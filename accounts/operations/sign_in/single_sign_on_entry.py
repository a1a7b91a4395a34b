"""Sign people in to a team with single sign-on, and link their identities.

What a provider says holds in its own team alone, and for an account that has a sign-in
of its own only once its holder has agreed: else whoever runs a provider could become
anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import (
    Invitation,
    Member,
    Membership,
    SingleSignOn,
    SingleSignOnIdentity,
)
from accounts.models.member import NAME_MAX_LENGTH
from accounts.models.sign_in import SUBJECT_MAX_LENGTH
from accounts.operations.audit.entries import record_team_change
from accounts.operations.members.granting import lock_team_membership
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.gateways.base import Claims


def find_or_create_membership_by_claims(
    *,
    single_sign_on: SingleSignOn,
    claims: Claims,
    address: str | None,
    signed_in: Member | None = None,
    is_own_session: bool = False,
) -> Membership:
    """Return the membership for verified claims, creating one if allowed.

    Who is known there by `sub` comes in. Else by their address, if the provider says
    that it is theirs, or says nothing and its domain is one of the team's: members and
    the invited, and with such a domain anybody, as the team chose. An account that has
    a password, passkey or app of its own is joined to the provider only by who has
    signed in with it. `signed_in` is who has a session here, `is_own_session` whether
    it began with a sign-in of the account's own. `address` is the client's IP address.
    Raises: other_member, account_inactive, email_missing, email_unverified,
    domain_unknown, link_first, other_address, other_identity, not_invited,
    subject_invalid. Source: Ours (specification silent).
    """
    if not 0 < len(claims.subject) <= SUBJECT_MAX_LENGTH:
        raise DomainError(
            "subject_invalid", _("The provider sent no usable account ID.")
        )
    with transaction.atomic():
        lock_team_membership(single_sign_on.team)
        now = timezone.now()
        identity = (
            SingleSignOnIdentity.objects.filter(
                single_sign_on=single_sign_on, subject=claims.subject
            )
            .select_related("membership__member", "membership__team")
            .first()
        )
        if identity is not None:
            membership = identity.membership
            identity.last_used_at = now
            identity.save(update_fields=["last_used_at"])
        else:
            membership = _link_identity(
                single_sign_on, claims, address, signed_in if is_own_session else None
            )
        if signed_in is not None and signed_in.pk != membership.member_id:
            raise DomainError(
                "other_member", _("You are signed in as someone else. Sign out first.")
            )
        if not membership.member.is_active:
            raise DomainError("account_inactive", _("This account is disabled."))
        SingleSignOn.objects.filter(pk=single_sign_on.pk).update(last_used_at=now)
    return membership


def _link_identity(
    single_sign_on: SingleSignOn,
    claims: Claims,
    address: str | None,
    holder: Member | None,
) -> Membership:
    """Link a new provider identity to an existing or new member."""
    team, email = single_sign_on.team, claims.email
    if not email:
        raise DomainError("email_missing", _("The provider sent no email address."))
    domain_is_ours = email.rpartition("@")[2] in single_sign_on.domains
    if claims.email_verified is False:
        raise DomainError(
            "email_unverified", _("Your provider has not verified your email address.")
        )
    if claims.email_verified is None and not domain_is_ours:
        raise DomainError(
            "domain_unknown", _("Email addresses of this domain are not allowed.")
        )
    if holder is not None and holder.email != email:
        raise DomainError(
            "other_address",
            _("Your email address at the provider differs from your Assay address."),
        )
    member = Member.objects.filter(email=email).first()
    if member is not None and holder is None and _has_own_sign_in(member):
        raise DomainError(
            "link_first",
            _("This address already has an Assay account. Sign in to link it."),
        )
    membership = None
    if member is not None:
        membership = (
            Membership.objects.filter(team=team, member=member)
            .select_related("member", "team")
            .first()
        )
    if membership is None:
        invitation = _open_invitation(team.pk, email)
        roles = invitation.roles if invitation else single_sign_on.roles
        if not roles or not (invitation or domain_is_ours):
            raise DomainError(
                "not_invited",
                _("You are not a member of this team and have no invitation."),
            )
        if member is None:
            # Two teams may make the same person known at once.
            member, _created = Member.objects.get_or_create(
                email=email,
                defaults={
                    "name": claims.name[:NAME_MAX_LENGTH],
                    "password": make_password(None),
                },
            )
        membership = Membership(member=member, team=team, roles=roles)
        membership.save(force_insert=True)
        if invitation is not None:
            invitation.accepted_at = timezone.now()
            invitation.save(update_fields=["accepted_at"])
        _record(membership, address, "join_by_single_sign_on", [None, roles])
    elif SingleSignOnIdentity.objects.filter(membership=membership).exists():
        raise DomainError(
            "other_identity",
            _("This account is linked to a different person at the provider."),
        )
    else:
        _record(membership, address, "link_single_sign_on", None)
    SingleSignOnIdentity.objects.create(
        single_sign_on=single_sign_on, membership=membership, subject=claims.subject
    )
    return membership


def _has_own_sign_in(member: Member) -> bool:
    return (
        member.has_usable_password()
        or Authenticator.objects.filter(user=member).exists()
    )


def _open_invitation(team_pk: UUID, email: str) -> Invitation | None:
    """Return an open invitation that has not expired."""
    return Invitation.objects.filter(
        Q(invited_by=None) | Q(invited_by__is_active=True),
        team=team_pk,
        email=email,
        accepted_at=None,
        revoked_at=None,
        expires_at__gt=timezone.now(),
    ).first()


def _record(
    membership: Membership, address: str | None, verb: str, roles: list[object] | None
) -> None:
    member = membership.member
    record_team_change(
        team=membership.team,
        actor=Actor(ActorKind.MEMBER, str(member.pk), member.email, address),
        verb=verb,
        subject="member",
        subject_id=member.pk,
        changes={"roles": roles} if roles else None,
    )
