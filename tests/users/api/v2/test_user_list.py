from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.statements import count_statements
from users.models import User
from users.operations.sources.sources import connect_source
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def ids(reply):
    return [user["client_user_id"] for user in reply.json()["users"]]


@pytest.fixture
def five(alice_tenant, time_machine):
    for number in range(5):
        time_machine.move_to(NOON + timedelta(seconds=number), tick=False)
        make_user(tenant=alice_tenant, client_user_id=f"u-{number}")


@pytest.mark.parametrize("path", ["/v2/user", "/v2/user/"])
def test_an_empty_list_has_all_keys(alice_api, path):
    reply = alice_api.get(path)

    assert reply.status_code == 200
    assert reply.json() == {"users": [], "total": 0, "offset": 0, "limit": 100}


def test_the_list_is_in_order_of_creation(alice_api, alice_tenant, five):
    reply = alice_api.get("/v2/user/")

    assert ids(reply) == ["u-0", "u-1", "u-2", "u-3", "u-4"]
    assert reply.json()["total"] == 5
    assert audited(alice_tenant)[-1] == ("read", "user_list", "offset=0 limit=100")


def test_users_of_one_instant_come_by_user_id(alice_api, alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    made = [str(make_user(tenant=alice_tenant).uuid) for _ in range(5)]

    reply = alice_api.get("/v2/user/")

    assert [user["user_id"] for user in reply.json()["users"]] == sorted(made)


def test_offset_and_limit_cut_a_page(alice_api, five):
    reply = alice_api.get("/v2/user/?offset=1&limit=2&offset_=9")

    assert ids(reply) == ["u-1", "u-2"]
    assert {k: v for k, v in reply.json().items() if k != "users"} == {
        "total": 5,
        "offset": 1,
        "limit": 2,
    }


def test_a_page_beyond_the_end_is_empty(alice_api, five):
    reply = alice_api.get("/v2/user/?offset=5")

    assert reply.status_code == 200
    assert ids(reply) == []
    assert reply.json()["total"] == 5


def test_the_list_shows_the_tenants_own_live_users_alone(
    alice_api, alice_tenant, alice_production, charlie_tenant
):
    make_user(tenant=alice_tenant, client_user_id="mine")
    delete_user(user=make_user(tenant=alice_tenant), actor=ACTOR)
    make_user(tenant=alice_production)
    make_user(tenant=charlie_tenant)

    reply = alice_api.get("/v2/user/")

    assert ids(reply) == ["mine"]
    assert reply.json()["total"] == 1


def test_an_element_is_the_user_as_read_alone(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant, fallback_time_zone="Asia/Tokyo")
    connect_source(user=user, actor=ACTOR, provider="oura")
    other = make_user(tenant=alice_tenant)

    listed = alice_api.get("/v2/user/").json()["users"]

    assert listed == [
        alice_api.get(f"/v2/user/{each.uuid}").json() for each in (user, other)
    ]


@pytest.mark.parametrize("limit", [1, 500])
def test_the_bounds_of_limit_are_taken(alice_api, five, limit):
    reply = alice_api.get(f"/v2/user/?limit={limit}")

    assert reply.json()["limit"] == limit
    assert len(ids(reply)) == min(limit, 5)


@pytest.mark.parametrize(
    ("query", "field", "kind"),
    [
        ("limit=501", "limit", "less_than_equal"),
        ("limit=0", "limit", "greater_than_equal"),
        ("limit=-1", "limit", "greater_than_equal"),
        ("limit=many", "limit", "int_parsing"),
        ("limit=", "limit", "int_parsing"),
        ("limit=1.5", "limit", "int_parsing"),
        ("limit=10000000000000000000000", "limit", "less_than_equal"),
        ("limit=" + "9" * 2000, "limit", "less_than_equal"),
        ("offset=-1", "offset", "greater_than_equal"),
        ("offset=x", "offset", "int_parsing"),
        ("offset=9223372036854775807", "offset", "less_than_equal"),
    ],
)
def test_a_bad_page_is_refused(alice_api, alice_tenant, query, field, kind):
    reply = alice_api.get(f"/v2/user/?{query}")

    assert error_lines(reply) == [(["query", field], kind)]
    assert audited(alice_tenant) == []


def test_the_farthest_offset_is_an_empty_page(alice_api, five):
    reply = alice_api.get(f"/v2/user/?offset={2**63 - 1 - 500}&limit=500")

    assert reply.status_code == 200
    assert ids(reply) == []


@pytest.mark.parametrize("number", [1, 2, 50])
def test_a_page_costs_the_same_statements_however_long(alice_api, alice_tenant, number):
    for _ in range(number):
        user = make_user(tenant=alice_tenant)
        connect_source(user=user, actor=ACTOR, provider="oura")
    alice_api.get("/v2/user/")

    with count_statements() as statements:
        reply = alice_api.get("/v2/user/")

    assert len(ids(reply)) == number
    # The page with its sources and the counter, audit; naming the tenant goes another
    # way.
    assert len(statements) == 2, statements
    assert User.objects.for_tenant(alice_tenant).count() == number
