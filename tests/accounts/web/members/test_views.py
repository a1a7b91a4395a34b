from __future__ import annotations

from http import HTTPStatus

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, Membership
from accounts.operations.members.invitations import invite_member
from accounts.states import MATRIX, Access, Role
from tests.factories.accounts import ACTOR, make_member

PLACE = "/t/alice-health/sandbox"
LIST = f"{PLACE}/members/"

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_role(alice_team):
    """Call it with roles: a client signed in with them, and the member."""

    def sign_in(*roles):
        member = make_member(team=alice_team, roles=roles)
        client = Client()
        client.force_login(member)
        return client, member

    return sign_in


def roles_of(member):
    found = Membership.objects.filter(member=member).values_list("roles", flat=True)
    return found.first()


def roles_page(member):
    return f"{LIST}{member.pk}/roles/"


def remove_page(member):
    return f"{LIST}{member.pk}/remove/"


def audited():
    return AuditEntry.unscoped.filter(subject="member").count()


def test_the_page_shows_who_is_in_with_which_roles(alice_web, alice, bob):
    page = alice_web.get(LIST).content.decode()

    for text in ("alice@assay.example", "bob@assay.example", "Owner", "Viewer", "You"):
        assert text in page


@pytest.mark.parametrize("number", [1, 30])
def test_the_page_costs_the_same_at_any_length(alice_web, alice_team, number):
    for at in range(number):
        make_member(team=alice_team)
        invite_member(
            team=alice_team,
            actor=ACTOR,
            email=f"new{at}@assay.example",
            roles=[Role.VIEWER],
        )
    alice_web.get(LIST)  # the session notes the place once

    with CaptureQueriesContext(connection) as queries:
        alice_web.get(LIST)

    assert len(queries) == PAGE_QUERIES


# Session, member, members, their number, invitations. The place, the sidebar's numbers
# and the switcher go by rows, which Django does not count.
PAGE_QUERIES = 5


def test_the_matrix_on_the_page_is_that_of_the_code(alice_web):
    matrix = alice_web.get(LIST).context["matrix"]

    assert [row.area for row in matrix] == [area.label for area in MATRIX]
    for row, accesses in zip(matrix, MATRIX.values(), strict=True):
        may = {role: bool(words) for role, words in row.cells}
        assert may == {
            role.label: access != Access.NONE for role, access in accesses.items()
        }


@pytest.mark.parametrize("role", list(Role))
def test_every_role_sees_members_and_two_change_them(as_role, bob, role):
    client, _ = as_role(role)
    may_change = role in {Role.OWNER, Role.ADMIN}

    page = client.get(LIST)
    form = client.get(roles_page(bob))

    assert page.status_code == HTTPStatus.OK
    assert (roles_page(bob) in page.content.decode()) is may_change
    assert (f"{LIST}invite/" in page.content.decode()) is may_change
    assert form.status_code == (HTTPStatus.OK if may_change else HTTPStatus.FORBIDDEN)


def test_an_owner_changes_roles(alice_web, bob):
    reply = alice_web.post(roles_page(bob), {"roles": ["lab_staff", "clinician"]})

    assert (reply.status_code, reply["Location"]) == (HTTPStatus.FOUND, LIST)
    assert roles_of(bob) == ["clinician", "lab_staff"]


def test_in_the_dialog_a_change_sends_the_browser_back_to_the_list(alice_web, bob):
    reply = alice_web.post(
        roles_page(bob), {"roles": ["admin"]}, headers={"HX-Request": "true"}
    )

    assert (reply.status_code, reply["HX-Redirect"]) == (HTTPStatus.NO_CONTENT, LIST)
    assert roles_of(bob) == ["admin"]


@pytest.mark.parametrize(
    ("giver", "target", "roles"),
    [
        (Role.ADMIN, Role.VIEWER, ["owner"]),
        (Role.ADMIN, Role.OWNER, ["viewer"]),
        (Role.OWNER, Role.VIEWER, []),
        (Role.OWNER, Role.VIEWER, ["king"]),
    ],
)
def test_a_refused_change_stays_in_the_form(alice, as_role, giver, target, roles):
    client, _ = as_role(giver)
    _, member = as_role(target)
    before = audited()

    reply = client.post(roles_page(member), {"roles": roles})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert reply.context["form"].errors["roles"]
    assert roles_of(member) == [target.value]
    assert audited() == before


@pytest.mark.parametrize("roles", [["admin"], ["owner", "clinician"]])
def test_the_only_owner_neither_steps_down_nor_rises(alice_web, alice, roles):
    before = audited()

    reply = alice_web.post(roles_page(alice), {"roles": roles})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert roles_of(alice) == ["owner"]
    assert audited() == before


@pytest.mark.parametrize(
    "role", [Role.CLINICIAN, Role.LAB_STAFF, Role.DEVELOPER, Role.VIEWER]
)
def test_other_roles_are_refused_the_change(as_role, bob, role):
    client, _ = as_role(role)
    before = audited()

    changed = client.post(roles_page(bob), {"roles": ["admin"]})
    client.post(remove_page(bob))

    assert changed.status_code == HTTPStatus.FORBIDDEN
    assert roles_of(bob) == ["viewer"]
    assert audited() == before


def test_removing_a_member_is_asked_first(alice_web, bob):
    asked = alice_web.get(remove_page(bob))
    still_there = roles_of(bob)

    reply = alice_web.post(remove_page(bob))

    assert asked.status_code == HTTPStatus.OK
    assert still_there == ["viewer"]
    assert (reply.status_code, reply["Location"]) == (HTTPStatus.FOUND, LIST)
    assert roles_of(bob) is None


def test_a_removed_member_sees_nothing_from_the_next_click_on(alice_web, as_role):
    client, member = as_role(Role.DEVELOPER)
    before = client.get(LIST).status_code

    alice_web.post(remove_page(member))

    assert (before, client.get(LIST).status_code) == (200, 404)


def test_a_viewer_may_leave(as_role):
    client, member = as_role(Role.VIEWER)

    reply = client.post(remove_page(member))

    assert reply["Location"] == "/"
    assert roles_of(member) is None


def test_the_last_owner_may_not_leave(alice_web, alice):
    before = audited()

    reply = alice_web.post(remove_page(alice), follow=True)

    assert "A team needs at least one owner" in reply.content.decode()
    assert roles_of(alice) == ["owner"]
    assert audited() == before


@pytest.mark.parametrize(
    "member_id", ["nobody", "00000000-0000-0000-0000-000000000000"]
)
def test_who_is_no_member_is_not_found(alice_web, alice_team, member_id):
    for page in ("roles", "remove"):
        assert alice_web.get(f"{LIST}{member_id}/{page}/").status_code == 404


def test_a_member_of_another_team_is_not_found(alice_web, charlie):
    assert alice_web.post(remove_page(charlie)).status_code == 404
    assert roles_of(charlie) == ["owner"]


def test_the_page_says_when_a_member_was_last_seen(alice_web, alice, bob):
    alice_web.get(LIST)

    seen = dict(Membership.objects.values_list("member__email", "last_seen_at"))
    assert seen["alice@assay.example"] is not None
    assert seen["bob@assay.example"] is None
