"""Set the teams a member administers, and remove members from several teams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from accounts.models import Membership
from accounts.operations.members.members import remove_member, set_member_roles
from accounts.operations.teams.teams import add_team_member
from accounts.states import ADMINISTERS, Role

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from accounts.models import Member, Team
    from portal.lib.actor import Actor


@transaction.atomic
def set_administered_teams(
    *, member: Member, actor: Actor, among: Sequence[Team], teams: Collection[Team]
) -> None:
    """Let a member administer exactly these teams of those `among`.

    Elsewhere among them they keep their other roles, and leave where they have none.
    Everything is changed or nothing. Raises: as set_member_roles and remove_member
    (owners_only: a key cannot remove an owner). Source: Contract 9.1
    (`team_role_bindings`).
    """
    held = {each.team_id: each for each in _memberships(member, among)}
    for team in among:
        membership = held.get(team.pk)
        if membership is None:
            if team in teams:
                add_team_member(
                    team=team, actor=actor, email=member.email, roles=[Role.ADMIN]
                )
            continue
        administers = not ADMINISTERS.isdisjoint(membership.roles)
        if administers == (team in teams):
            continue
        roles = {*membership.roles, Role.ADMIN.value}
        if administers:
            roles -= ADMINISTERS
        if roles:
            set_member_roles(membership=membership, actor=actor, roles=roles)
        else:
            remove_member(membership=membership, actor=actor)


@transaction.atomic
def remove_member_from_teams(
    *, member: Member, actor: Actor, among: Sequence[Team]
) -> None:
    """Remove a member from all these teams or none; keep the account.

    Raises: as remove_member. Source: Contract 9.1.
    """
    for membership in _memberships(member, among):
        remove_member(membership=membership, actor=actor)


def _memberships(member: Member, among: Sequence[Team]) -> list[Membership]:
    rows = Membership.objects.filter(member=member, team__in=among)
    return list(rows.select_related("team").order_by("team"))
