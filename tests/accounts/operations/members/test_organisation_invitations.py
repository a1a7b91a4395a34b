from __future__ import annotations

import pytest

from accounts.models import Invitation, Membership
from accounts.operations.members.invitations import (
    accept_invitation_as_new_member,
    find_invitation,
    revoke_invitation,
)
from accounts.operations.members.organisation_invitations import (
    invite_administrator_to_teams,
    revoke_invitation_to_teams,
)
from accounts.operations.teams.deletion import delete_team
from accounts.operations.teams.teams import create_team
from accounts.states import InviteStatus, Role
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, PASSWORD

pytestmark = pytest.mark.django_db
EMAIL = "dana@assay.example"


@pytest.fixture
def teams(alice_team):
    return [
        alice_team,
        *(
            create_team(name=name, actor=ACTOR, organisation=alice_team.organisation)
            for name in ("Alice Labs", "Alice Trials", "Alice Old")
        ),
    ]


def invite(teams, among=None, email=EMAIL):
    return invite_administrator_to_teams(
        teams=teams, among=among or teams, actor=ACTOR, email=f" {email.upper()}"
    )


def join(token):
    return accept_invitation_as_new_member(
        token=token, name="Dana Reyes", password=PASSWORD, address=None
    )


def test_one_link_joins_all_teams_that_are_still_open(teams):
    status, invitation, token = invite(teams)
    assert status == InviteStatus.CREATED
    assert {each.link_id for each in Invitation.objects.all()} == {invitation.batch}
    withdrawn, deleted = teams[2:]
    revoke_invitation(invitation=Invitation.objects.get(team=withdrawn), actor=ACTOR)
    delete_team(team=deleted, actor=ACTOR)

    join(token)

    joined = Membership.objects.filter(member__email=EMAIL)
    assert {each.team_id: each.roles for each in joined} == {
        team.pk: [Role.ADMIN] for team in teams[:2]
    }
    assert find_invitation(token) is None
    with pytest.raises(DomainError, match="invitation_dead"):
        join(token)


def test_inviting_again_ends_the_old_link(teams):
    _, _, old = invite(teams[:2])

    status, invitation, new = invite(teams)

    assert status == InviteStatus.RESENT
    assert Invitation.objects.filter(batch=invitation.batch).count() == 4
    assert find_invitation(old) is None
    assert find_invitation(new).email == EMAIL
    revoke_invitation_to_teams(invitations=list(Invitation.objects.all()), actor=ACTOR)
    assert find_invitation(new) is None


def test_who_is_in_the_organisation_already_is_not_invited(teams, bob):
    found = invite(teams[1:2], among=teams, email=bob.email)

    assert found == (InviteStatus.ALREADY_IN_ORG, None, "")
    with pytest.raises(DomainError, match="teams_missing"):
        invite([], among=teams)
    with pytest.raises(DomainError, match="email_invalid"):
        invite(teams, email="nobody")
    assert not Invitation.objects.exists()
