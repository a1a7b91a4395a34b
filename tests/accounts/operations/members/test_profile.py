from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import AuditEntry, Member, Membership
from accounts.operations.members.profile import (
    Profile,
    change_password,
    change_profile,
    end_all_sessions_of_member,
)
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.factories.accounts import PASSWORD, make_member, make_team

pytestmark = pytest.mark.django_db

NEW_PASSWORD = "an entirely new sentence"


@pytest.fixture
def member():
    return make_member(team=make_team(), email="dana@assay.example")


@pytest.fixture
def actor(member):
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


def build_profile(**changes):
    fields = {
        "name": "Dana Reyes",
        "time_zone": "Europe/Lisbon",
        "language": "",
        "theme": "dark",
        "shortcuts_enabled": False,
    }
    return Profile(**{**fields, **changes})


def audited():
    return [
        (entry.verb, entry.changes)
        for entry in AuditEntry.unscoped.filter(subject="member").order_by("pk")
        if entry.verb != "add_member"
    ]


def refused_code(operation, **inputs):
    before = (str(Member.objects.values().get()), audited())
    with pytest.raises(DomainError) as refused:
        operation(**inputs)
    assert (str(Member.objects.values().get()), audited()) == before
    return refused.value.code


def test_a_profile_is_changed_and_every_team_s_audit_tells_of_it(member, actor):
    Membership(member=member, team=make_team(), roles=[Role.VIEWER]).save()

    changed = change_profile(member=member, actor=actor, profile=build_profile())

    member.refresh_from_db()
    assert changed == member
    assert (member.name, member.time_zone, member.theme) == (
        "Dana Reyes",
        "Europe/Lisbon",
        "dark",
    )
    assert member.shortcuts_enabled is False
    line = (
        "change_profile",
        {
            "name": ["", "Dana Reyes"],
            "time_zone": ["", "Europe/Lisbon"],
            "theme": ["", "dark"],
            "shortcuts_enabled": [True, False],
        },
    )
    assert audited() == [line] * 4


def test_a_profile_saved_as_it_is_leaves_no_audit_line(member, actor):
    change_profile(member=member, actor=actor, profile=build_profile())
    before = audited()

    change_profile(
        member=member, actor=actor, profile=build_profile(name=" Dana Reyes ")
    )

    assert audited() == before


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": " "}, "name_missing"),
        ({"name": "x" * 151}, "name_too_long"),
        ({"time_zone": "Mars/Base"}, "time_zone_unknown"),
        ({"language": "tlh"}, "language_unknown"),
        ({"theme": "pink"}, "theme_unknown"),
    ],
)
def test_a_profile_that_is_refused_changes_nothing(member, actor, changes, code):
    inputs = {"member": member, "actor": actor, "profile": build_profile(**changes)}
    assert refused_code(change_profile, **inputs) == code


def test_a_password_is_changed_by_who_knows_it(member, actor):
    change_password(member=member, actor=actor, current=PASSWORD, new=NEW_PASSWORD)

    member.refresh_from_db()
    assert member.check_password(NEW_PASSWORD)
    assert audited() == [("change_password", {})] * 2


@pytest.mark.parametrize(
    ("current", "new", "code"),
    [
        ("not this one", NEW_PASSWORD, "password_wrong"),
        (PASSWORD, "short", "password_weak"),
        (PASSWORD, "dana@assay.example", "password_weak"),
    ],
)
def test_a_password_that_is_refused_changes_nothing(member, actor, current, new, code):
    inputs = {"member": member, "actor": actor, "current": current, "new": new}
    assert refused_code(change_password, **inputs) == code


def test_ended_sessions_open_nothing(member, actor):
    signed_in = [Client(), Client()]
    for client in signed_in:
        client.force_login(member)

    end_all_sessions_of_member(member=member, actor=actor)

    for client in signed_in:
        assert client.get("/")["Location"].startswith("/accounts/login/")
    assert audited() == [("end_sessions", {})] * 2
