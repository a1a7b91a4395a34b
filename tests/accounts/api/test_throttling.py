from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine

from accounts.models import AuditEntry, CallWindow
from accounts.operations.api_keys.api_keys import (
    KeyRules,
    clear_api_key_cache,
    create_api_key,
)
from portal.lib.web.proxies import find_client_network
from tests.clients import ApiClient, ManagementClient
from tests.factories.accounts import ACTOR, make_api_key
from users.models import User

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PATH = "/v2/user"

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock():
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


def limited(tenant, **rules):
    _, text = create_api_key(
        tenant=tenant, actor=ACTOR, label="ci", rules=KeyRules(**rules)
    )
    return ApiClient(text)


def told(reply):
    names = ("RateLimit-Policy", "RateLimit", "Retry-After")
    return reply.status_code, *(reply.headers.get(name) for name in names)


def test_without_a_limit_nothing_is_counted_or_sent(alice_api):
    reply = alice_api.get(PATH)

    assert told(reply) == (200, None, None, None)
    assert not CallWindow.objects.exists()


def test_a_key_is_told_its_limit_and_then_to_wait(alice_tenant, clock):
    client = limited(alice_tenant, calls_per_minute=2)

    first = client.get(PATH)
    clock.shift(timedelta(seconds=20))
    second = client.get("/v2/providers")
    over = client.post(PATH, {"client_user_id": "u1"})
    audited = AuditEntry.unscoped.count()
    again = client.get(PATH)
    clock.shift(timedelta(seconds=40))
    anew = client.get(PATH)

    policy = '"key";q=2;w=60'
    assert told(first) == (200, policy, '"key";r=1;t=60', None)
    assert told(second) == (200, policy, '"key";r=0;t=40', None)
    assert told(over) == (429, policy, '"key";r=0;t=40', "40")
    assert over.json() == {"detail": "Too many requests.", "code": "throttled"}
    assert told(again) == (429, policy, '"key";r=0;t=40', "40")
    assert told(anew) == (200, policy, '"key";r=1;t=60', None)
    assert not User.objects.for_tenant(alice_tenant).exists()
    assert AuditEntry.unscoped.count() == audited + 1


def test_a_key_s_own_limit_goes_before_that_of_all(alice_tenant, clock, settings):
    settings.API_CALLS_PER_KEY = 5
    own = limited(alice_tenant, calls_per_minute=9)
    other = ApiClient(make_api_key(tenant=alice_tenant))

    assert told(own.get(PATH))[1] == '"key";q=9;w=60'
    assert told(other.get(PATH))[1:3] == ('"key";q=5;w=60', '"key";r=4;t=60')


def test_an_address_is_limited_over_all_its_keys_and_without_one(
    alice_tenant, charlie_tenant, clock, settings
):
    settings.API_CALLS_PER_ADDRESS = 3
    mine = limited(alice_tenant, calls_per_minute=9)
    others = ApiClient(make_api_key(tenant=charlie_tenant))

    first = mine.get(PATH)
    second = others.get(PATH)
    unknown = ApiClient("sk_us_unknown").get(PATH)
    over = [client.get(PATH) for client in (mine, others, ApiClient("nonsense"))]
    over.append(ApiClient().get("/v2/link/providers", headers={"x-link-token": "x"}))
    over.append(ManagementClient("mg_us_unknown").get(f"/v1/org/{uuid4()}/team"))
    elsewhere = mine.get(PATH, REMOTE_ADDR="192.0.2.9")

    assert told(first) == (
        200,
        '"address";q=3;w=60, "key";q=9;w=60',
        '"address";r=2;t=60, "key";r=8;t=60',
        None,
    )
    assert told(second)[:3] == (200, '"address";q=3;w=60', '"address";r=1;t=60')
    assert unknown.status_code == 401
    assert [told(reply)[0::3] for reply in over] == [(429, "60")] * 5
    assert told(elsewhere)[2] == '"address";r=2;t=60, "key";r=7;t=60'


def test_what_clients_write_of_themselves_makes_them_nobody_else(
    alice_tenant, clock, settings
):
    settings.API_CALLS_PER_ADDRESS = 1
    client = ApiClient(make_api_key(tenant=alice_tenant))

    statuses = [
        client.get(PATH, headers={name: f"192.0.2.{number}"}).status_code
        for number, name in enumerate(
            ("x-forwarded-for", "x-forwarded-for", "forwarded", "x-real-ip")
        )
    ]

    assert statuses == [200, 429, 429, 429]


def test_whoever_has_an_address_of_ipv6_has_its_network():
    assert [
        find_client_network(address)
        for address in ("192.0.2.7", "::ffff:192.0.2.7", "2001:db8::9:1", "", None)
    ] == ["192.0.2.7", "192.0.2.7", "2001:db8::/64", "unknown", "unknown"]


def test_a_call_from_an_address_that_is_not_allowed_is_403(alice_tenant):
    client = limited(alice_tenant, networks=("2001:db8::/32", "192.0.2.7"))
    audited = AuditEntry.unscoped.count()

    refused = client.get(PATH)
    forged = client.get(PATH, headers={"x-forwarded-for": "192.0.2.7"})
    allowed = [
        client.get(PATH, REMOTE_ADDR=address).status_code
        for address in ("2001:db8:1::1", "192.0.2.7", "::ffff:192.0.2.7")
    ]

    for reply in (refused, forged):
        assert reply.status_code == 403
        assert reply.json()["code"] == "address_not_allowed"
    assert allowed == [200, 200, 200]
    assert AuditEntry.unscoped.count() == audited + 3


def test_refused_calls_count_and_a_thief_takes_none_of_the_owner_s(alice_tenant, clock):
    client = limited(
        alice_tenant,
        calls_per_minute=2,
        scopes=frozenset({"users:read"}),
        networks=("192.0.2.7",),
    )
    owner = {"REMOTE_ADDR": "192.0.2.7"}

    stolen = [client.get(PATH) for _ in range(3)]
    probed = [client.get(path, **owner) for path in ("/v3/orders", PATH, PATH)]

    assert [reply.status_code for reply in stolen] == [403, 403, 429]
    assert [reply.status_code for reply in probed] == [403, 200, 429]
    assert [reply.json()["code"] for reply in (stolen[1], probed[0])] == [
        "address_not_allowed",
        "scope_missing",
    ]
    assert stolen[1]["RateLimit"] == '"key";r=0;t=60'


def test_a_key_past_its_end_is_401(alice_tenant, clock):
    client = limited(alice_tenant, expires_at=NOON + timedelta(seconds=3))

    before = client.get(PATH).status_code
    clock.shift(timedelta(seconds=3))
    clear_api_key_cache()  # the tests' clock of what is remembered stands still
    after = client.get(PATH)

    assert before == 200
    assert (after.status_code, after.json()["code"]) == (401, "unauthenticated")
