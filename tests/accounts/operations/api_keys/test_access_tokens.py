from __future__ import annotations

import datetime

import pytest
import time_machine

from accounts.models import ApiKey, AuditEntry, ManagementKey
from accounts.operations.api_keys.access_tokens import (
    SIGN_IN_TOKEN_TTL,
    TEAM_TOKEN_TTL,
    create_team_access_token,
    create_user_sign_in_token,
    find_access_token_grant,
)
from accounts.operations.api_keys.api_keys import clear_api_key_cache, revoke_api_key
from accounts.operations.api_keys.management_keys import revoke_management_key
from accounts.operations.teams.deletion import delete_team
from portal.lib.errors import DomainError
from tests.clients import ApiClient, ManagementClient
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR, make_api_key, make_management_key
from tests.factories.timeseries import sample
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
NOW = datetime.datetime(2026, 3, 2, 9, tzinfo=datetime.UTC)
TOKEN = "/v1/org/{org_id}/team/{team_id}/create_api_access_token"
SIGN_IN = "/v2/user/{user_id}/sign_in_token"


def bearer(text):
    client = ApiClient()
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {text}"
    return client


def test_a_team_token_stands_for_a_key_until_it_ends_or_its_maker_does(
    alice_team, alice_tenant, charlie_team
):
    path = TOKEN.format(org_id=alice_team.organisation_id, team_id=alice_team.pk)
    make_user(tenant=alice_tenant)
    with time_machine.travel(NOW, tick=False):
        key = ManagementClient(make_management_key(team=alice_team))
        reply = key.post(path, {"env": "sandbox"})
        token = reply.json()["access_token"]
        read = [bearer(token).get("/v2/user"), ApiClient(token).get("/v2/user")]
        other = key.post(path, {"env": "production"}).json()["access_token"]
        elsewhere = bearer(other).get("/v2/user")
        stranger = ManagementClient(make_management_key(team=charlie_team))
        refused = stranger.post(path, {"env": "sandbox"})

    check_answer(reply, "post", TOKEN)
    assert reply.json()["expires_in"] == 900
    assert [each.json()["total"] for each in read] == [1, 1]
    assert elsewhere.json()["total"] == 0
    assert refused.status_code == 404
    line = AuditEntry.unscoped.filter(verb="create_access_token").first()
    assert (line.tenant.environment, line.actor_kind) == ("sandbox", "management")
    with time_machine.travel(NOW + TEAM_TOKEN_TTL, tick=False):
        assert find_access_token_grant(token) is None
    with time_machine.travel(NOW, tick=False):
        assert find_access_token_grant(f"{token}x") is None
        revoke_management_key(
            key=ManagementKey.objects.get(organisation=alice_team.organisation_id),
            actor=ACTOR,
        )
        assert find_access_token_grant(token) is None
        clear_api_key_cache()
        assert bearer(token).get("/v2/user").status_code == 401


def test_a_sign_in_token_reaches_one_user_s_data_alone(alice_tenant):
    text = make_api_key(tenant=alice_tenant)
    mine, other = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    made = ApiClient(text).post(SIGN_IN.format(user_id=mine.uuid))
    app = bearer(made.json()["sign_in_token"])
    day = {"start_date": "2026-02-28"}
    batch = {"provider": "apple_health_kit", "data": [sample("steps")]}

    def statuses(user):
        base = f"/v2/user/{user.uuid}"
        return [
            app.get(base).status_code,
            app.get(f"/v2/user/providers/{user.uuid}").status_code,
            app.post(f"/v2/timeseries/{user.uuid}/steps", batch).status_code,
            app.get(f"/v2/timeseries/{user.uuid}/steps/grouped", day).status_code,
            app.get(f"/v2/summary/activity/{user.uuid}", day).status_code,
        ]

    check_answer(made, "post", SIGN_IN)
    assert made.json()["user_id"] == str(mine.uuid)
    assert statuses(mine) == [200] * 5
    assert statuses(other) == [404] * 5
    for refused in (
        app.get("/v2/user"),
        app.get("/v2/user/metrics"),
        app.patch(f"/v2/user/{mine.uuid}", {"fallback_time_zone": None}),
        app.delete(f"/v2/user/{mine.uuid}"),
        app.post(SIGN_IN.format(user_id=mine.uuid)),
        app.get("/v3/orders"),
        app.get("/v2/events"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (403, "not_for_users")
    stray = ApiClient(text).post(SIGN_IN.format(user_id=alice_tenant.team_id))
    assert stray.status_code == 404


def test_a_sign_in_token_ends_with_its_hour_its_key_and_its_team(alice_tenant):
    user = make_user(tenant=alice_tenant)
    with time_machine.travel(NOW, tick=False):
        client = ApiClient(make_api_key(tenant=alice_tenant))
        path = SIGN_IN.format(user_id=user.uuid)
        first = client.post(path).json()["sign_in_token"]
        held = find_access_token_grant(first)
        delete_team(team=alice_tenant.team, actor=ACTOR)
        of_deleted = find_access_token_grant(first)
    alice_tenant.team.deleted_at = None
    alice_tenant.team.save(update_fields=["deleted_at"])
    with time_machine.travel(NOW + SIGN_IN_TOKEN_TTL, tick=False):
        late = find_access_token_grant(first)
    with time_machine.travel(NOW, tick=False):
        revoke_api_key(key=ApiKey.unscoped.get(), actor=ACTOR)
        revoked = find_access_token_grant(first)

    assert held.user_uuid == user.uuid
    assert (of_deleted, late, revoked) == (None, None, None)


def test_nobody_but_a_key_makes_tokens(alice_tenant):
    with pytest.raises(DomainError, match="not_allowed"):
        create_team_access_token(tenant=alice_tenant, actor=ACTOR)
    with pytest.raises(DomainError, match="not_allowed"):
        create_user_sign_in_token(
            tenant=alice_tenant, actor=ACTOR, user_uuid=alice_tenant.team_id
        )
    assert not AuditEntry.unscoped.filter(verb__endswith="token").exists()
