from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from accounts.operations.members.viewing import start_viewing_team_as_role
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.factories.accounts import make_member

pytestmark = pytest.mark.django_db


def as_actor(member):
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


def test_owners_and_admins_may_look_as_any_role_and_nobody_else(alice_team, bob):
    admin = make_member(team=alice_team, roles=(Role.ADMIN,))

    assert start_viewing_team_as_role(
        team=alice_team, actor=as_actor(admin), role="owner"
    ) == (Role.OWNER)
    with pytest.raises(DomainError, match="not_allowed"):
        start_viewing_team_as_role(team=alice_team, actor=as_actor(bob), role="viewer")
    with pytest.raises(DomainError, match="role_unknown"):
        start_viewing_team_as_role(team=alice_team, actor=as_actor(admin), role="king")

    lines = AuditEntry.unscoped.filter(verb="view_as_role")
    assert {(line.subject_id, line.actor_key) for line in lines} == {
        ("owner", str(admin.pk))
    }
