"""Rules for granting roles, which every change of members obeys.

Source: Ours (specification silent): a team always has an owner, owners alone make and
unmake owners, and nobody raises their own rights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.models import ManagementKey, Membership, Team
from accounts.states import (
    Area,
    Environment,
    ManagementRole,
    Role,
    list_rights_of_roles,
    roles_allow_access,
)
from portal.lib.actor import ActorKind
from portal.lib.errors import DomainError, NotAllowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portal.lib.actor import Actor


def lock_team_membership(team: Team) -> None:
    """Lock a team's membership until this transaction ends.

    Every change of members and invitations takes this lock first and reads after it,
    so that two of them cannot both rest on what the other takes away.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def may_grant_roles(held: Iterable[str], roles: Iterable[str]) -> bool:
    """Return whether a member with `held` roles may grant or take these roles.

    Source: Ours, as above.
    """
    held = set(held)
    if Role.OWNER in roles and Role.OWNER not in held:
        return False
    return roles_allow_access(
        roles=held, area=Area.TEAM, write=True, environment=Environment.PRODUCTION
    )


def check_actor_may_grant_roles(
    *, team: Team, actor: Actor, roles: Iterable[str]
) -> None:
    """Refuse an actor who may not grant or take these roles in this team.

    Raises: not_allowed, owners_only.
    """
    held = find_roles_of_actor(team=team, actor=actor)
    if not may_grant_roles(held, ()):
        raise NotAllowed(
            "not_allowed", _("Only owners and admins of the team can do this.")
        )
    if not may_grant_roles(held, roles):
        raise NotAllowed("owners_only", _("Only owners can add or remove owners."))


def check_roles_add_no_rights(*, before: Iterable[str], after: Iterable[str]) -> None:
    """Refuse roles that add rights for their holder. Raises: own_rights."""
    if not list_rights_of_roles(after) <= list_rights_of_roles(before):
        raise NotAllowed(
            "own_rights",
            _("You cannot extend your own permissions. Ask another owner or admin."),
        )


def check_owner_remains(*, team: Team, without: Membership) -> None:
    """Refuse to leave a team without an owner. Raises: last_owner."""
    others = Membership.objects.filter(
        team=team, roles__contains=[Role.OWNER], member__is_active=True
    ).exclude(pk=without.pk)
    if not others.exists():
        raise DomainError(
            "last_owner", _("A team needs at least one owner. Add another owner first.")
        )


def validate_roles(roles: Iterable[str]) -> list[str]:
    """Return roles in order, each once. Raises: roles_missing, role_unknown."""
    chosen = set(roles)
    if not chosen:
        raise DomainError("roles_missing", _("Select at least one role."), "roles")
    if chosen - set(Role.values):
        raise DomainError(
            "role_unknown",
            _("Unknown role. Choose from: %(roles)s.")
            % {"roles": ", ".join(Role.values)},
            "roles",
        )
    return [role.value for role in Role if role in chosen]


def find_roles_of_actor(*, team: Team, actor: Actor) -> frozenset[str]:
    """Return an actor's roles in a team; the system has all.

    A live management key that manages the team is an admin there, no owner: admins make
    such keys. Source: Ours.
    """
    match actor.kind:
        case ActorKind.SYSTEM:
            return frozenset(Role.values)
        case ActorKind.MEMBER:
            held = Membership.objects.filter(team=team, member_id=actor.key)
            return frozenset(held.values_list("roles", flat=True).first() or ())
        case ActorKind.MANAGEMENT_KEY:
            keys = ManagementKey.objects.filter(
                Q(role=ManagementRole.ORG_ADMIN) | Q(teams=team),
                pk=actor.key,
                organisation=team.organisation_id,
                revoked_at=None,
            )
            return frozenset({Role.ADMIN.value} if keys.exists() else ())
        case _:
            return frozenset()
