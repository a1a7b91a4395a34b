from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client
from django.test.client import MULTIPART_CONTENT

from accounts.api import auth
from accounts.models import ApiKey, Team
from accounts.operations.api_keys.api_keys import (
    OVERLAPS,
    clear_api_key_cache,
    create_api_key,
    known_grants,
    revoke_api_key,
    rotate_api_key,
)
from accounts.operations.teams.teams import change_team_settings
from accounts.queries.tenants import known_tenants
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR, make_api_key, make_tenant
from tests.statements import count_statements

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db
PATH = "/v2/user"


def status(key):
    return ApiClient(key).get(PATH).status_code


def test_a_key_opens_its_own_tenant(alice_tenant, alice_production):
    for tenant in (alice_tenant, alice_production):
        reply = ApiClient(make_api_key(tenant=tenant)).post(
            PATH, {"client_user_id": tenant.environment}
        )

        assert reply.status_code == 200
    listed = ApiClient(make_api_key(tenant=alice_production)).get(PATH).json()
    assert [user["client_user_id"] for user in listed["users"]] == ["production"]


@pytest.mark.parametrize(
    "key",
    [
        None,
        "",
        " ",
        "nonsense",
        "sk_us_" + "x" * 43,
        "pk_eu_",
        "x" * 10_000,
        "ключ",
        "a\tb",
    ],
)
def test_a_missing_malformed_or_unknown_key_is_401(key):
    reply = ApiClient(key).get(PATH)

    assert reply.status_code == 401
    assert reply.json()["code"] == "unauthenticated"
    assert isinstance(reply.json()["detail"], str)
    assert reply.headers["WWW-Authenticate"] == (
        'ApiKey realm="assay", header="x-service-api-key"'
    )


def test_a_part_and_an_extension_of_a_key_are_401(alice_tenant):
    key = make_api_key(tenant=alice_tenant)

    assert status(key) == 200
    for wrong in (key[:-1], key + "x", key.upper(), key.swapcase()):
        assert status(wrong) == 401


def test_the_key_is_not_taken_from_elsewhere(alice_tenant):
    key = make_api_key(tenant=alice_tenant)
    client = ApiClient()

    for reply in (
        client.get(PATH, {"x-service-api-key": key}),
        client.get(PATH, headers={"authorization": f"Bearer {key}"}),
        client.get(PATH, headers={"x-management-key": key}),
    ):
        assert reply.status_code == 401


def test_authentication_comes_before_validation_and_before_not_found():
    client = ApiClient()

    assert client.post(PATH, b"{").status_code == 401
    assert client.get(f"{PATH}?limit=501").status_code == 401
    assert client.get(f"{PATH}/7").status_code == 401


def test_a_revoked_key_ends_at_once_in_this_process(
    alice_tenant, django_capture_on_commit_callbacks
):
    row, key = create_api_key(tenant=alice_tenant, actor=ACTOR, label="k")
    assert status(key) == 200

    with django_capture_on_commit_callbacks(execute=True):
        revoke_api_key(key=row, actor=ACTOR)

    assert status(key) == 401


def test_a_key_revoked_elsewhere_ends_within_the_caches_life(alice_tenant, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(auth, "clock", lambda: clock[0])
    row, key = create_api_key(tenant=alice_tenant, actor=ACTOR, label="k")
    status(key)
    ApiKey.objects.for_tenant(alice_tenant).filter(pk=row.pk).update(revoked_at=NOON)

    clock[0] += auth.KEY_CACHE_TTL.total_seconds()
    within = status(key)
    clock[0] += 0.001
    after = status(key)

    assert timedelta(seconds=5) == auth.KEY_CACHE_TTL
    assert (within, after) == (200, 401)


def test_an_unknown_key_is_not_remembered(alice_tenant):
    clear_api_key_cache()
    status("nonsense")

    with count_statements() as statements:
        status("nonsense")

    assert len(statements) == 1


def test_a_known_key_costs_no_statement(alice_tenant):
    client = ApiClient(make_api_key(tenant=alice_tenant))
    client.get("/v2/providers")

    with count_statements() as statements:
        client.get("/v2/providers")

    assert statements == []


def ask_to_parse(key):
    """Upload a report of nobody: found out only where parsing is enabled."""
    upload = {"user_id": uuid.uuid4(), "file": BytesIO(b"%PDF")}
    reply = ApiClient(key).post(
        "/lab_report/v1/parser/job", upload, content_type=MULTIPART_CONTENT
    )
    return reply.status_code, reply.json().get("code")


def change_elsewhere(change):
    """Change something while this process keeps what it knew."""
    grants, tenants = dict(known_grants), dict(known_tenants)
    change()
    known_grants.update(grants)
    known_tenants.update(tenants)


def test_a_setting_changed_in_another_process_holds_from_the_next_call(
    alice_production,
):
    key = make_api_key(tenant=alice_production)
    other_key = make_api_key(tenant=alice_production)
    for each in (key, other_key):
        assert ask_to_parse(each) == (403, "parsing_not_enabled")

    for is_enabled, answer in (
        (True, (404, "user_not_found")),
        (False, (403, "parsing_not_enabled")),
        (True, (404, "user_not_found")),
    ):
        settings = {"lab_report_parsing_enabled": is_enabled}
        change_elsewhere(
            partial(
                change_team_settings,
                tenant=alice_production,
                actor=ACTOR,
                settings=settings,
            )
        )

        assert ask_to_parse(key) == ask_to_parse(other_key) == answer


def test_a_changed_setting_costs_one_statement_once(alice_tenant):
    key = make_api_key(tenant=alice_tenant)
    client = ApiClient(key)
    client.get("/v2/providers")
    change_team_settings(
        tenant=alice_tenant, actor=ACTOR, settings={"minor_ordering_enabled": True}
    )

    counts = []
    for _ in range(2):
        with count_statements() as statements:
            client.get("/v2/providers")
        counts.append(len(statements))

    assert counts == [1, 0]


def test_a_team_deleted_in_another_process_is_closed_to_known_keys(alice_tenant):
    key = make_api_key(tenant=alice_tenant)
    assert status(key) == 200

    change_elsewhere(
        lambda: Team.objects.filter(pk=alice_tenant.team_id).update(deleted_at=NOON)
    )

    assert status(key) == 401


def test_a_tenant_removed_in_another_process_is_closed_to_known_keys(alice_tenant):
    key = make_api_key(tenant=alice_tenant)
    assert status(key) == 200

    def remove():
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            cursor.execute(
                "DELETE FROM accounts_tenant WHERE id = %s", [alice_tenant.pk]
            )

    change_elsewhere(remove)
    found = status(key)
    transaction.set_rollback(True)

    assert found == 401


def test_settings_of_another_team_change_nothing_here(alice_production):
    charlie = make_tenant(environment="production")
    keys = [make_api_key(tenant=each) for each in (alice_production, charlie)]
    assert [ask_to_parse(key)[0] for key in keys] == [403, 403]

    change_elsewhere(
        partial(
            change_team_settings,
            tenant=charlie,
            actor=ACTOR,
            settings={"lab_report_parsing_enabled": True},
        )
    )

    assert [ask_to_parse(key)[0] for key in keys] == [403, 404]


def test_the_last_use_is_noted_at_most_once_a_minute(alice_tenant, time_machine):
    row, key = create_api_key(tenant=alice_tenant, actor=ACTOR, label="k")

    def used_at(moment):
        time_machine.move_to(moment, tick=False)
        clear_api_key_cache()
        status(key)
        return ApiKey.objects.for_tenant(alice_tenant).get(pk=row.pk).last_used_at

    first = used_at(NOON)
    soon = used_at(NOON + timedelta(seconds=59))
    later = used_at(NOON + timedelta(seconds=60))

    assert (first, soon) == (NOON, NOON)
    assert later == NOON + timedelta(seconds=60)


def test_a_rotated_key_is_not_remembered_past_its_end(alice_tenant, monkeypatch):
    ticks = [1000.0]
    monkeypatch.setattr(auth, "clock", lambda: ticks[0])
    key, text = create_api_key(tenant=alice_tenant, actor=ACTOR, label="ci")
    with time_machine.travel(NOON, tick=False) as clock:
        rotate_api_key(key=key, actor=ACTOR, overlap=OVERLAPS[1])
        clock.shift(OVERLAPS[1] - timedelta(seconds=2))
        last = status(text)
        ends = auth.known_grants[text][0]
        clock.shift(timedelta(seconds=3))
        ticks[0] += 3
        after = status(text)

    assert (last, ends, after) == (200, 1002.0, 401)


def test_the_former_header_is_taken_and_told_to_be_deprecated(alice_tenant):
    key = make_api_key(tenant=alice_tenant)
    former = Client(headers={"x-vital-api-key": key})

    reply = former.get(PATH)
    both = Client(headers={"x-vital-api-key": "x", "x-service-api-key": key}).get(PATH)

    assert (reply.status_code, reply["Deprecation"]) == (200, "@1795478400")
    assert both.status_code == 200
    assert "Deprecation" not in both.headers
    assert Client(headers={"x-vital-api-key": "sk_us_x"}).get(PATH).status_code == 401
    assert Client(headers={"x-other-api-key": key}).get(PATH).status_code == 401


def test_the_former_header_can_be_turned_off(alice_tenant, settings):
    settings.API_FORMER_KEY_HEADER = False
    key = make_api_key(tenant=alice_tenant)

    assert Client(headers={"x-vital-api-key": key}).get(PATH).status_code == 401
    assert ApiClient(key).get(PATH).status_code == 200
