from __future__ import annotations

from datetime import UTC, date, datetime
from uuid import uuid4

import pytest

from accounts.models import AuditEntry
from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import User
from users.operations.sources.sources import connect_source
from users.operations.users.users import SANDBOX_USER_LIMIT, delete_user

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOON_TEXT = "2026-03-01T12:00:00+00:00"


def only_user(tenant):
    return User.objects.for_tenant(tenant).get()


def test_create_answers_the_user_with_the_defaults(
    alice_api, alice_tenant, time_machine
):
    time_machine.move_to(NOON, tick=False)

    reply = alice_api.post("/v2/user", {"client_user_id": "u-1"})

    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json() == {
        "user_id": str(only_user(alice_tenant).uuid),
        "team_id": str(alice_tenant.team_id),
        "client_user_id": "u-1",
        "created_on": NOON_TEXT,
        "connected_sources": [],
        "fallback_time_zone": {
            "id": "UTC",
            "source_slug": "manual",
            "updated_at": NOON_TEXT,
        },
        "fallback_birth_date": None,
        "ingestion_start": None,
        "ingestion_end": None,
    }
    assert audited(alice_tenant) == [
        ("create_user", "user", str(only_user(alice_tenant).uuid))
    ]


def test_create_takes_all_fields(alice_api, time_machine):
    time_machine.move_to(NOON, tick=False)

    reply = alice_api.post(
        "/v2/user/",
        {
            "client_user_id": "u-1",
            "fallback_time_zone": "Europe/Berlin",
            "fallback_birth_date": "1990-05-17",
            "ingestion_start": "2026-01-01",
            "ingestion_end": "2026-12-31",
        },
    )

    answer = reply.json()
    assert answer["fallback_time_zone"] == {
        "id": "Europe/Berlin",
        "source_slug": "manual",
        "updated_at": NOON_TEXT,
    }
    assert answer["fallback_birth_date"] == {
        "value": "1990-05-17",
        "source_slug": "manual",
        "updated_at": NOON_TEXT,
    }
    assert answer["ingestion_start"] == "2026-01-01"
    assert answer["ingestion_end"] == "2026-12-31"


def test_create_ignores_unknown_keys_and_takes_null_as_absent(alice_api):
    reply = alice_api.post(
        "/v2/user?whatever=1",
        {"client_user_id": "u-1", "colour": 7, "fallback_birth_date": None},
    )

    assert reply.status_code == 200
    assert reply.json()["fallback_birth_date"] is None


LONG = "x" * 256
BAD_BODIES = [
    ({}, "client_user_id", "missing"),
    ({"client_user_id": None}, "client_user_id", "missing"),
    ({"client_user_id": 5}, "client_user_id", "string_type"),
    ({"client_user_id": ["u"]}, "client_user_id", "string_type"),
    ({"client_user_id": ""}, "client_user_id", "string_too_short"),
    ({"client_user_id": LONG}, "client_user_id", "string_too_long"),
    ({"client_user_id": "a\0b"}, "client_user_id", "value_error"),
    ({"client_user_id": "jo@example.com"}, "client_user_id", "value_error"),
    ({"client_user_id": "+4915112345678"}, "client_user_id", "value_error"),
    ({"fallback_time_zone": "Mars/Olympus"}, "fallback_time_zone", "value_error"),
    ({"fallback_time_zone": "europe/berlin"}, "fallback_time_zone", "value_error"),
    ({"fallback_time_zone": "../../etc/passwd"}, "fallback_time_zone", "value_error"),
    ({"fallback_time_zone": ""}, "fallback_time_zone", "value_error"),
    ({"fallback_time_zone": 1}, "fallback_time_zone", "string_type"),
    (
        {"fallback_birth_date": "17.05.1990"},
        "fallback_birth_date",
        "date_from_datetime_parsing",
    ),
    (
        {"fallback_birth_date": "1990-5-17"},
        "fallback_birth_date",
        "date_from_datetime_parsing",
    ),
    (
        {"fallback_birth_date": "1990-02-30"},
        "fallback_birth_date",
        "date_from_datetime_parsing",
    ),
    (
        {"fallback_birth_date": 19900517},
        "fallback_birth_date",
        "date_from_datetime_parsing",
    ),
    ({"ingestion_start": ""}, "ingestion_start", "date_from_datetime_parsing"),
    (
        {"ingestion_start": "2026-01-02", "ingestion_end": "2026-01-01"},
        "ingestion_end",
        "value_error",
    ),
]


@pytest.mark.parametrize(("body", "field", "kind"), BAD_BODIES)
def test_a_bad_body_is_refused_at_its_field(alice_api, alice_tenant, body, field, kind):
    before = stored_rows(alice_tenant)
    named = body if "client_user_id" in body or not body else {"client_user_id": "u"}

    reply = alice_api.post("/v2/user", {**named, **body})

    assert error_lines(reply) == [(["body", field], kind)]
    assert stored_rows(alice_tenant) == before


def test_every_fault_of_a_body_is_named(alice_api):
    reply = alice_api.post("/v2/user", {"fallback_time_zone": 1, "ingestion_end": "x"})

    assert error_lines(reply) == [
        (["body", "client_user_id"], "missing"),
        (["body", "fallback_time_zone"], "string_type"),
        (["body", "ingestion_end"], "date_from_datetime_parsing"),
    ]


def test_a_refusal_never_repeats_the_input(alice_api):
    reply = alice_api.post("/v2/user", {"client_user_id": "jo@example.com"})

    assert b"jo@" not in reply.content


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        (b'{"client_user_id": ', ["body"], "json_invalid"),
        (b'{"client_user_id": "\\ud800"}', ["body"], "json_invalid"),
        (b"\xff\xfe", ["body"], "json_invalid"),
        (b"[]", ["body"], "value_error"),
        (b'"text"', ["body"], "value_error"),
        (b"null", ["body"], "value_error"),
        (b"", ["body", "client_user_id"], "missing"),
    ],
)
def test_a_body_that_is_no_object_is_refused(alice_api, alice_tenant, body, loc, kind):
    before = stored_rows(alice_tenant)

    reply = alice_api.post("/v2/user", body)

    assert error_lines(reply) == [(loc, kind)]
    assert stored_rows(alice_tenant) == before


def test_a_body_of_another_type_is_refused(alice_api, alice_tenant):
    reply = alice_api.post("/v2/user", b"client_user_id=u", "text/plain")

    assert reply.status_code == 415
    assert reply.json()["code"] == "unsupported_media_type"
    assert User.objects.for_tenant(alice_tenant).count() == 0


def test_a_client_user_id_in_use_answers_its_holder(alice_api, alice_tenant):
    first = alice_api.post("/v2/user", {"client_user_id": "u-1"}).json()
    before = stored_rows(alice_tenant)

    reply = alice_api.post("/v2/user", {"client_user_id": "u-1"})

    body = reply.json()
    assert reply.status_code == 400
    assert body["code"] == "client_user_id_taken"
    assert isinstance(body["detail"].pop("error_message"), str)
    assert body["detail"] == {
        "error_type": "INVALID_REQUEST",
        "user_id": first["user_id"],
        "created_on": first["created_on"],
    }
    assert stored_rows(alice_tenant) == before


def test_a_full_sandbox_refuses_another_user(alice_api, alice_tenant):
    for _ in range(SANDBOX_USER_LIMIT):
        make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    reply = alice_api.post("/v2/user", {"client_user_id": "u-51"})

    assert reply.status_code == 400
    assert reply.json()["code"] == "sandbox_user_limit"
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("end", ["", "/"])
def test_a_user_is_read_with_the_sources(alice_api, alice_tenant, settings, end):
    settings.PUBLIC_URL = "https://assay.example"
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    oura = connect_source(user=user, actor=ACTOR, provider="oura")
    connect_source(user=user, actor=ACTOR, provider="fitbit")

    reply = alice_api.get(f"/v2/user/{user.uuid}{end}")

    answer = reply.json()
    badge = {
        "name": "Oura",
        "slug": "oura",
        "logo": "https://assay.example/logos/oura.svg",
    }
    assert reply.status_code == 200
    assert answer["user_id"] == str(user.uuid)
    assert answer["connected_sources"][0] == {
        "created_on": oura.created_on.isoformat(),
        "source": badge,
        "provider": badge,
    }
    assert [each["source"]["slug"] for each in answer["connected_sources"]] == [
        "oura",
        "fitbit",
    ]
    assert audited(alice_tenant)[-1] == ("read", "user", str(user.uuid))


def test_a_read_names_the_key_and_the_address(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant)

    alice_api.get(f"/v2/user/{user.uuid}")

    line = AuditEntry.objects.for_tenant(alice_tenant).get(verb="read")
    assert line.user_uuid == user.uuid
    assert (line.actor_kind, line.actor_label) == ("api_key", "tests")
    assert line.address == "127.0.0.1"


BAD_IDS = ["7", "nobody", "g" * 36, "{%s}", "urn:uuid:%s"]


@pytest.mark.parametrize("text", BAD_IDS)
@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_a_malformed_user_id_is_refused_in_the_path(
    alice_api, alice_tenant, method, text
):
    user = make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    path = text.replace("%s", str(user.uuid))
    reply = getattr(alice_api, method)(f"/v2/user/{path}")

    assert error_lines(reply) == [(["path", "user_id"], "uuid_parsing")]
    assert stored_rows(alice_tenant) == before


def test_a_user_id_in_capitals_is_the_same(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant)

    reply = alice_api.get(f"/v2/user/{str(user.uuid).upper()}")

    assert reply.json()["user_id"] == str(user.uuid)


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_an_unknown_a_foreign_and_a_deleted_user_are_not_found(
    alice_api, alice_tenant, alice_production, charlie_tenant, method
):
    deleted = make_user(tenant=alice_tenant)
    delete_user(user=deleted, actor=ACTOR)
    ids = [
        uuid4(),
        deleted.uuid,
        make_user(tenant=charlie_tenant).uuid,
        make_user(tenant=alice_production).uuid,
    ]
    tenants = (alice_tenant, alice_production, charlie_tenant)
    before = [stored_rows(tenant) for tenant in tenants]

    for user_id in ids:
        reply = getattr(alice_api, method)(f"/v2/user/{user_id}")

        assert reply.status_code == 404
        assert reply.json()["code"] == "not_found"
    assert [stored_rows(tenant) for tenant in tenants] == before


def test_patch_answers_204_without_a_body(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant, fallback_time_zone="Europe/Berlin")

    reply = alice_api.patch(
        f"/v2/user/{user.uuid}",
        {"client_user_id": "u-2", "ingestion_end": "2026-12-31", "colour": 1},
    )

    stored = only_user(alice_tenant)
    assert reply.status_code == 204
    assert reply.content == b""
    assert stored.client_user_id == "u-2"
    assert stored.ingestion_end == date(2026, 12, 31)
    assert stored.fallback_time_zone == "Europe/Berlin"


def test_patch_clears_with_null(alice_api, alice_tenant, time_machine):
    time_machine.move_to(NOON, tick=False)
    user = make_user(
        tenant=alice_tenant,
        fallback_time_zone="Europe/Berlin",
        fallback_birth_date=date(1990, 5, 17),
        ingestion_start=date(2026, 1, 1),
        ingestion_end=date(2026, 1, 2),
    )

    reply = alice_api.patch(
        f"/v2/user/{user.uuid}",
        {
            "fallback_time_zone": None,
            "fallback_birth_date": None,
            "ingestion_start": None,
            "ingestion_end": None,
        },
    )

    answer = alice_api.get(f"/v2/user/{user.uuid}").json()
    assert reply.status_code == 204
    assert answer["fallback_time_zone"] == {
        "id": "UTC",
        "source_slug": "manual",
        "updated_at": NOON_TEXT,
    }
    assert answer["fallback_birth_date"] is None
    assert answer["ingestion_start"] is None
    assert answer["ingestion_end"] is None


@pytest.mark.parametrize("body", [{}, b""])
def test_patch_of_nothing_changes_nothing(alice_api, alice_tenant, body):
    user = make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    reply = alice_api.patch(f"/v2/user/{user.uuid}", body)

    assert reply.status_code == 204
    assert stored_rows(alice_tenant) == before


BAD_PATCHES = [
    ({"client_user_id": None}, "client_user_id", "string_type"),
    *[case for case in BAD_BODIES if case[2] != "missing"],
    ({"ingestion_end": "2025-01-01"}, "ingestion_end", "value_error"),
]


@pytest.mark.parametrize(("body", "field", "kind"), BAD_PATCHES)
def test_a_bad_patch_is_refused_at_its_field(
    alice_api, alice_tenant, body, field, kind
):
    user = make_user(tenant=alice_tenant, ingestion_start=date(2025, 6, 1))
    before = stored_rows(alice_tenant)

    reply = alice_api.patch(f"/v2/user/{user.uuid}", body)

    assert error_lines(reply) == [(["body", field], kind)]
    assert stored_rows(alice_tenant) == before


def test_patch_to_a_client_user_id_in_use_answers_its_holder(alice_api, alice_tenant):
    holder = make_user(tenant=alice_tenant, client_user_id="u-1")
    user = make_user(tenant=alice_tenant, client_user_id="u-2")
    before = stored_rows(alice_tenant)

    reply = alice_api.patch(f"/v2/user/{user.uuid}", {"client_user_id": "u-1"})

    assert reply.status_code == 400
    assert reply.json()["code"] == "client_user_id_taken"
    assert reply.json()["detail"]["user_id"] == str(holder.uuid)
    assert stored_rows(alice_tenant) == before


def test_not_found_comes_before_validation(alice_api):
    reply = alice_api.patch(f"/v2/user/{uuid4()}", {"client_user_id": 5})

    assert reply.status_code == 404


def test_delete_answers_success_and_the_user_vanishes(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")

    reply = alice_api.delete(f"/v2/user/{user.uuid}")

    assert reply.status_code == 200
    assert reply.json() == {"success": True}
    assert alice_api.get(f"/v2/user/{user.uuid}").status_code == 404
    assert alice_api.get("/v2/user/resolve/u-1").status_code == 404
    assert alice_api.get(f"/v2/user/providers/{user.uuid}").status_code == 404
    assert alice_api.get(f"/v2/user/{user.uuid}/info/latest").status_code == 404
    assert alice_api.get("/v2/user").json()["total"] == 0


@pytest.mark.parametrize("path", ["/v2/user/undo_delete", "/v2/user/undo_delete/"])
@pytest.mark.parametrize("by", ["user_id", "client_user_id"])
def test_undo_brings_the_user_back(alice_api, alice_tenant, path, by):
    user = make_user(tenant=alice_tenant, client_user_id="u 1/+")
    alice_api.delete(f"/v2/user/{user.uuid}")
    named = {"user_id": str(user.uuid), "client_user_id": "u 1/+"}[by]

    reply = alice_api.post(path, b"", query_params={by: named})

    assert reply.status_code == 200
    assert reply.json() == {"success": True}
    assert alice_api.get(f"/v2/user/{user.uuid}").status_code == 200


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({}, 400, "one_id_needed"),
        ({"user_id": "mine", "client_user_id": "u-1"}, 400, "one_id_needed"),
        ({"user_id": "mine"}, 400, "user_not_deleted"),
        ({"client_user_id": "nobody"}, 404, "not_found"),
        ({"user_id": "theirs"}, 404, "not_found"),
    ],
)
def test_undo_refuses(alice_api, alice_tenant, charlie_tenant, query, status, code):
    mine = make_user(tenant=alice_tenant, client_user_id="u-1")
    theirs = make_user(tenant=charlie_tenant)
    delete_user(user=theirs, actor=ACTOR)
    ids = {"mine": str(mine.uuid), "theirs": str(theirs.uuid)}
    before = [stored_rows(tenant) for tenant in (alice_tenant, charlie_tenant)]

    reply = alice_api.post(
        "/v2/user/undo_delete",
        query_params={name: ids.get(value, value) for name, value in query.items()},
    )

    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert [stored_rows(tenant) for tenant in (alice_tenant, charlie_tenant)] == before


def test_undo_answers_the_holder_of_the_client_user_id(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    alice_api.delete(f"/v2/user/{user.uuid}")
    holder = make_user(tenant=alice_tenant, client_user_id="u-1")

    reply = alice_api.post(
        "/v2/user/undo_delete", query_params={"user_id": str(user.uuid)}
    )

    assert reply.status_code == 400
    assert reply.json()["detail"]["user_id"] == str(holder.uuid)


@pytest.mark.parametrize("text", ["7", "", "not-a-uuid"])
def test_undo_refuses_a_malformed_user_id(alice_api, text):
    reply = alice_api.post("/v2/user/undo_delete", query_params={"user_id": text})

    assert error_lines(reply) == [(["query", "user_id"], "uuid_parsing")]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("delete", "/v2/user"),
        ("get", "/v2/user/undo_delete"),
        ("put", "/v2/user"),
        ("post", "/v2/user/resolve/u-1"),
        ("post", "/v2/providers"),
    ],
)
def test_a_method_that_is_not_served_is_405(alice_api, method, path):
    reply = getattr(alice_api, method)(path)

    assert reply.status_code == 405
    assert reply.json()["code"] == "method_not_allowed"
