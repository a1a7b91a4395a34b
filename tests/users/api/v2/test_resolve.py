from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.audit import audited
from tests.contract.document import check_answer
from tests.factories.users import make_user
from tests.statements import count_statements

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "client_user_id",
    [
        "u-1",
        "a/b/c",
        "two words",
        " edge ",
        "a+b",
        "100%",
        "ü-ß",
        "a?b#c",
        "a//b",
        "a\nb",
    ],
)
@pytest.mark.parametrize("end", ["", "/"])
def test_a_client_user_id_resolves_however_it_is_encoded(
    alice_api, alice_tenant, client_user_id, end
):
    user = make_user(tenant=alice_tenant, client_user_id=client_user_id)

    for safe in ("", "/"):
        path = quote(client_user_id, safe=safe)
        reply = alice_api.get(f"/v2/user/resolve/{path}{end}")

        assert reply.status_code == 200
        assert reply.json()["user_id"] == str(user.uuid)
    assert audited(alice_tenant)[-1] == ("read", "user", str(user.uuid))


def test_an_id_that_ends_in_a_slash_is_found_before_the_one_without(
    alice_api, alice_tenant
):
    make_user(tenant=alice_tenant, client_user_id="u-1")
    slashed = make_user(tenant=alice_tenant, client_user_id="u-1/")

    reply = alice_api.get("/v2/user/resolve/u-1/")

    assert reply.json()["user_id"] == str(slashed.uuid)


@pytest.mark.parametrize("client_user_id", ["metrics", "undo_delete", "providers"])
def test_a_literal_segment_may_be_a_client_user_id(
    alice_api, alice_tenant, client_user_id
):
    user = make_user(tenant=alice_tenant, client_user_id=client_user_id)

    reply = alice_api.get(f"/v2/user/resolve/{client_user_id}")

    assert reply.json()["user_id"] == str(user.uuid)


@pytest.mark.parametrize("path", ["U-1", "u-1%20", "u-", "nobody", "u-1%00"])
def test_only_the_id_itself_resolves(alice_api, alice_tenant, path):
    make_user(tenant=alice_tenant, client_user_id="u-1")

    reply = alice_api.get(f"/v2/user/resolve/{path}")

    assert reply.status_code == 404
    assert reply.json()["code"] == "not_found"
    assert [verb for verb, *_ in audited(alice_tenant)] == ["create_user"]


def test_a_strangers_client_user_id_does_not_resolve(
    alice_api, charlie_tenant, alice_production
):
    make_user(tenant=charlie_tenant, client_user_id="u-1")
    make_user(tenant=alice_production, client_user_id="u-1")

    assert alice_api.get("/v2/user/resolve/u-1").status_code == 404


def test_users_are_searched_by_the_beginning_of_either_id(
    alice_api, alice_tenant, charlie_tenant
):
    older = make_user(tenant=alice_tenant, client_user_id="clinic-7")
    newer = make_user(tenant=alice_tenant, client_user_id="Clinic-70")
    make_user(tenant=alice_tenant, client_user_id="other")
    make_user(tenant=charlie_tenant, client_user_id="clinic-7")

    def found(text):
        reply = alice_api.get("/v2/team/users/search", {"query_id": text})
        check_answer(reply, "get", "/v2/team/users/search")
        return [user["user_id"] for user in reply.json()]

    both = [str(older.uuid), str(newer.uuid)]
    assert found("clinic-7") == both
    assert audited(alice_tenant)[-1] == ("read", "user_list", "search")
    assert found("CLINIC") == both[::-1]
    assert found(str(newer.uuid)[:8]) == both[1:]
    assert found("linic") == []
    assert alice_api.get("/v2/team/users/search").json() == []
    with count_statements() as statements:
        found("clinic")
    assert len(statements) == 4
