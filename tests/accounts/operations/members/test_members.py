from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from accounts.models import AuditEntry, Invitation, Member, Membership
from accounts.operations.members.invitations import invite_member
from accounts.operations.members.members import remove_member, set_member_roles
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.factories.accounts import make_member, make_team

pytestmark = pytest.mark.django_db


@pytest.fixture
def team():
    return make_team()


def place_of(team, *roles):
    """A new member with these roles: their membership, and they as an actor."""
    member = make_member(team=team, roles=roles)
    actor = Actor(ActorKind.MEMBER, str(member.pk), member.email)
    return Membership.objects.get(member=member, team=team), actor


def audited(team, verb):
    return [
        entry.changes
        for tenant in team.tenants.all()
        for entry in AuditEntry.objects.for_tenant(tenant).filter(verb=verb)
    ]


def state():
    return (
        sorted(Membership.objects.values_list("pk", "roles")),
        sorted(Invitation.objects.values_list("pk", "revoked_at")),
        AuditEntry.unscoped.count(),
    )


def refused_code(operation, **inputs):
    before = state()
    with pytest.raises(DomainError) as refused:
        operation(**inputs)
    assert state() == before
    return refused.value.code


def test_an_owner_gives_several_roles_and_both_environments_tell_of_it(team):
    _, owner = place_of(team, Role.OWNER)
    viewer, _ = place_of(team, Role.VIEWER)

    changed = set_member_roles(
        membership=viewer, actor=owner, roles=[Role.LAB_STAFF, Role.CLINICIAN]
    )

    viewer.refresh_from_db()
    assert changed == viewer
    assert viewer.roles == ["clinician", "lab_staff"]
    assert (
        audited(team, "change_roles")
        == [{"roles": [["viewer"], ["clinician", "lab_staff"]]}] * 2
    )


def test_roles_that_stay_as_they_are_leave_no_audit_line(team):
    _, owner = place_of(team, Role.OWNER)
    viewer, _ = place_of(team, Role.VIEWER)
    before = state()

    set_member_roles(membership=viewer, actor=owner, roles=[Role.VIEWER])

    assert state() == before


def test_the_last_owner_keeps_the_role(team):
    place, owner = place_of(team, Role.OWNER)
    place_of(team, Role.ADMIN)

    assert (
        refused_code(
            set_member_roles, membership=place, actor=owner, roles=[Role.ADMIN]
        )
        == "last_owner"
    )
    assert refused_code(remove_member, membership=place, actor=owner) == "last_owner"


def test_an_owner_of_two_may_step_down_and_leave(team):
    place, owner = place_of(team, Role.OWNER)
    place_of(team, Role.OWNER)

    set_member_roles(membership=place, actor=owner, roles=[Role.ADMIN])
    remove_member(membership=place, actor=owner)

    assert Membership.objects.get(team=team).roles == ["owner"]
    assert Member.objects.filter(pk=owner.key).exists()
    assert audited(team, "remove_member") == [{"roles": [["admin"], None]}] * 2


def test_an_admin_neither_makes_nor_unmakes_owners(team):
    owner, _ = place_of(team, Role.OWNER)
    place_of(team, Role.OWNER)
    viewer, _ = place_of(team, Role.VIEWER)
    _, admin = place_of(team, Role.ADMIN)

    for membership, roles in (
        (viewer, [Role.OWNER]),
        (owner, [Role.VIEWER]),
        (owner, [Role.OWNER, Role.CLINICIAN]),
    ):
        code = refused_code(
            set_member_roles, membership=membership, actor=admin, roles=roles
        )
        assert code == "owners_only"
    assert refused_code(remove_member, membership=owner, actor=admin) == "owners_only"


def test_nobody_raises_their_own_rights(team):
    owner, as_owner = place_of(team, Role.OWNER)
    admin, as_admin = place_of(team, Role.ADMIN)

    for place, actor in ((owner, as_owner), (admin, as_admin)):
        code = refused_code(
            set_member_roles,
            membership=place,
            actor=actor,
            roles=[*place.roles, Role.CLINICIAN],
        )
        assert code == "own_rights"


@pytest.mark.parametrize(
    "role", [Role.CLINICIAN, Role.LAB_STAFF, Role.DEVELOPER, Role.VIEWER]
)
def test_other_roles_change_nobody_but_may_leave(team, role):
    place, actor = place_of(team, role)
    viewer, _ = place_of(team, Role.VIEWER)

    assert (
        refused_code(
            set_member_roles, membership=viewer, actor=actor, roles=[Role.ADMIN]
        )
        == "not_allowed"
    )
    assert refused_code(remove_member, membership=viewer, actor=actor) == "not_allowed"
    remove_member(membership=place, actor=actor)
    assert not Membership.objects.filter(pk=place.pk).exists()


def test_an_owner_of_another_team_changes_nobody(team):
    viewer, _ = place_of(team, Role.VIEWER)
    _, stranger = place_of(make_team(), Role.OWNER)

    assert (
        refused_code(
            set_member_roles, membership=viewer, actor=stranger, roles=["admin"]
        )
        == "not_allowed"
    )
    assert (
        refused_code(remove_member, membership=viewer, actor=stranger) == "not_allowed"
    )


def test_who_has_left_can_not_be_changed(team):
    _, owner = place_of(team, Role.OWNER)
    viewer, _ = place_of(team, Role.VIEWER)
    gone = Membership.objects.get(pk=viewer.pk)
    remove_member(membership=viewer, actor=owner)

    assert (
        refused_code(set_member_roles, membership=gone, actor=owner, roles=[Role.ADMIN])
        == "not_member"
    )


@pytest.mark.parametrize(
    ("after", "kept"),
    [(None, set()), ([Role.VIEWER], set()), ([Role.ADMIN], {"a@assay.example"})],
)
def test_invitations_end_with_the_right_to_make_them(team, after, kept):
    _, owner = place_of(team, Role.OWNER)
    place, other = place_of(team, Role.OWNER)
    for email, role in (
        ("a@assay.example", Role.VIEWER),
        ("b@assay.example", Role.OWNER),
    ):
        invite_member(team=team, actor=other, email=email, roles=[role])

    if after is None:
        remove_member(membership=place, actor=owner)
    else:
        set_member_roles(membership=place, actor=owner, roles=after)

    live = Invitation.objects.filter(revoked_at=None).values_list("email", flat=True)
    assert set(live) == kept


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_demote_each_other_leave_one():
    team = make_team()
    (first, one), (second, two) = place_of(team, Role.OWNER), place_of(team, Role.OWNER)
    together = Barrier(2)

    def demote(membership, actor):
        try:
            together.wait()
            set_member_roles(membership=membership, actor=actor, roles=[Role.ADMIN])
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()
        return "changed"

    with ThreadPoolExecutor(2) as pool:
        found = {
            future.result()
            for future in [
                pool.submit(demote, second, one),
                pool.submit(demote, first, two),
            ]
        }

    assert found == {"changed", "owners_only"}
    roles = Membership.objects.filter(team=team).values_list("roles", flat=True)
    assert sorted(roles) == [["admin"], ["owner"]]
    assert len(audited(team, "change_roles")) == 2


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_leave_at_once_leave_one():
    team = make_team()
    places = [place_of(team, Role.OWNER) for _ in range(2)]
    together = Barrier(2)

    def leave(membership, actor):
        try:
            together.wait()
            remove_member(membership=membership, actor=actor)
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()
        return "left"

    with ThreadPoolExecutor(2) as pool:
        found = sorted(
            future.result() for future in [pool.submit(leave, *p) for p in places]
        )

    assert found == ["last_owner", "left"]
    assert Membership.objects.get(team=team).roles == ["owner"]
