"""Change the roles of a team's members, and remove members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Membership
from accounts.operations.audit.entries import record_team_change
from accounts.operations.members.granting import (
    check_actor_may_grant_roles,
    check_owner_remains,
    check_roles_add_no_rights,
    lock_team_membership,
    validate_roles,
)
from accounts.operations.members.invitations import revoke_invitations_beyond_roles
from accounts.states import Role
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portal.lib.actor import Actor


@transaction.atomic
def set_member_roles(
    *, membership: Membership, actor: Actor, roles: Iterable[str]
) -> Membership:
    """Set exactly these roles for a member, from the next request on.

    Invitations of theirs that they could not make now are withdrawn. Raises:
    roles_missing, role_unknown, not_allowed, owners_only, own_rights, last_owner,
    not_member.
    """
    new_roles = validate_roles(roles)
    membership = _lock_membership(membership)
    before = membership.roles
    if set(before) == set(new_roles):
        return membership
    check_actor_may_grant_roles(
        team=membership.team, actor=actor, roles={*before, *new_roles}
    )
    if _is_self(membership, actor):
        check_roles_add_no_rights(before=before, after=new_roles)
    if Role.OWNER in before and Role.OWNER not in new_roles:
        check_owner_remains(team=membership.team, without=membership)
    membership.roles = new_roles
    membership.save(update_fields=["roles"])
    _record(membership, actor, "change_roles", [before, new_roles])
    revoke_invitations_beyond_roles(
        member=membership.member,
        team=membership.team,
        actor=actor,
        still_held=new_roles,
    )
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, actor: Actor) -> None:
    """Remove a member from a team, or let them leave; keep the account.

    The door shuts with their next request, and their open invitations are withdrawn.
    Keys they made are the team's and stay. Raises: not_allowed, owners_only,
    last_owner, not_member.
    """
    membership = _lock_membership(membership)
    if not _is_self(membership, actor):
        check_actor_may_grant_roles(
            team=membership.team, actor=actor, roles=membership.roles
        )
    if Role.OWNER in membership.roles:
        check_owner_remains(team=membership.team, without=membership)
    _record(membership, actor, "remove_member", [membership.roles, None])
    revoke_invitations_beyond_roles(
        member=membership.member, team=membership.team, actor=actor, still_held=()
    )
    membership.delete()


def _lock_membership(membership: Membership) -> Membership:
    """Return the current membership, locked against other changes."""
    lock_team_membership(membership.team)
    found = (
        Membership.objects.select_related("member", "team")
        .filter(pk=membership.pk)
        .first()
    )
    if found is None:
        raise NotFound("not_member", _("This person is no longer a member."))
    return found


def _is_self(membership: Membership, actor: Actor) -> bool:
    return str(membership.member_id) == actor.key


def _record(
    membership: Membership, actor: Actor, verb: str, roles: list[list[str] | None]
) -> None:
    record_team_change(
        team=membership.team,
        actor=actor,
        verb=verb,
        subject="member",
        subject_id=membership.member_id,
        changes={"roles": roles},
    )
