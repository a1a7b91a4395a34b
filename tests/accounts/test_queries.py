from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Invitation
from accounts.operations.api_keys.api_keys import create_api_key
from accounts.operations.members.invitations import invite_member, revoke_invitation
from accounts.operations.teams.teams import change_team_settings
from accounts.queries import (
    find_team_membership,
    list_api_keys,
    list_latest_audited_changes,
    list_open_invitations,
    list_team_members,
)
from accounts.states import Role
from tests.factories.accounts import ACTOR, make_member, make_team, make_tenant

pytestmark = pytest.mark.django_db


def named(team, name, email):
    member = make_member(team=team, email=email)
    member.name = name
    member.save(update_fields=["name"])
    return member


def test_members_come_by_name_or_address_whatever_its_case():
    team = make_team()
    named(team, "zoe", "a@assay.example")
    named(team, "Adam", "z@assay.example")
    named(team, "", "m@assay.example")
    named(make_team(), "Eve", "eve@assay.example")

    found = [m.member.name or m.member.email for m in list_team_members(team)]

    assert found == ["Adam", "m@assay.example", "zoe"]


def test_only_an_authenticator_app_counts_as_second_factor():
    team = make_team()
    with_app, with_codes = make_member(team=team), make_member(team=team)
    for member, kind in (
        (with_app, Authenticator.Type.TOTP),
        (with_codes, Authenticator.Type.RECOVERY_CODES),
    ):
        Authenticator.objects.create(user=member, type=kind, data={})

    found = {m.member: m.has_second_factor for m in list_team_members(team)}

    assert found == {with_app: True, with_codes: False}


def test_a_member_of_another_team_is_not_found():
    team = make_team()
    member = make_member(team=team)

    assert find_team_membership(team=team, member_id=member.pk).member == member
    assert find_team_membership(team=make_team(), member_id=member.pk) is None


def test_invitations_that_are_over_are_not_listed():
    team = make_team()
    for email in ("a@assay.example", "b@assay.example"):
        invite_member(team=team, actor=ACTOR, email=email, roles=[Role.VIEWER])
    revoke_invitation(
        invitation=Invitation.objects.get(email="a@assay.example"), actor=ACTOR
    )

    assert [i.email for i in list_open_invitations(team)] == ["b@assay.example"]


def test_keys_and_who_made_them_cost_one_query():
    tenant = make_tenant()
    for label in ("a", "b"):
        create_api_key(tenant=tenant, actor=ACTOR, label=label)
    create_api_key(tenant=make_tenant(), actor=ACTOR, label="theirs")

    with CaptureQueriesContext(connection) as queries:
        found = [
            (key.label, key.created_by, key.tenant.team)
            for key in list_api_keys(tenant)
        ]

    assert [label for label, *_ in found] == ["b", "a"]
    assert len(queries) == 1


def test_the_latest_changes_are_those_of_the_verbs_newest_first():
    tenant = make_tenant()
    for on in (True, False, True):
        change_team_settings(
            tenant=tenant, actor=ACTOR, settings={"minor_ordering_enabled": on}
        )
    create_api_key(tenant=tenant, actor=ACTOR, label="a")

    found = list_latest_audited_changes(
        tenant=tenant, verbs=("change_settings",), limit=2
    )

    assert [entry.changes["minor_ordering_enabled"] for entry in found] == [
        [False, True],
        [True, False],
    ]
