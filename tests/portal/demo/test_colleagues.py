from __future__ import annotations

import pytest

from accounts.models import Member, Membership
from accounts.states import Role
from portal.demo.data import create_demo_members
from tests.factories.accounts import make_member, make_team

pytestmark = pytest.mark.django_db


def test_the_demo_team_gets_a_member_in_each_role_who_can_not_sign_in():
    team = make_team()
    make_member(team=team)

    create_demo_members(team)

    held = Membership.objects.filter(team=team).values_list("roles", flat=True)
    assert sorted(role for roles in held for role in roles) == sorted(Role.values)
    colleagues = Member.objects.exclude(name="")
    assert [m.has_usable_password() for m in colleagues] == [False] * 6


def test_colleagues_are_loaded_once():
    team = make_team()
    create_demo_members(team)

    create_demo_members(team)

    assert Membership.objects.filter(team=team).count() == 6
