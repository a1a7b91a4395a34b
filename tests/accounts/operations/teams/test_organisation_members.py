from __future__ import annotations

import pytest

from accounts.models import AuditEntry, Membership
from accounts.operations.teams.organisation_members import (
    remove_member_from_teams,
    set_administered_teams,
)
from accounts.states import Role
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, make_team

pytestmark = pytest.mark.django_db


def test_a_member_administers_exactly_the_teams_named(alice_team, bob):
    other = make_team("Other")

    set_administered_teams(
        member=bob, actor=ACTOR, among=[alice_team, other], teams=[other]
    )

    held = Membership.objects.filter(member=bob).values_list("team__name", "roles")
    assert dict(held) == {"Alice Health": ["viewer"], "Other": ["admin"]}
    assert AuditEntry.unscoped.filter(verb="add_member", subject_id=bob.pk).exists()


def test_what_one_team_refuses_changes_none(alice_team, bob):
    other = make_team("Other")
    Membership.objects.create(member=bob, team=other, roles=[Role.OWNER])

    with pytest.raises(DomainError) as refused:
        remove_member_from_teams(member=bob, actor=ACTOR, among=[alice_team, other])

    assert refused.value.code == "last_owner"
    assert Membership.objects.filter(member=bob).count() == 2
