"""The numbered checks of contract 10.1 that apply so far, one test each."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import get_resolver

from tests.clients import ApiClient
from tests.factories.accounts import ACTOR
from tests.factories.timeseries import push_samples
from tests.factories.users import make_user
from tests.outbox import emitted
from users.operations.sources.sources import connect_source
from users.operations.users.users import SANDBOX_USER_LIMIT

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="team a/u 1")
    connect_source(user=user, actor=ACTOR, provider="oura")
    return user


def steps(api, user):
    """The groups of a user's steps."""
    path = f"/v2/timeseries/{user.uuid}/steps/grouped"
    answer = api.get(path, {"start_date": "2026-02-01"}).json()
    return answer["groups"]["oura"]


def test_1_connected_sources_carry_the_provider(alice_api, user):
    for answer in (
        alice_api.get(f"/v2/user/{user.uuid}").json(),
        alice_api.get("/v2/user/").json()["users"][0],
    ):
        (source,) = answer["connected_sources"]
        assert source["provider"] == source["source"]
        assert set(source["provider"]) == {"name", "slug", "logo"}


def test_2_events_and_groups_name_the_provider_of_their_source(
    alice_api, alice_tenant, user
):
    push_samples(user, "steps")

    (group,) = steps(alice_api, user)
    assert group["source"]["provider"] == "oura"
    assert emitted(alice_tenant)[-1]["data"]["source"]["provider"] == "oura"


def test_3_an_interval_has_start_and_end_and_the_contracts_unit(alice_api, user):
    push_samples(user, "steps")

    (group,) = steps(alice_api, user)
    (found,) = group["data"]
    assert found["start"] == found["timestamp"] < found["end"]
    assert found["unit"] == "count"


def test_10_a_users_providers_are_under_one_key_with_their_resources(alice_api, user):
    answer = alice_api.get(f"/v2/user/providers/{user.uuid}").json()

    assert list(answer) == ["providers"]
    for provider in answer["providers"]:
        assert provider["resource_availability"]["sleep"]["status"] == "available"


def test_11_each_provider_has_a_description(alice_api):
    for provider in alice_api.get("/v2/providers").json():
        assert isinstance(provider["description"], str)
        assert provider["description"]


def test_12_a_changed_user_answers_204_without_a_body(alice_api, user):
    reply = alice_api.patch(f"/v2/user/{user.uuid}", {"ingestion_start": None})

    assert reply.status_code == 204
    assert reply.content == b""


def test_16_no_refusal_is_one_the_client_repeats(alice_api, alice_tenant, user):
    """409 and 5xx are repeated twice: what stays refused is 4xx and not 409."""
    path = f"/v2/user/{user.uuid}"
    for _ in range(SANDBOX_USER_LIMIT - 1):
        make_user(tenant=alice_tenant)

    refusals = [
        alice_api.post("/v2/user", {"client_user_id": user.client_user_id}),
        alice_api.post("/v2/user", {"client_user_id": "one too many"}),
        alice_api.post("/v2/user", {"client_user_id": "jo@example.com"}),
        alice_api.post("/v2/user", b"{"),
        alice_api.post("/v2/user", b"x", "text/plain"),
        alice_api.put("/v2/user"),
        alice_api.get("/v2/user?limit=501"),
        alice_api.get("/v2/user/7"),
        alice_api.get(f"/v2/user/{uuid4()}"),
        alice_api.get("/v2/user/resolve/nobody"),
        alice_api.get("/v2/user/resolve/%00"),
        alice_api.get("/v2/nowhere"),
        alice_api.patch(path, {"ingestion_start": "x"}),
        alice_api.post("/v2/user/undo_delete"),
        alice_api.post("/v2/user/undo_delete", query_params={"user_id": user.uuid}),
        alice_api.delete(f"{path}/fitbit"),
        alice_api.get(f"{path}/info/latest"),
        alice_api.patch(f"{path}/info", {}),
        ApiClient("nonsense").get("/v2/user"),
    ]

    for reply in refusals:
        assert 400 <= reply.status_code < 500, reply.wsgi_request.path
        assert reply.status_code != 409, reply.wsgi_request.path
        assert "detail" in reply.json()
        assert reply.status_code == 422 or "code" in reply.json()


def test_17_a_client_user_id_with_a_slash_resolves(alice_api, user):
    for path in ("team a/u 1", "team%20a/u%201", "team%20a%2Fu%201", "team a/u 1/"):
        reply = alice_api.get(f"/v2/user/resolve/{path}")

        assert reply.json()["user_id"] == str(user.uuid)


def test_20_an_unknown_status_passes(alice_api, alice_tenant, user):
    connection = user.connections.get()
    connection.status = "hibernating"
    connection.save(update_fields=["status"])

    answer = alice_api.get(f"/v2/user/providers/{user.uuid}").json()

    assert answer["providers"][0]["status"] == "hibernating"


def test_every_path_of_the_api_answers_with_and_without_a_slash(alice_api, user):
    """Contract D12: a redirect would turn POST into GET."""
    for pattern in get_resolver().url_patterns:
        for entry in getattr(pattern, "url_patterns", []):
            if str(pattern.pattern) in ("v2/", "lab_report/v1/"):
                assert str(entry.pattern).endswith("/?$"), entry
