from __future__ import annotations

import pytest

from accounts.models import Membership
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.states import ManagementRole, Role
from tests.clients import ManagementClient, error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR, make_management_key, make_member
from tests.factories.accounts import make_team as make_other_team

pytestmark = pytest.mark.django_db

MEMBERS = "/v1/org/{org_id}/member"
MEMBER = f"{MEMBERS}/{{member_id}}"


@pytest.fixture
def second_team(alice_team):
    team = make_other_team("Alice Labs")
    team.organisation = alice_team.organisation
    team.save(update_fields=["organisation"])
    return team


@pytest.fixture
def api(alice_team):
    _, text = create_management_key(
        team=alice_team, actor=ACTOR, label="all", role=ManagementRole.ORG_ADMIN
    )
    return ManagementClient(text)


@pytest.fixture
def team_api(alice_team):
    return ManagementClient(make_management_key(team=alice_team))


@pytest.fixture
def members(alice_team):
    return MEMBERS.format(org_id=alice_team.organisation_id)


def roles_in(member):
    held = Membership.objects.filter(member=member).values_list("team__name", "roles")
    return dict(held)


def test_members_are_listed_with_what_they_administer(
    api, team_api, members, alice, bob, charlie, second_team, django_assert_num_queries
):
    dana = make_member(team=second_team, roles=(Role.ADMIN,))

    with django_assert_num_queries(6):
        reply = api.get(members)

    check_answer(reply, "get", MEMBERS)
    fields = {
        "id": str(alice.pk),
        "name": "",
        "email": "alice@assay.example",
        "created_on": alice.created_at.isoformat(),
        "role": "team_admin",
        "team_role_bindings": [{"team_id": str(alice.memberships.get().team_id)}],
    }
    assert reply.json()["members"][0] == fields
    roles = {each["id"]: each["role"] for each in reply.json()["members"]}
    assert roles == {
        str(alice.pk): "team_admin",
        str(bob.pk): "no_role",
        str(dana.pk): "team_admin",
    }
    found = team_api.get(members, {"search_query": "ALICE@"}).json()["members"]
    assert found == [fields]


def test_an_org_admin_administers_every_team(api, members, bob, second_team):
    reply = api.patch(f"{members}/{bob.pk}", {"role": "org_admin"})

    check_answer(reply, "patch", MEMBER)
    assert reply.content == b"null"
    assert roles_in(bob) == {
        "Alice Health": ["admin", "viewer"],
        "Alice Labs": ["admin"],
    }
    (told,) = api.get(members, {"search_query": "bob"}).json()["members"]
    assert (told["role"], told["team_role_bindings"]) == ("org_admin", None)


def test_a_team_admin_administers_the_teams_named_alone(api, members, bob, second_team):
    path = f"{members}/{bob.pk}"
    api.patch(path, {"role": "org_admin"})
    bindings = [{"team_id": str(second_team.pk)}]

    api.patch(path, {"role": "team_admin", "team_role_bindings": bindings})
    bound = roles_in(bob)
    api.patch(path, {"role": "no_role", "team_role_bindings": None})

    assert bound == {"Alice Health": ["viewer"], "Alice Labs": ["admin"]}
    assert roles_in(bob) == {"Alice Health": ["viewer"]}


def test_a_key_neither_unmakes_nor_removes_an_owner(api, members, alice, alice_team):
    make_member(team=alice_team)
    path = f"{members}/{alice.pk}"

    replies = [api.patch(path, {"role": "no_role"}), api.delete(path)]

    codes = [(reply.status_code, reply.json()["code"]) for reply in replies]
    assert codes == [(403, "owners_only")] * 2
    assert roles_in(alice) == {"Alice Health": ["owner"]}


def test_a_removed_member_is_in_no_team_of_the_key(
    api, team_api, members, bob, second_team
):
    api.patch(f"{members}/{bob.pk}", {"role": "org_admin"})

    here = team_api.delete(f"{members}/{bob.pk}")
    left = roles_in(bob)
    everywhere = api.delete(f"{members}/{bob.pk}")
    again = api.delete(f"{members}/{bob.pk}")

    check_answer(here, "delete", MEMBER)
    assert left == {"Alice Labs": ["admin"]}
    assert [everywhere.status_code, again.status_code] == [200, 404]
    assert roles_in(bob) == {}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"role": "org_admin"}, 403),
        ({"role": "team_admin"}, 400),
        ({"role": "team_admin", "team_role_bindings": "second"}, 400),
        ({"role": "no_role", "team_role_bindings": "own"}, 400),
    ],
)
def test_what_a_team_admin_may_not_give_changes_nothing(
    team_api, members, bob, alice_team, second_team, body, status
):
    if name := body.get("team_role_bindings"):
        team = {"own": alice_team, "second": second_team}[name]
        body = {**body, "team_role_bindings": [{"team_id": str(team.pk)}]}

    reply = team_api.patch(f"{members}/{bob.pk}", body)

    assert reply.status_code == status
    assert roles_in(bob) == {"Alice Health": ["viewer"]}


def test_a_role_is_needed_and_known(api, members, bob):
    path = f"{members}/{bob.pk}"

    assert error_lines(api.patch(path, {})) == [(["body", "role"], "missing")]
    assert error_lines(api.patch(path, {"role": "owner"})) == [
        (["body", "role"], "enum")
    ]
