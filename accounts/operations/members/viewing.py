"""Start and stop viewing a team as a role, with an audit entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from accounts.operations.audit.entries import record_team_change
from accounts.operations.members.granting import (
    check_actor_may_grant_roles,
    validate_roles,
)
from accounts.states import Role

if TYPE_CHECKING:
    from accounts.models import Team
    from portal.lib.actor import Actor


@transaction.atomic
def start_viewing_team_as_role(*, team: Team, actor: Actor, role: str) -> Role:
    """Let an owner or admin view the team as one of the roles.

    Raises: role_unknown, not_allowed. Source: Ours (issue Access): who gives roles sees
    what they give.
    """
    (role_value,) = validate_roles([role])
    check_actor_may_grant_roles(team=team, actor=actor, roles=())
    _record(team, actor, "view_as_role", role_value)
    return Role(role_value)


@transaction.atomic
def record_end_of_viewing_as_role(*, team: Team, actor: Actor, role: str) -> None:
    """Record that the member views with their own roles again."""
    _record(team, actor, "end_view_as_role", role)


def _record(team: Team, actor: Actor, verb: str, role: str) -> None:
    record_team_change(
        team=team, actor=actor, verb=verb, subject="role", subject_id=role
    )
