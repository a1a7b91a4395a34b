from __future__ import annotations

from datetime import date
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.test import Client
from jsonschema import ValidationError

from tests.clients import ApiClient
from tests.contract.document import SNAPSHOT, check_answer, document
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.factories import info_body
from users.api.v2.views.former import RAW_RESOURCES
from users.operations.sources.sources import connect_source
from users.operations.users.users import SANDBOX_USER_LIMIT

SUMMARIES = [
    "menstrual_cycle",
    "sleep_cycle",
    "activity",
    "sleep",
    "body",
    "workouts",
    "meal",
    "electrocardiogram",
    "profile",
]

UPDATE = "uv run manage.py spectacular --file tests/contract/openapi.yaml"


def test_the_committed_document_is_what_the_code_says():
    written = StringIO()
    call_command("spectacular", fail_on_warn=True, validate=True, stdout=written)

    assert written.getvalue() == SNAPSHOT.read_text(), f"run {UPDATE}"


@pytest.mark.django_db
def test_the_document_is_served_to_anyone():
    reply = Client().get("/api/schema/")

    assert reply.status_code == 200
    assert b"openapi: 3.1" in reply.content


def test_the_document_is_of_openapi_31_and_names_the_keys():
    assert document()["openapi"].startswith("3.1.")
    assert document()["components"]["securitySchemes"] == {
        "ApiKey": {"type": "apiKey", "in": "header", "name": "x-service-api-key"},
        "LinkToken": {"type": "apiKey", "in": "header", "name": "x-link-token"},
        "ManagementKey": {"type": "apiKey", "in": "header", "name": "x-management-key"},
    }


def operations():
    return [
        (path, method, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_operation_needs_the_key_and_names_its_errors():
    for path, method, operation in operations():
        key = "ManagementKey" if path.startswith("/v1/org") else "ApiKey"
        if path.startswith("/v2/link/provider"):
            key = "LinkToken"
        (needed,) = operation["security"]
        assert needed == {key: []}, (path, method)
        # Keys of the API are limited by scopes, the others are not.
        assert ("x-scopes" in operation) == (key == "ApiKey"), (path, method)
        assert {"401", "422"} <= set(operation["responses"]), (path, method)
        if "{" in path:
            assert "404" in operation["responses"], (path, method)
        assert operation["summary"], (path, method)


def test_operation_ids_are_ours_and_differ():
    ids = [operation["operationId"] for *_, operation in operations()]

    assert len(set(ids)) == len(ids)
    assert not [each for each in ids if each[-1].isdigit()]


def test_the_paths_of_users_are_the_contracts():
    served = {
        (method.upper(), path)
        for path, method, _ in operations()
        if path.startswith("/v2") and "/team/" not in path
    }

    contract = {
        ("GET", "/v2/user"),
        ("POST", "/v2/user"),
        ("GET", "/v2/user/{user_id}"),
        ("GET", "/v2/user/resolve/{client_user_id}"),
        ("PATCH", "/v2/user/{user_id}"),
        ("DELETE", "/v2/user/{user_id}"),
        ("POST", "/v2/user/undo_delete"),
        ("GET", "/v2/user/metrics"),
        ("POST", "/v2/user/{user_id}/sign_in_token"),
        ("POST", "/v2/user/{user_id}/create_portal_url"),
        ("POST", "/v2/user/refresh/{user_id}"),
        ("GET", "/v2/user/{user_id}/completeness"),
        ("GET", "/v2/user/{user_id}/phone"),
        ("DELETE", "/v2/user/{user_id}/phone/{phone_id}"),
        ("GET", "/v2/user/{user_id}/device"),
        ("GET", "/v2/user/{user_id}/device/{device_id}"),
        ("GET", "/v2/introspect/resources"),
        ("GET", "/v2/introspect/historical_pull"),
        ("POST", "/v2/link/connect/demo"),
        ("GET", "/v2/user/providers/{user_id}"),
        ("DELETE", "/v2/user/{user_id}/{provider}"),
        ("PATCH", "/v2/user/{user_id}/info"),
        ("GET", "/v2/user/{user_id}/info/latest"),
        ("POST", "/v2/user/{user_id}/insurance"),
        ("GET", "/v2/user/{user_id}/insurance/latest"),
        ("GET", "/v2/providers"),
        ("POST", "/v2/link/code/create"),
        ("POST", "/v2/link/token"),
        ("GET", "/v2/link/providers"),
        ("GET", "/v2/link/provider/oauth/{provider}"),
        ("POST", "/v2/link/bulk_import"),
        ("POST", "/v2/link/bulk_export"),
        ("POST", "/v2/link/bulk_pause"),
        ("POST", "/v2/link/bulk_trigger_historical_pull"),
        ("GET", "/v2/link/bulk_op"),
        ("GET", "/v2/events"),
        *(
            (method, f"/v2/summary/{resource}/{{user_id}}")
            for method in ("GET", "POST")
            for resource in SUMMARIES
        ),
        ("GET", "/v2/timeseries/workouts/{workout_id}/stream"),
        ("PUT", "/v2/timeseries/workouts/{workout_id}/stream"),
        ("GET", "/v2/timeseries/sleep/{sleep_id}/stream"),
        *(
            ("GET", f"/v2/summary/{resource}/{{user_id}}/raw")
            for resource in (*RAW_RESOURCES, "devices")
        ),
        *(
            ("GET", f"/v2/timeseries/{{user_id}}/cholesterol/{kind}")
            for kind in ("hdl", "ldl", "total", "triglycerides")
        ),
        ("GET", "/v2/timeseries/{user_id}/{resource}"),
        ("POST", "/v2/timeseries/{user_id}/{resource}"),
        ("GET", "/v2/timeseries/{user_id}/{resource}/grouped"),
        ("GET", "/v2/aggregate/{user_id}/{resource}"),
    }
    assert served == contract, "a path that the contract has is added above"


USER = "/v2/user/{user_id}"


@pytest.mark.django_db
def test_answers_about_users_are_as_published(alice_api, alice_tenant):
    bare = alice_api.post("/v2/user", {"client_user_id": "u-1"})
    user = make_user(
        tenant=alice_tenant,
        client_user_id="u-2",
        fallback_time_zone="Europe/Berlin",
        fallback_birth_date=date(1990, 5, 17),
        ingestion_start=date(2026, 1, 1),
        ingestion_end=date(2026, 1, 2),
    )
    for provider in ("oura", "apple_health_kit"):
        connect_source(user=user, actor=ACTOR, provider=provider)
    path = f"/v2/user/{user.uuid}"

    check_answer(bare, "post", "/v2/user")
    check_answer(alice_api.get("/v2/user"), "get", "/v2/user")
    check_answer(alice_api.get(path), "get", USER)
    check_answer(
        alice_api.get("/v2/user/resolve/u-2"),
        "get",
        "/v2/user/resolve/{client_user_id}",
    )
    check_answer(
        alice_api.get(f"/v2/user/providers/{user.uuid}"),
        "get",
        "/v2/user/providers/{user_id}",
    )
    check_answer(alice_api.patch(path, {"client_user_id": "u-3"}), "patch", USER)
    check_answer(
        alice_api.delete(f"{path}/oura"), "delete", "/v2/user/{user_id}/{provider}"
    )
    check_answer(alice_api.delete(path), "delete", USER)
    check_answer(
        alice_api.post(
            "/v2/user/undo_delete", query_params={"user_id": str(user.uuid)}
        ),
        "post",
        "/v2/user/undo_delete",
    )
    check_answer(alice_api.get("/v2/providers"), "get", "/v2/providers")


@pytest.mark.django_db
def test_answers_about_demographics_are_as_published(alice_api, alice_tenant):
    path = f"/v2/user/{make_user(tenant=alice_tenant).uuid}/info"
    proxy = {
        "first_name": "Marta",
        "last_name": "Example",
        "phone_number": "+15550100",
        "address": info_body()["address"],
    }

    written = alice_api.patch(path, info_body(medical_proxy=proxy, race="asian"))

    check_answer(written, "patch", "/v2/user/{user_id}/info")
    check_answer(
        alice_api.get(f"{path}/latest"), "get", "/v2/user/{user_id}/info/latest"
    )


@pytest.mark.django_db
def test_refusals_are_as_published(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="u-1")
    path = f"/v2/user/{user.uuid}"
    taken = {"client_user_id": "u-1"}
    other = make_user(tenant=alice_tenant)
    nobody = f"/v2/user/{uuid4()}"

    replies = [
        (ApiClient().get("/v2/user"), 401, "get", "/v2/user"),
        (alice_api.get("/v2/user?limit=501"), 422, "get", "/v2/user"),
        (alice_api.post("/v2/user", taken), 400, "post", "/v2/user"),
        (alice_api.post("/v2/user", b"{"), 422, "post", "/v2/user"),
        (alice_api.get("/v2/user/7"), 422, "get", USER),
        (alice_api.get(nobody), 404, "get", USER),
        (alice_api.patch(f"/v2/user/{other.uuid}", taken), 400, "patch", USER),
        (alice_api.delete(f"{path}/oura"), 404, "delete", f"{USER}/{{provider}}"),
        (alice_api.get(f"{path}/info/latest"), 404, "get", f"{USER}/info/latest"),
        (alice_api.patch(f"{path}/info", {}), 422, "patch", f"{USER}/info"),
        (
            alice_api.post("/v2/user/undo_delete"),
            400,
            "post",
            "/v2/user/undo_delete",
        ),
    ]

    for reply, status, method, published in replies:
        assert reply.status_code == status
        check_answer(reply, method, published)


@pytest.mark.django_db
def test_the_full_sandbox_is_refused_as_published(alice_api, alice_tenant):
    for _ in range(SANDBOX_USER_LIMIT):
        make_user(tenant=alice_tenant)

    check_answer(
        alice_api.post("/v2/user", {"client_user_id": "x"}), "post", "/v2/user"
    )


def test_the_check_notices_a_missing_and_an_unlisted_key():
    class Reply:
        status_code = 200

        def __init__(self, body):
            self.body = body

        def json(self):
            return self.body

    check_answer(Reply({"success": True}), "delete", USER)
    for body in ({}, {"success": True, "more": 1}, {"success": "yes"}):
        with pytest.raises((AssertionError, ValidationError)):
            check_answer(Reply(body), "delete", USER)


def test_the_paths_of_orders_are_the_contracts():
    served = {
        (method.upper(), path)
        for path, method, _ in operations()
        if path.startswith(("/v3/order", "/v2/team/{team_id}/"))
    }

    assert served == {
        ("POST", "/v3/order"),
        ("POST", "/v3/order/create"),
        ("GET", "/v3/order/{order_id}/communication_settings"),
        ("PATCH", "/v3/order/{order_id}/communication_settings"),
        ("POST", "/v3/order/import"),
        ("GET", "/v3/orders"),
        ("GET", "/v3/order/{order_id}"),
        ("PATCH", "/v3/order/{order_id}"),
        ("POST", "/v3/order/{order_id}/cancel"),
        ("POST", "/v3/order/{order_id}/recreate"),
        ("POST", "/v3/order/{order_id}/replace_kit"),
        ("POST", "/v3/order/{order_id}/test"),
        ("POST", "/v3/order/resend_events"),
        ("POST", "/v3/order/testkit"),
        ("POST", "/v3/order/testkit/register"),
        ("PATCH", "/v3/order/{order_id}/draw_completed"),
        ("POST", "/v3/order/{order_id}/shipment_events"),
        ("GET", "/v3/order/{order_id}/tracking"),
        ("GET", "/v3/order/{order_id}/result"),
        ("GET", "/v3/order/{order_id}/result/metadata"),
        ("GET", "/v3/order/{order_id}/result/pdf"),
        ("GET", "/v3/order/{order_id}/requisition/pdf"),
        ("GET", "/v3/order/{order_id}/labels/pdf"),
        ("GET", "/v3/order/{order_id}/collection_instruction_pdf"),
        ("GET", "/v3/order/{order_id}/abn_pdf"),
        ("GET", "/v3/order_transaction/{transaction_id}/result"),
        ("GET", "/v3/order_transaction/{transaction_id}/result/pdf"),
        ("GET", "/v3/order/psc/info"),
        ("GET", "/v3/order/area/info"),
        ("GET", "/v3/order/{order_id}/psc/info"),
        ("POST", "/v3/order/psc/appointment/availability"),
        ("POST", "/v3/order/phlebotomy/appointment/availability"),
        *(
            (method, f"/v3/order/{{order_id}}/{kind}/appointment{call}")
            for kind in ("psc", "phlebotomy")
            for method, call in (
                ("GET", ""),
                ("POST", "/book"),
                ("PATCH", "/reschedule"),
                ("PATCH", "/cancel"),
            )
        ),
        ("POST", "/v3/order/{order_id}/phlebotomy/appointment/request"),
        ("GET", "/v3/order/psc/appointment/cancellation-reasons"),
        ("GET", "/v3/order/phlebotomy/appointment/cancellation-reasons"),
        ("GET", "/v3/order_transaction/{transaction_id}"),
        ("GET", "/v2/team/{team_id}/physicians"),
    }


def test_the_paths_of_unmatched_results_are_the_client_s():
    assert {
        path: sorted(methods)
        for path, methods in document()["paths"].items()
        if "/unmatched_result" in path
    } == {
        "/v3/unmatched_result": ["get"],
        "/v3/unmatched_result/{raw_result_id}": ["get"],
        "/v3/unmatched_result/{raw_result_id}/accept": ["post"],
        "/v3/unmatched_result/{raw_result_id}/resolve": ["post"],
    }


def test_the_paths_of_the_compendium_are_the_client_s():
    assert {
        path: sorted(methods)
        for path, methods in document()["paths"].items()
        if "/compendium/" in path
    } == {
        "/v3/compendium/convert": ["post"],
        "/v3/compendium/search": ["post"],
        "/v3/compendium/search_orderable_tests": ["post"],
    }
