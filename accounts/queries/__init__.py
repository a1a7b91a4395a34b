"""Read teams: members, sessions, invitations, keys and recent changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q, Value
from django.db.models.functions import Coalesce, Lower, NullIf

from accounts.models import (
    ApiKey,
    AuditEntry,
    Invitation,
    ManagementKey,
    MemberSession,
    Membership,
    SavedView,
    Team,
)
from accounts.states import ManagementRole, Role

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Member, Tenant

# What a member can set up; recovery codes come with either.
SECOND_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def list_team_members(team: Team) -> QuerySet[Membership]:
    """Return memberships with their members, by name or address.

    `has_second_factor` says whether an authenticator app or a passkey is set up.
    """
    second_factors = Authenticator.objects.filter(
        user=OuterRef("member"), type__in=SECOND_FACTORS
    )
    return (
        Membership.objects.filter(team=team)
        .select_related("member", "team")
        .annotate(has_second_factor=Exists(second_factors))
        .order_by(Lower(Coalesce(NullIf("member__name", Value("")), "member__email")))
    )


def list_open_invitations(team: Team) -> QuerySet[Invitation]:
    """Return open invitations, newest first, expired ones too."""
    return (
        Invitation.objects.filter(team=team, accepted_at=None, revoked_at=None)
        .select_related("team", "invited_by")
        .order_by("-created_at")
    )


def list_api_keys(tenant: Tenant) -> QuerySet[ApiKey]:
    """Return an environment's keys with creators, newest first, ended ones too."""
    found: QuerySet[ApiKey] = (
        ApiKey.objects.for_tenant(tenant)
        .select_related("tenant__team", "created_by", "replaced_by")
        .order_by("-created_at")
    )
    return found


def list_management_keys(team: Team) -> QuerySet[ManagementKey]:
    """Return a team's management keys with creators, newest first, ended ones too."""
    return (
        ManagementKey.objects.filter(
            Q(teams=team) | Q(role=ManagementRole.ORG_ADMIN),
            organisation=team.organisation_id,
        )
        .select_related("created_by")
        .order_by("-created_at")
    )


def list_live_api_keys(*, tenant: Tenant, at: datetime) -> QuerySet[ApiKey]:
    """Return an environment's keys that work at this moment, newest first."""
    return list_api_keys(tenant).filter(
        Q(expires_at=None) | Q(expires_at__gt=at), revoked_at=None
    )


def list_latest_audited_changes(
    *, tenant: Tenant, verbs: tuple[str, ...], limit: int
) -> list[AuditEntry]:
    """Return the last audit entries of these operations, newest first."""
    found = AuditEntry.objects.for_tenant(tenant).filter(verb__in=verbs)
    return list(found.order_by("-at", "-pk")[:limit])


def list_restorable_teams(member: Member) -> list[Team]:
    """Return deleted teams the member owned, not yet erased, last deleted first."""
    found = Team.objects.filter(
        memberships__member=member,
        memberships__roles__contains=[Role.OWNER],
        deleted_at__isnull=False,
        erased_at=None,
    )
    return list(found.prefetch_related("tenants").order_by("-deleted_at"))


def find_team_membership(*, team: Team, member_id: UUID) -> Membership | None:
    """Return a member's membership of a team."""
    return list_team_members(team).filter(member_id=member_id).first()


def has_second_factor(member: Member) -> bool:
    """Return whether the member has a second factor."""
    return bool(
        Authenticator.objects.filter(user=member, type__in=SECOND_FACTORS).exists()
    )


def list_open_sessions(*, member: Member, at: datetime) -> QuerySet[MemberSession]:
    """Return the member's current sessions, last seen first."""
    alive = Session.objects.filter(
        session_key=OuterRef("session_key"), expire_date__gt=at
    )
    return MemberSession.objects.filter(
        Exists(alive), member=member, proof=member.get_session_auth_hash()
    ).order_by("-last_seen_at")


def list_saved_views(
    *, tenant: Tenant, member: Member, page: str
) -> QuerySet[SavedView]:
    """Return the views a member can see on a list, own and shared, by name."""
    found: QuerySet[SavedView] = (
        SavedView.objects.for_tenant(tenant)
        .filter(Q(member=member) | Q(is_shared=True), page=page)
        .select_related("member")
        .order_by(Lower("name"), "created_at")
    )
    return found
