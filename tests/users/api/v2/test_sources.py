from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from portal.lib.database.transitions import move_status
from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Connection
from users.operations.sources.sources import connect_source
from users.states import CONNECTION_MOVES, ConnectionFault, ConnectionStatus
from users.wearables.providers import PROVIDERS

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.mark.parametrize("path", ["/v2/providers", "/v2/providers/"])
def test_the_providers_are_a_bare_array(alice_api, settings, path):
    settings.PUBLIC_URL = "https://assay.example"

    reply = alice_api.get(path)

    assert reply.status_code == 200
    assert [each["slug"] for each in reply.json()] == list(PROVIDERS)
    assert reply.json()[10] == {
        "name": "Dexcom",
        "slug": "dexcom_v3",
        "description": "Continuous glucose monitoring",
        "logo": "https://assay.example/logos/dexcom_v3.svg",
        "auth_type": "oauth",
        "supported_resources": ["glucose", "insulin_injection", "carbohydrates"],
    }


@pytest.mark.parametrize(
    ("source_type", "slugs"),
    [
        ("email", ["freestyle_libre"]),
        ("EMAIL", ["freestyle_libre"]),
        ("app", ["manual"]),
        ("ring", []),
    ],
)
def test_providers_are_filtered_by_how_they_connect(alice_api, source_type, slugs):
    reply = alice_api.get("/v2/providers", {"source_type": source_type})

    assert [each["slug"] for each in reply.json()] == slugs


def test_a_user_without_sources_has_an_empty_list(alice_api, user):
    reply = alice_api.get(f"/v2/user/providers/{user.uuid}")

    assert reply.status_code == 200
    assert reply.json() == {"providers": []}


def test_a_users_sources_carry_their_status(
    alice_api, alice_tenant, user, settings, time_machine
):
    settings.PUBLIC_URL = "https://assay.example"
    time_machine.move_to(NOON, tick=False)
    connect_source(user=user, actor=ACTOR, provider="dexcom_v3", external_user_id="x1")
    broken = connect_source(user=user, actor=ACTOR, provider="strava")
    move_status(
        broken,
        moves=CONNECTION_MOVES,
        to=ConnectionStatus.ERROR,
        error_type=ConnectionFault.TOKEN_REFRESH_FAILED,
        error_message="The token has expired.",
        errored_at=NOON,
    )

    reply = alice_api.get(f"/v2/user/providers/{user.uuid}/")

    available = {"status": "available", "scope_requirements": None}
    assert reply.json() == {
        "providers": [
            {
                "name": "Dexcom",
                "slug": "dexcom_v3",
                "logo": "https://assay.example/logos/dexcom_v3.svg",
                "created_on": "2026-03-01T12:00:00+00:00",
                "status": "connected",
                "external_user_id": "x1",
                "error_details": None,
                "resource_availability": {
                    "glucose": available,
                    "insulin_injection": available,
                    "carbohydrates": available,
                },
            },
            {
                "name": "Strava",
                "slug": "strava",
                "logo": "https://assay.example/logos/strava.svg",
                "created_on": "2026-03-01T12:00:00+00:00",
                "status": "error",
                "external_user_id": None,
                "error_details": {
                    "error_type": "token_refresh_failed",
                    "error_message": "The token has expired.",
                    "errored_at": "2026-03-01T12:00:00+00:00",
                },
                "resource_availability": {
                    "workouts": available,
                    "workout_stream": available,
                },
            },
        ]
    }
    assert audited(alice_tenant)[-1] == ("read", "sources", str(user.uuid))


def test_a_stored_source_and_status_we_do_not_know_are_sent_as_they_are(
    alice_api, alice_tenant, user
):
    connection = connect_source(user=user, actor=ACTOR, provider="oura")
    connection.provider, connection.status = "newcomer", "hibernating"
    connection.save(update_fields=["provider", "status"])

    listed = alice_api.get(f"/v2/user/providers/{user.uuid}").json()["providers"][0]
    sources = alice_api.get(f"/v2/user/{user.uuid}").json()["connected_sources"]

    assert (listed["slug"], listed["name"]) == ("newcomer", "newcomer")
    assert listed["status"] == "hibernating"
    assert sources[0]["source"]["slug"] == "newcomer"


@pytest.mark.parametrize("end", ["", "/"])
def test_a_source_is_disconnected(alice_api, alice_tenant, user, end):
    connect_source(user=user, actor=ACTOR, provider="oura")

    reply = alice_api.delete(f"/v2/user/{user.uuid}/oura{end}")

    assert reply.status_code == 200
    assert reply.json() == {"success": True}
    assert Connection.objects.for_tenant(alice_tenant).get().disconnected_at is not None
    assert alice_api.get(f"/v2/user/{user.uuid}").json()["connected_sources"] == []
    assert audited(alice_tenant)[2] == ("disconnect_source", "source", "oura")


@pytest.mark.parametrize("provider", ["fitbit", "nobody", "%20", "%00"])
def test_a_source_that_is_not_connected_is_not_found(
    alice_api, alice_tenant, user, provider
):
    connect_source(user=user, actor=ACTOR, provider="oura")
    before = stored_rows(alice_tenant)

    reply = alice_api.delete(f"/v2/user/{user.uuid}/{provider}")

    assert reply.status_code == 404
    assert stored_rows(alice_tenant) == before


def test_a_strangers_sources_are_not_found(charlie_api, alice_tenant, user):
    connect_source(user=user, actor=ACTOR, provider="oura")
    before = stored_rows(alice_tenant)

    for user_id in (user.uuid, uuid4()):
        read = charlie_api.get(f"/v2/user/providers/{user_id}")
        ended = charlie_api.delete(f"/v2/user/{user_id}/oura")

        assert (read.status_code, ended.status_code) == (404, 404)
    assert stored_rows(alice_tenant) == before


def test_a_malformed_user_id_is_refused_in_the_path(alice_api):
    for reply in (
        alice_api.get("/v2/user/providers/7"),
        alice_api.delete("/v2/user/7/oura"),
    ):
        assert error_lines(reply) == [(["path", "user_id"], "uuid_parsing")]
