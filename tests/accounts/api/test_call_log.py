from __future__ import annotations

import uuid
from datetime import UTC, datetime

import psycopg
import pytest
import time_machine
from django.test import Client

from accounts.api import call_log
from accounts.api.call_log import (
    CallLog,
    fill_route_path,
    start_api_call_log,
)
from accounts.models import ApiCall, ApiKey
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from portal.lib.api.observers import call_observers
from tests.clients import ApiClient, ManagementClient
from tests.factories.accounts import ACTOR, make_api_key, make_management_key
from tests.factories.users import make_user

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture
def log(monkeypatch):
    log = CallLog()
    call_observers.append(log.note)
    yield log
    call_observers.remove(log.note)


def kept(tenant):
    return [
        (row.method, row.path, row.status, row.code)
        for row in ApiCall.objects.for_tenant(tenant).order_by("pk")
    ]


def test_a_call_is_kept_with_how_it_was_answered(log, alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="anna")
    client = ApiClient(make_api_key(tenant=alice_tenant))

    with time_machine.travel(NOON, tick=False):
        reply = client.get(
            f"/v2/user/{user.uuid}?name=anna",
            headers={"x-forwarded-for": "203.0.113.1"},
            REMOTE_ADDR="192.0.2.7",
        )
        written = log.write()

    row = ApiCall.objects.for_tenant(alice_tenant).get()
    assert written == 1
    assert (row.method, row.path) == ("GET", f"/v2/user/{user.uuid}")
    assert (row.status, row.at, row.ms) == (200, NOON, 0)
    assert row.request_id == reply["X-Request-ID"]
    assert (row.address, row.user_uuid) == ("192.0.2.7", user.uuid)
    assert row.api_key_id == ApiKey.objects.for_tenant(alice_tenant).get().pk
    assert "anna" not in str(ApiCall.unscoped.values())


def test_every_kind_of_answer_is_kept_and_no_word_of_the_customer(
    log, alice_tenant, charlie_tenant, monkeypatch
):
    _, text = create_api_key(
        tenant=alice_tenant,
        actor=ACTOR,
        label="ci",
        rules=KeyRules(scopes=frozenset({"users:write"}), calls_per_minute=7),
    )
    client = ApiClient(text)
    client.raise_request_exception = False
    stranger = str(make_user(tenant=charlie_tenant).uuid)

    client.post("/v2/user", {"client_user_id": "anna"})
    client.post("/v2/user", b"{")
    client.get("/v2/user/resolve/anna")
    client.get(f"/v2/user/{stranger.upper()}/")
    client.get("/v3/orders?patient_name=anna")
    client.put("/v2/user")
    monkeypatch.setattr("users.api.v2.views.users.UserListView.get", lambda *_: 1 / 0)
    client.get("/v2/user?limit=anna")
    client.get("/v2/user/anna")
    log.write()

    assert kept(alice_tenant) == [
        ("POST", "/v2/user", 200, ""),
        ("POST", "/v2/user", 422, "json_invalid"),
        ("GET", "/v2/user/resolve/{client_user_id}", 200, ""),
        ("GET", f"/v2/user/{stranger}", 404, "not_found"),
        ("GET", "/v3/orders", 403, "scope_missing"),
        ("PUT", "/v2/user", 405, "method_not_allowed"),
        ("GET", "/v2/user", 500, "fault"),
        ("GET", "/v2/user/{user_id}", 429, "throttled"),
    ]
    assert kept(charlie_tenant) == []


def test_calls_without_an_api_key_are_nobody_s(log, alice_team):
    management = ManagementClient(make_management_key(team=alice_team))

    management.get(f"/v1/org/{alice_team.organisation_id}")
    ApiClient().get("/v2/user")
    ApiClient("nonsense").get("/v2/user")
    Client().get("/healthz")

    assert log.write() == 0
    assert not ApiCall.unscoped.exists()


def test_what_can_not_be_written_now_is_written_later(
    log, alice_api, alice_tenant, monkeypatch
):
    def gone(_calls):
        raise psycopg.OperationalError("gone")

    class Connection:
        closed = 0

        def close(self):
            self.closed += 1

    with monkeypatch.context() as away:
        away.setattr(call_log, "connection", connection := Connection())
        away.setattr(call_log, "write_api_call_log", gone)
        status = alice_api.get("/v2/user").status_code
        meanwhile = log.write()
    afterwards = log.write()

    assert (status, meanwhile, afterwards, connection.closed) == (200, 0, 1, 1)
    assert kept(alice_tenant) == [("GET", "/v2/user", 200, "")]


def test_what_a_process_holds_is_bounded(log, alice_api, alice_tenant, monkeypatch):
    monkeypatch.setattr(call_log, "HELD_AT_MOST", 2)
    monkeypatch.setattr(call_log, "_BATCH", 1)

    for _ in range(3):
        alice_api.get("/v2/providers")

    assert log.write() == 2
    assert kept(alice_tenant) == [("GET", "/v2/providers", 200, "")] * 2


def test_a_path_names_our_ids_alone():
    one, other = str(uuid.uuid4()), str(uuid.uuid4())
    route = r"v3/^(?P<order_id>[^/\x00]+)/x/(?P<kind>[^/\x00]+)/(?P<id>[^\x00]+)/?$"

    parts = {"order_id": one, "kind": "hiv", "id": other.upper()}
    path = fill_route_path(route, parts, succeeded=True)
    series = "v2/^(?P<resource>[^/]+)$"
    asked = {"resource": "hrv"}

    assert path == f"/v3/{one}/x/{{kind}}/{other}"
    assert len(fill_route_path("v3/" + "x" * 300, {}, succeeded=True)) == 200
    assert fill_route_path(series, asked, succeeded=True) == "/v2/hrv"
    assert fill_route_path(series, asked, succeeded=False) == "/v2/{resource}"


def test_with_no_days_no_log_is_kept(settings):
    settings.API_CALL_LOG_DAYS = 0

    start_api_call_log()

    assert call_observers == []
