from __future__ import annotations

from uuid import uuid4

import pytest

from accounts.models import ApiKey, AuditEntry, ManagementKey
from accounts.operations.api_keys.api_keys import create_api_key
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.operations.teams.teams import create_team
from accounts.states import ManagementRole
from tests.clients import ApiClient, ManagementClient, error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR, make_management_key, make_tenant

pytestmark = pytest.mark.django_db

API_KEYS = "/v1/org/{org_id}/team_api_keys/{environment}/{region}"
KEYS = "/v1/org/{org_id}/management_key"
KEY = f"{KEYS}/{{management_key_id}}"
NOBODY = {"id": None, "name": None, "email": None}


@pytest.fixture
def second_team(alice_team):
    return create_team(
        name="Alice Labs", actor=ACTOR, organisation=alice_team.organisation
    )


@pytest.fixture
def whole_key(alice_team):
    """The text of an org_admin's key."""
    return create_management_key(
        team=alice_team, actor=ACTOR, label="all", role=ManagementRole.ORG_ADMIN
    )[1]


@pytest.fixture
def api(whole_key):
    return ManagementClient(whole_key)


@pytest.fixture
def team_api(alice_team):
    return ManagementClient(make_management_key(team=alice_team))


@pytest.fixture
def api_keys(alice_team):
    return API_KEYS.format(
        org_id=alice_team.organisation_id, environment="sandbox", region="us"
    )


@pytest.fixture
def keys(alice_team):
    return KEYS.format(org_id=alice_team.organisation_id)


def test_a_new_api_key_is_told_whole_once_and_works(api, api_keys, alice_team):
    made = api.post(api_keys, {"label": "warehouse", "team_id": str(alice_team.pk)})
    listed = api.get(api_keys)

    key = ApiKey.unscoped.get()
    check_answer(made, "post", API_KEYS)
    check_answer(listed, "get", API_KEYS)
    fields = {
        "id": str(key.id),
        "label": "warehouse",
        "team_id": str(alice_team.pk),
        "created_at": key.created_at.isoformat(),
        "scopes": None,
        "networks": [],
        "calls_per_minute": None,
        "expires_at": None,
    }
    value = made.json()["value"]
    assert made.json() == {**fields, "value": value}
    assert ApiClient(value).get("/v2/user").status_code == 200
    assert listed.json() == {
        "api_keys": [{**fields, "value": f"{value[:10]}...{value[-4:]}"}],
        "next_cursor": None,
    }


def test_a_new_api_key_goes_as_far_as_its_rules(api, api_keys, alice_team):
    body = {"label": "reads", "team_id": str(alice_team.pk)}
    rules = {
        "scopes": ["users:read"],
        "networks": ["192.0.2.0/24"],
        "calls_per_minute": 5,
        "expires_at": "2100-01-01T00:00:00+00:00",
    }

    refused = [
        api.post(api_keys, {**body, "scopes": ["moon:read"]}),
        api.post(api_keys, {**body, "calls_per_minute": 0}),
        api.post(api_keys, {**body, "scopes": []}),
        api.post(api_keys, {**body, "networks": ["everywhere"]}),
        api.post(api_keys, {**body, "expires_at": "2020-01-01T00:00:00Z"}),
    ]
    assert [reply.status_code for reply in refused] == [422, 422, 400, 400, 400]
    assert not ApiKey.unscoped.exists()
    made = api.post(api_keys, {**body, **rules})

    check_answer(made, "post", API_KEYS)
    assert {name: made.json()[name] for name in rules} == rules
    # This test does not call from that network.
    assert ApiClient(made.json()["value"]).get("/v2/user").status_code == 403


def test_a_list_of_api_keys_is_of_one_place_and_what_the_key_manages(
    team_api, api_keys, alice_tenant, alice_production, second_team, charlie_tenant
):
    key, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="hers")
    for tenant in (alice_production, make_tenant(team=second_team), charlie_tenant):
        create_api_key(tenant=tenant, actor=ACTOR, label="elsewhere")

    found = team_api.get(api_keys, {"team_id": str(alice_tenant.team_id)}).json()
    in_europe = team_api.get(api_keys.replace("/us", "/eu")).json()

    assert [each["id"] for each in found["api_keys"]] == [str(key.id)]
    assert in_europe["api_keys"] == []


def test_api_keys_end_each_by_itself(
    team_api, api_keys, alice_tenant, second_team, charlie_tenant
):
    live, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="live")
    other, _ = create_api_key(
        tenant=make_tenant(team=second_team), actor=ACTOR, label="of another team"
    )
    path = f"{api_keys}?api_key_id={live.id}&api_key_id={other.id}"

    first = team_api.delete(path)
    second = team_api.delete(path)

    check_answer(first, "delete", API_KEYS)
    away = [str(other.id)]
    assert first.json() == {
        "success": [str(live.id)],
        "failure": [],
        "not_found": away,
    }
    assert second.json() == {
        "success": [],
        "failure": [str(live.id)],
        "not_found": away,
    }
    assert ApiKey.unscoped.filter(revoked_at=None).get() == other


def test_no_key_is_made_for_a_team_that_is_not_managed(
    team_api, api_keys, alice_team, second_team
):
    europe = api_keys.replace("/us", "/eu")

    replies = [
        team_api.post(api_keys, {"label": "x", "team_id": str(second_team.pk)}),
        team_api.post(europe, {"label": "x", "team_id": str(alice_team.pk)}),
    ]

    assert [reply.status_code for reply in replies] == [404, 404]
    assert not ApiKey.unscoped.exists()


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ("/sandbox/mars", (["path", "region"], "enum")),
        ("/staging/us", (["path", "environment"], "enum")),
    ],
)
def test_a_malformed_place_is_422(api, api_keys, changed, line):
    reply = api.get(api_keys.replace("/sandbox/us", changed))

    assert error_lines(reply) == [line]


def test_revoking_needs_a_key(api, api_keys):
    assert error_lines(api.delete(api_keys)) == [(["query", "api_key_id"], "missing")]


def test_a_new_management_key_manages_the_teams_it_names(api, keys, second_team):
    bindings = [{"team_id": str(second_team.pk)}]

    made = api.post(
        keys,
        {"label": "labs", "role": "team_admin", "team_role_bindings": bindings},
    )

    key = ManagementKey.objects.get(label="labs")
    check_answer(made, "post", KEYS)
    text = made.json()["key"]
    assert made.json() == {
        "id": str(key.id),
        "label": "labs",
        "created_at": key.created_at.isoformat(),
        "creator": NOBODY,
        "role": "team_admin",
        "team_role_bindings": bindings,
        "key": text,
    }
    seen = ManagementClient(text).get(keys.replace("management_key", "team")).json()
    assert [team["id"] for team in seen["teams"]] == [str(second_team.pk)]
    lines = AuditEntry.unscoped.filter(subject_id=str(key.id))
    assert {line.tenant.team_id for line in lines} == {second_team.pk}


@pytest.mark.parametrize(
    ("role", "teams", "code"),
    [
        ("team_admin", "none", "teams_missing"),
        ("org_admin", "own", "teams_unwanted"),
        ("team_admin", "foreign", "team_unknown"),
    ],
)
def test_a_key_with_wrong_bindings_is_not_made(
    api, keys, alice_team, charlie_team, role, teams, code
):
    ids = {"none": [], "own": [alice_team.pk], "foreign": [charlie_team.pk]}[teams]
    bindings = [{"team_id": str(pk)} for pk in ids]

    reply = api.post(keys, {"label": "x", "role": role, "team_role_bindings": bindings})

    assert (reply.status_code, reply.json()["code"]) == (400, code)
    assert ManagementKey.objects.count() == 1


def test_management_keys_are_listed_by_team_and_role(
    api, keys, alice_team, second_team, charlie_team, django_assert_num_queries
):
    create_management_key(team=alice_team, actor=ACTOR, label="hers")
    create_management_key(team=second_team, actor=ACTOR, label="labs")
    create_management_key(team=charlie_team, actor=ACTOR, label="foreign")

    def labels(**query):
        return [key["label"] for key in api.get(keys, query).json()["data"]]

    with django_assert_num_queries(5):
        reply = api.get(keys)
    check_answer(reply, "get", KEYS)
    assert [key["label"] for key in reply.json()["data"]] == ["all", "hers", "labs"]
    assert reply.json()["data"][0]["team_role_bindings"] is None
    assert labels(team_id=str(second_team.pk)) == ["all", "labs"]
    assert labels(role="team_admin") == ["hers", "labs"]


def test_a_management_key_changes_and_ends(api, keys, alice_team, second_team):
    key, text = create_management_key(team=alice_team, actor=ACTOR, label="hers")
    bindings = [{"team_id": str(second_team.pk)}]

    changed = api.patch(
        f"{keys}/{key.id}", {"label": "theirs", "team_role_bindings": bindings}
    )
    moved = ManagementClient(text).get(keys.replace("management_key", "team")).json()
    ended = api.delete(f"{keys}/{key.id}")
    again = api.delete(f"{keys}/{key.id}")

    check_answer(changed, "patch", KEY)
    check_answer(ended, "delete", KEY)
    assert changed.json()["label"] == "theirs"
    assert changed.json()["team_role_bindings"] == bindings
    assert [team["id"] for team in moved["teams"]] == [str(second_team.pk)]
    assert (ended.status_code, again.status_code) == (200, 404)
    assert ManagementClient(text).get(keys).status_code == 401
    rows = AuditEntry.unscoped.filter(verb="change_management_key")
    assert {line.tenant.team_id for line in rows} == {alice_team.pk, second_team.pk}


def test_a_team_admin_neither_sees_nor_makes_management_keys(
    team_api, keys, alice_team
):
    key = ManagementKey.objects.get()

    replies = [
        team_api.get(keys),
        team_api.post(keys, {"label": "x", "role": "org_admin"}),
        team_api.patch(f"{keys}/{key.id}", {"label": "y"}),
        team_api.delete(f"{keys}/{key.id}"),
    ]

    assert [reply.status_code for reply in replies] == [403] * 4
    assert list(ManagementKey.objects.values_list("label", "revoked_at")) == [
        ("tests", None)
    ]


def test_a_malformed_binding_is_422(api, keys):
    reply = api.post(
        keys,
        {"label": "x", "role": "owner", "team_role_bindings": [{"team_id": "7"}]},
    )

    assert error_lines(reply) == [
        (["body", "role"], "enum"),
        (["body", "team_role_bindings", 0, "team_id"], "uuid_parsing"),
    ]


def test_a_change_replaces_bindings_by_whole_ones(api, keys, alice_team):
    key, _ = create_management_key(team=alice_team, actor=ACTOR, label="hers")

    reply = api.patch(
        f"{keys}/{key.id}", {"label": "theirs", "team_role_bindings": [{}]}
    )

    assert error_lines(reply) == [
        (["body", "team_role_bindings", 0, "team_id"], "missing")
    ]
    key.refresh_from_db()
    assert (key.label, [*key.teams.all()]) == ("hers", [alice_team])
    assert not AuditEntry.unscoped.filter(verb="change_management_key").exists()


def test_an_unknown_management_key_is_404(api, keys):
    assert api.delete(f"{keys}/{uuid4()}").status_code == 404
