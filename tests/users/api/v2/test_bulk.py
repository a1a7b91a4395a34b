"""Bulk operations on connections, through the API (contract 10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.sources import FakeSource
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.users.holdings import stored_rows
from users.models import BulkOperation, Connection, Pull, SourceGrant
from users.operations.sources.credentials import save_source_credentials
from users.operations.sources.grants import get_valid_connection_tokens
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
IMPORT, EXPORT = "/v2/link/bulk_import", "/v2/link/bulk_export"
PAUSE, HISTORY = "/v2/link/bulk_pause", "/v2/link/bulk_trigger_historical_pull"
LIST = "/v2/link/bulk_op"


@pytest.fixture(autouse=True)
def _offered(settings, time_machine):
    settings.OURA_CLIENT_ID = settings.OURA_CLIENT_SECRET = "our"
    time_machine.move_to(NOON, tick=False)


def make_recipe(user, account, **changes):
    return {
        "user_id": str(getattr(user, "uuid", user)),
        "access_token": f"access-{account}",
        "refresh_token": f"refresh-{account}",
        "provider_id": account,
        "expires_at": int((NOON + timedelta(days=1)).timestamp()),
        **changes,
    }


def test_connections_move_in_and_out_again(
    alice_api, charlie_api, alice_tenant, charlie_tenant, monkeypatch
):
    ada, bea, other = (make_user(tenant=alice_tenant) for _ in range(3))
    strange = make_user(tenant=charlie_tenant)
    missing = uuid4()
    recipes = [
        make_recipe(ada, "o-1", oauth_scopes=["daily", "email"]),
        make_recipe(bea, "o-2", expires_at=2**31 - 1),
        make_recipe(strange, "o-3"),
        make_recipe(missing, "o-4"),
        make_recipe(other, "o-1"),
        make_recipe(other, "o-5", oauth_scopes=["email"]),
    ]
    before = stored_rows(charlie_tenant)

    reply = alice_api.post(
        IMPORT,
        {"provider": "Oura", "connections": recipes, "wait_for_completion": True},
    )

    refused = [str(strange.uuid), str(missing), str(other.uuid), str(other.uuid)]
    assert (reply.status_code, reply.json()) == (
        200,
        {
            "user_ids_imported": [str(ada.uuid), str(bea.uuid)],
            "user_ids_failed": refused,
        },
    )
    assert stored_rows(charlie_tenant) == before
    live = Connection.objects.for_tenant(alice_tenant).order_by("id")
    assert [each.external_user_id for each in live] == ["o-1", "o-2"]
    assert emitted_types(alice_tenant) == ["provider.connection.created"] * 2
    grants = SourceGrant.objects.for_tenant(alice_tenant).order_by("id")
    assert [each.expires_at for each in grants] == [NOON + timedelta(days=1), None]
    assert "access-o-1" not in grants[0].access_token
    kept = get_valid_connection_tokens(
        connection=live[0], gateway=FakeSource("oura")
    ).grant
    assert (kept.access_token, kept.refresh_token) == ("access-o-1", "refresh-o-1")
    assert kept.scopes == ("daily", "email")
    listed = alice_api.get(LIST).json()
    assert listed == {
        "data": [
            {
                "type": "link_bulk_import",
                "status": "success",
                "provider": "oura",
                "pending": 0,
                "processed": 6,
                "started_at": "2026-03-09T12:00:00+00:00",
                "ended_at": "2026-03-09T12:00:00+00:00",
            }
        ],
        "next_cursor": None,
    }
    assert charlie_api.get(LIST).json()["data"] == []

    # Tokens of the installation's application are not the team's to take.
    denied = alice_api.post(EXPORT, {"provider": "oura"})
    assert (denied.status_code, denied.json()["code"]) == (
        400,
        "own_credentials_needed",
    )
    monkeypatch.setattr(
        "users.gateways.sources.SOURCE_GATEWAYS", {"oura": FakeSource("oura")}
    )
    save_source_credentials(
        tenant=alice_tenant,
        actor=ACTOR,
        provider="oura",
        client_id="mine",
        client_secret="mine",
    )
    assert alice_api.post(EXPORT, {"provider": "oura"}).json()["data"] == []
    alice_api.post(IMPORT, {"provider": "oura", "connections": recipes[:2]})
    first = alice_api.post(
        EXPORT, {"provider": "oura", "user_ids": [str(ada.uuid), str(strange.uuid)]}
    )
    assert first.json() == {"data": [recipes[0]], "next_token": None}
    assert audited(alice_tenant)[-1] == ("export_source_tokens", "source", "oura")
    monkeypatch.setattr("users.api.v2.views.bulk.BULK_MAX", 1)
    page = alice_api.post(EXPORT, {"provider": "oura"}).json()
    rest = alice_api.post(
        EXPORT, {"provider": "oura", "next_token": page["next_token"]}
    ).json()
    assert page["data"] + rest["data"] == [
        recipes[0],
        recipes[1] | {"oauth_scopes": ["daily"]},
    ]
    assert rest["next_token"] is None
    assert charlie_api.post(EXPORT, {"provider": "oura"}).status_code == 400


def test_many_are_paused_and_asked_for_their_past(
    alice_api, alice_tenant, time_machine
):
    ada = make_user(tenant=alice_tenant)
    alice_api.post(
        IMPORT, {"provider": "oura", "connections": [make_recipe(ada, "o-1")]}
    )
    pushed = make_user(tenant=alice_tenant)
    connect_source(user=pushed, actor=ACTOR, provider="oura")
    missing = uuid4()
    Pull.objects.for_tenant(alice_tenant).delete()
    ids = [str(ada.uuid), str(pushed.uuid), str(missing)]

    past = alice_api.post(HISTORY, {"provider": "oura", "user_ids": ids})
    pulls = Pull.objects.for_tenant(alice_tenant)
    wanted = set(pulls.values_list("user__uuid", "is_history"))
    paused = alice_api.post(PAUSE, {"provider": "oura", "user_ids": [*ids]})
    after = alice_api.post(HISTORY, {"provider": "oura", "user_ids": ids[:1]})
    time_machine.move_to(NOON + timedelta(hours=1), tick=False)
    cut_off = BulkOperation.objects.for_tenant(alice_tenant).order_by("id")[1]
    cut_off.ended_at = None
    cut_off.save()

    assert past.json() == {"user_ids_done": ids[:1], "user_ids_failed": ids[1:]}
    assert wanted == {(ada.uuid, True)}
    assert paused.json() == {"user_ids_done": ids[:2], "user_ids_failed": ids[2:]}
    assert after.json() == {"user_ids_done": [], "user_ids_failed": ids[:1]}
    live = Connection.objects.for_tenant(alice_tenant)
    assert {each.status for each in live} == {"paused"}
    first = alice_api.get(LIST, query_params={"page_size": 1}).json()
    second = alice_api.get(
        LIST, query_params={"page_size": 1, "next_cursor": first["next_cursor"]}
    ).json()
    assert [each["status"] for each in first["data"] + second["data"]] == [
        "failure",
        "aborted",
    ]
    last = alice_api.get(LIST, query_params={"next_cursor": second["next_cursor"]})
    assert [each["type"] for each in last.json()["data"]] == ["link_bulk_import"]


@pytest.mark.parametrize(
    ("path", "body", "line"),
    [
        (IMPORT, {"provider": "abacus"}, (["body", "provider"], "enum")),
        (
            IMPORT,
            {"connections": [{"user_id": "7"}]},
            (["body", "connections", 0, "user_id"], "uuid_parsing"),
        ),
        (
            IMPORT,
            {"connections": [make_recipe(uuid4(), "o-1", expires_at=-1)]},
            (["body", "connections", 0, "expires_at"], "greater_than_equal"),
        ),
        (PAUSE, {"user_ids": ["7"]}, (["body", "user_ids", 0], "uuid_parsing")),
        (HISTORY, {"user_ids": None}, (["body", "user_ids"], "missing")),
        (EXPORT, {"next_token": "x"}, (["query", "next_token"], "value_error")),
    ],
)
def test_a_body_at_fault_changes_nothing(alice_api, alice_tenant, path, body, line):
    make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    reply = alice_api.post(
        path, {"provider": "oura", "connections": [], "user_ids": [], **body}
    )

    assert line in error_lines(reply)
    assert stored_rows(alice_tenant) == before


def test_a_source_that_is_not_offered_here_imports_nothing(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    replies = [
        alice_api.post(
            IMPORT, {"provider": "zwift", "connections": [make_recipe(user, "z-1")]}
        ),
        alice_api.post(HISTORY, {"provider": "zwift", "user_ids": [str(user.uuid)]}),
    ]

    assert [each.json()["code"] for each in replies] == ["source_not_offered"] * 2
    assert stored_rows(alice_tenant) == before
    assert not BulkOperation.objects.for_tenant(alice_tenant).exists()
