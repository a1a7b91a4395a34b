from __future__ import annotations

import pytest

from accounts.models import ManagementKey
from accounts.operations.api_keys.management_keys import revoke_management_key
from tests.clients import ManagementClient, error_lines
from tests.factories.accounts import ACTOR, make_api_key, make_management_key

pytestmark = pytest.mark.django_db


def path_of(tenant, **changes):
    place = {
        "org_id": tenant.team.organisation_id,
        "team_id": tenant.team_id,
        "environment": tenant.environment,
    }
    return "/v1/org/{org_id}/team/{team_id}/{environment}/webhook".format(
        **{**place, **changes}
    )


@pytest.mark.parametrize("key", [None, "", "nonsense", "mg_us_" + "x" * 43])
def test_a_missing_or_unknown_management_key_is_401(alice_tenant, key):
    reply = ManagementClient(key).get(path_of(alice_tenant))

    assert reply.status_code == 401
    assert reply.json()["code"] == "unauthenticated"
    assert "x-management-key" in reply.headers["WWW-Authenticate"]


def test_keys_of_one_kind_do_not_open_the_other(alice_team, alice_tenant):
    management = make_management_key(team=alice_team)
    api_key = make_api_key(tenant=alice_tenant)

    as_management = ManagementClient(api_key).get(path_of(alice_tenant))
    as_api_key = ManagementClient().get(
        "/v2/user", headers={"x-service-api-key": management}
    )

    assert (as_management.status_code, as_api_key.status_code) == (401, 401)


def test_a_revoked_management_key_ends_at_once(alice_team, alice_tenant):
    client = ManagementClient(make_management_key(team=alice_team))
    before = client.get(path_of(alice_tenant)).status_code

    key = ManagementKey.objects.get()
    revoke_management_key(key=key, team=alice_team, actor=ACTOR)

    assert (before, client.get(path_of(alice_tenant)).status_code) == (200, 401)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"org_id": "7"}, (["path", "org_id"], "uuid_parsing")),
        ({"team_id": "7"}, (["path", "team_id"], "uuid_parsing")),
        ({"environment": "staging"}, (["path", "environment"], "enum")),
    ],
)
def test_a_malformed_place_is_422(alice_team, alice_tenant, changes, line):
    client = ManagementClient(make_management_key(team=alice_team))

    reply = client.get(path_of(alice_tenant, **changes))

    assert error_lines(reply) == [line]
