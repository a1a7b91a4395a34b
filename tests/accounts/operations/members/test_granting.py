from __future__ import annotations

import pytest

from accounts.models import Membership
from accounts.operations.members.granting import (
    check_actor_may_grant_roles,
    check_owner_remains,
    check_roles_add_no_rights,
    find_roles_of_actor,
    may_grant_roles,
    validate_roles,
)
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, make_member, make_team


def actor_of(member):
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


@pytest.mark.parametrize("giver", list(Role))
@pytest.mark.parametrize("given", list(Role))
def test_owners_give_every_role_admins_all_but_owner_others_none(giver, given):
    allowed = giver == Role.OWNER or (giver == Role.ADMIN and given != Role.OWNER)

    assert may_grant_roles({giver}, {given}) is allowed


@pytest.mark.parametrize(
    ("before", "after", "raised"),
    [
        ({Role.OWNER}, {Role.ADMIN}, False),
        ({Role.OWNER}, {Role.OWNER, Role.VIEWER}, False),
        ({Role.OWNER}, {Role.OWNER, Role.CLINICIAN}, True),
        ({Role.ADMIN}, {Role.OWNER}, True),
        ({Role.ADMIN}, {Role.DEVELOPER}, False),
    ],
)
def test_rights_count_for_a_raise_and_not_names_of_roles(before, after, raised):
    if raised:
        with pytest.raises(DomainError) as refused:
            check_roles_add_no_rights(before=before, after=after)
        assert refused.value.code == "own_rights"
    else:
        check_roles_add_no_rights(before=before, after=after)


def test_roles_are_put_in_order_each_once():
    assert validate_roles(["viewer", "owner", "viewer"]) == ["owner", "viewer"]


@pytest.mark.parametrize(
    ("roles", "code"), [([], "roles_missing"), (["owner", "king"], "role_unknown")]
)
def test_roles_that_are_none_are_refused(roles, code):
    with pytest.raises(DomainError) as refused:
        validate_roles(roles)

    assert (refused.value.code, refused.value.field) == (code, "roles")


@pytest.mark.django_db
def test_roles_in_one_team_are_none_in_another():
    team, other = make_team(), make_team()
    member = make_member(team=team, roles=(Role.ADMIN,))
    key = Actor(ActorKind.API_KEY, "a", "ci")

    assert find_roles_of_actor(team=team, actor=actor_of(member)) == {"admin"}
    assert find_roles_of_actor(team=other, actor=actor_of(member)) == set()
    assert find_roles_of_actor(team=team, actor=key) == set()
    assert find_roles_of_actor(team=team, actor=ACTOR) == set(Role.values)


@pytest.mark.parametrize(
    ("role", "code"), [(Role.VIEWER, "not_allowed"), (Role.ADMIN, "owners_only")]
)
@pytest.mark.django_db
def test_who_may_not_make_an_owner_is_told_why(role, code):
    team = make_team()
    member = make_member(team=team, roles=(role,))

    with pytest.raises(DomainError) as refused:
        check_actor_may_grant_roles(
            team=team, actor=actor_of(member), roles=[Role.OWNER]
        )

    assert refused.value.code == code


@pytest.mark.django_db
def test_an_owner_who_may_not_sign_in_is_no_owner_to_count_on():
    team = make_team()
    leaving = make_member(team=team)
    asleep = make_member(team=team)
    asleep.is_active = False
    asleep.save(update_fields=["is_active"])

    with pytest.raises(DomainError) as refused:
        check_owner_remains(team=team, without=Membership.objects.get(member=leaving))

    assert refused.value.code == "last_owner"
