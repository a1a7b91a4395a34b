from __future__ import annotations

import gc
import re
import uuid
import weakref
from datetime import UTC, datetime

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, transaction
from django.http import HttpResponse
from django.test import RequestFactory, override_settings
from django.urls import path as page
from django.utils.dates import MONTHS
from django.utils.translation import get_language
from psycopg.pq import TransactionStatus
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.views import TenantAPIView
from accounts.models import AuditEntry
from accounts.operations.audit.entries import record_read
from portal.lib.api.fields import Inputs, Str, validate_post_body
from portal.lib.api.json import BODY_MAX_BYTES, AlwaysJson, OrjsonParser, OrjsonRenderer
from portal.lib.api.views import json_response, mount_api_view
from portal.lib.budgets import AFTER_ANSWER
from portal.lib.errors import Conflict
from portal.lib.tenancy import ALL_TENANTS, acting_for
from tests.clients import ApiClient
from tests.factories.accounts import make_api_key
from tests.fence import no_tenant_named

pytestmark = pytest.mark.django_db


def setting():
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(current_setting('assay.tenant', true), '')")
        return cursor.fetchone()[0]


class Echo(TenantAPIView):
    def get(self, request, **parameters):
        return Response(
            {
                "tenant": self.tenant.pk,
                "setting": setting(),
                "actor": self.actor.label,
                "address": self.actor.address,
                "given": parameters,
            }
        )

    def post(self, request, **parameters):
        return Response(request.data)

    def patch(self, request, **parameters):
        raise Conflict("busy", "Busy.")

    def delete(self, request, **parameters):
        raise RuntimeError("a secret")


class Named(Inputs):
    name = Str()


class Month(TenantAPIView):
    def get(self, request):
        return json_response({"month": MONTHS[3]})

    def post(self, request):
        return Response(validate_post_body(request, Named))


def language(request):
    return HttpResponse(f"{get_language()} {MONTHS[3]}")


class Last(TenantAPIView):
    subject = "user_list"

    def get(self, request):
        self.record()
        return Response({"setting": setting()})

    def post(self, request):
        with transaction.atomic():
            self.record()
            inside = setting()
            transaction.set_rollback(True)
        return Response({"setting": inside, "after": setting()})

    def patch(self, request):
        self.subject = "x" * 61  # more than the column takes
        self.record()

    def record(self):
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject=self.subject,
            subject_id="all",
            is_last=True,
        )


class Rowless(TenantAPIView):
    reads_rows = False

    def get(self, request):
        return Response({"tenant": self.tenant.pk, "setting": setting()})


class Full(TenantAPIView):
    def post(self, request):
        raise OperationalError from psycopg.errors.DiskFull()


class Unkeyed(TenantAPIView):
    authentication_classes = []

    def get(self, request):
        raise AssertionError("never reached")


urlpatterns = [
    mount_api_view("v2/echo", Echo, "echo"),
    mount_api_view("v2/echo/<name>", Echo),
    mount_api_view("v2/path/<path:name>", Echo),
    mount_api_view("v2/unkeyed", Unkeyed),
    mount_api_view("v2/month", Month),
    mount_api_view("v2/full", Full),
    page("language", language),
]
handler404 = "portal.http.error_pages.show_not_found_page"
handler500 = "portal.http.error_pages.show_server_error_page"


@pytest.fixture(autouse=True)
def _own_urls():
    with override_settings(ROOT_URLCONF=__name__):
        yield


def test_a_view_has_the_tenant_and_the_actor_of_the_key(alice_api, alice_tenant):
    reply = alice_api.get("/v2/echo")

    assert reply.json() == {
        "tenant": alice_tenant.pk,
        "setting": str(alice_tenant.pk),
        "actor": "tests",
        "address": "127.0.0.1",
        "given": {},
    }
    assert setting() == ALL_TENANTS


def test_the_tenant_is_put_back_after_a_refusal_and_after_a_fault(
    alice_api, charlie_tenant
):
    alice_api.raise_request_exception = False

    with acting_for(charlie_tenant):
        refusal = alice_api.patch("/v2/echo")
        fault = alice_api.delete("/v2/echo")
        after = setting()

    assert (refusal.status_code, refusal.json()["code"]) == (409, "busy")
    assert (fault.status_code, fault.json()["code"]) == (500, "fault")
    assert b"secret" not in fault.content
    assert after == str(charlie_tenant.pk)


@pytest.mark.django_db(transaction=True)
def test_the_tenant_is_taken_back_with_the_answer_and_that_is_read_after_it(
    alice_tenant,
):
    from django.db import connection

    key, after = make_api_key(tenant=alice_tenant), []
    given = {"headers": {"x-service-api-key": key}, AFTER_ANSWER: after}
    with no_tenant_named():
        reply = Echo.as_view()(RequestFactory().get("/v2/echo", **given))
        during = connection.connection.info.transaction_status
        (read,) = after
        read()
        left = setting()
        connection.connection.pgconn.send_query(b"SELECT 1 / 0")
        read()
        kept = connection.connection

    assert reply.data["setting"] == str(alice_tenant.pk)
    assert (during, left, kept) == (TransactionStatus.ACTIVE, "", None)


def call(view, method, tenant):
    key, after = make_api_key(tenant=tenant), []
    given = {"headers": {"x-service-api-key": key}, AFTER_ANSWER: after}
    with no_tenant_named():
        request = getattr(RequestFactory(), method)("/v2/echo", **given)
        reply = view.as_view()(request)
        for each in after:
            each()
        left = setting()
    return reply.data, len(after), left


def reads_of(tenant):
    rows = AuditEntry.objects.for_tenant(tenant).filter(verb="read")
    return list(rows.values_list("subject", "subject_id", "actor_label"))


@pytest.mark.django_db(transaction=True)
def test_the_read_that_is_the_last_takes_the_tenant_back(alice_tenant):
    data, left_to_do, left = call(Last, "get", alice_tenant)

    assert (data, left_to_do, left) == ({"setting": ""}, 0, "")
    assert reads_of(alice_tenant) == [("user_list", "all", "tests")]


@pytest.mark.django_db(transaction=True)
def test_within_a_transaction_the_last_read_leaves_the_tenant_named(alice_tenant):
    named = str(alice_tenant.pk)

    data, left_to_do, left = call(Last, "post", alice_tenant)

    assert data == {"setting": named, "after": named}
    assert (left_to_do, left) == (1, "")
    assert reads_of(alice_tenant) == []


def test_within_the_scope_of_another_the_last_read_leaves_that(
    alice_tenant, charlie_tenant, alice_api
):
    headers = {"x-service-api-key": make_api_key(tenant=alice_tenant)}
    with acting_for(charlie_tenant):
        reply = Last.as_view()(RequestFactory().get("/v2/echo", headers=headers))
        after = setting()

    assert reply.data == {"setting": str(alice_tenant.pk)}
    assert after == str(charlie_tenant.pk)
    assert reads_of(alice_tenant) == [("user_list", "all", "tests")]


@pytest.mark.django_db(transaction=True)
def test_a_read_that_can_not_be_recorded_is_not_answered(alice_tenant):
    key, after = make_api_key(tenant=alice_tenant), []
    given = {"headers": {"x-service-api-key": key}, AFTER_ANSWER: after}

    with no_tenant_named():
        with pytest.raises(psycopg.DataError):
            Last.as_view()(RequestFactory().patch("/v2/echo", **given))
        for each in after:
            each()
        left = setting()

    assert (len(after), left) == (1, "")
    assert reads_of(alice_tenant) == []


@pytest.mark.django_db(transaction=True)
def test_a_view_that_reads_no_rows_runs_without_a_tenant(alice_tenant):
    data, left_to_do, left = call(Rowless, "get", alice_tenant)

    assert data == {"tenant": alice_tenant.pk, "setting": ""}
    assert (left_to_do, left) == (0, "")


@pytest.mark.parametrize("view", [Echo, Rowless])
def test_no_view_runs_for_a_team_that_is_gone(view, alice_tenant):
    headers = {"x-service-api-key": make_api_key(tenant=alice_tenant)}
    asked = [RequestFactory().get("/v2/echo", headers=headers) for _ in range(2)]

    before = view.as_view()(asked[0])
    alice_tenant.team.deleted_at = datetime.now(UTC)
    alice_tenant.team.save()
    after = view.as_view()(asked[1])

    assert (before.status_code, after.status_code) == (200, 401)


@pytest.mark.parametrize(
    ("view", "method", "status"),
    [(Month, "get", 200), (Echo, "get", 200), (Echo, "patch", 409)],
)
def test_a_call_is_freed_without_a_search_for_garbage(
    view, method, status, alice_tenant
):
    headers = {"x-service-api-key": make_api_key(tenant=alice_tenant)}
    request = getattr(RequestFactory(), method)("/v2/echo", headers=headers)
    held = weakref.ref(request)
    gc.disable()
    try:
        reply = view.as_view()(request)
        if isinstance(reply, Response):
            reply.render()
        found = reply.status_code
        del request, reply
        freed = held() is None
    finally:
        gc.enable()

    assert (found, freed) == (status, True)


def test_a_full_disk_of_the_database_is_said_to_be_for_later(alice_api):
    alice_api.raise_request_exception = False

    reply = alice_api.post("/v2/full")

    assert (reply.status_code, reply.json()["code"]) == (503, "unavailable")
    assert int(reply["Retry-After"]) > 0


@pytest.mark.parametrize("path", ["/v2/echo", "/v2/unkeyed"])
def test_nothing_runs_without_a_key(path):
    reply = ApiClient().get(path)

    assert reply.status_code == 401
    assert reply.json()["code"] == "unauthenticated"


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/v2/echo/a", {"name": "a"}),
        ("/v2/echo/a/", {"name": "a"}),
        ("/v2/echo/a%20b", {"name": "a b"}),
        ("/v2/path/a/b", {"name": "a/b"}),
        ("/v2/path/a/b/", {"name": "a/b/"}),
        ("/v2/path/a%2Fb", {"name": "a/b"}),
        ("/v2/path/a%0Ab", {"name": "a\nb"}),
    ],
)
def test_a_path_gives_its_parameters_as_text(alice_api, path, given):
    assert alice_api.get(path).json()["given"] == given


@pytest.mark.parametrize("path", ["/v2/echo/a/b", "/v2/echo/a%00", "/v2/path/%00"])
def test_a_path_that_fits_nothing_is_not_found_as_json(alice_api, path):
    reply = alice_api.get(path)

    assert reply.status_code == 404
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json()["code"] == "not_found"


def test_both_forms_answer_without_a_redirect(alice_api):
    for each in ("/v2/echo", "/v2/echo/"):
        assert alice_api.post(each, {"a": 1}).json() == {"a": 1}


@pytest.mark.parametrize("accept", ["application/pdf", "*/*", "text/html", "nonsense"])
def test_whatever_is_accepted_the_answer_is_json(alice_api, accept):
    reply = alice_api.get("/v2/echo", headers={"accept": accept})

    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; charset=utf-8"]
)
def test_json_is_read_whatever_the_spelling_of_its_type(alice_api, content_type):
    assert alice_api.post("/v2/echo", b'{"a":1}', content_type).json() == {"a": 1}


def test_a_body_of_zero_length_is_an_empty_object(alice_api):
    assert alice_api.post("/v2/echo", b"").json() == {}


@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data"])
def test_another_body_is_415(alice_api, content_type):
    reply = alice_api.post("/v2/echo", b"a=1", content_type)

    assert (reply.status_code, reply.json()["code"]) == (415, "unsupported_media_type")


def test_an_unserved_method_is_405(alice_api):
    reply = alice_api.put("/v2/echo")

    assert (reply.status_code, reply.json()["code"]) == (405, "method_not_allowed")


def test_json_is_written_as_the_contract_says():
    reply = json_response(
        {
            "at": datetime(2026, 3, 1, 12, 0, 0, 250000, tzinfo=UTC),
            "id": uuid.UUID(int=7),
            "none": None,
        },
        status=202,
    )

    assert reply.status_code == 202
    assert reply.content == (
        b'{"at":"2026-03-01T12:00:00.250000+00:00",'
        b'"id":"00000000-0000-0000-0000-000000000007","none":null}'
    )


def test_no_data_is_an_empty_body():
    assert OrjsonRenderer().render(None) == b""


def test_negotiation_never_fails():
    renderer = OrjsonRenderer()

    chosen = AlwaysJson().select_renderer(None, [renderer])

    assert chosen == (renderer, "application/json")
    assert isinstance(OrjsonParser(), OrjsonParser)


def test_patterns_take_no_slash_unless_asked():
    plain = mount_api_view("a/<x>", APIView)
    deep = mount_api_view("a/<path:x>", APIView)

    assert re.search(str(plain.pattern), "a/b/c") is None
    assert re.search(str(deep.pattern), "a/b/c")["x"] == "b/c"


def test_the_view_runs_with_one_key_at_a_time(alice_api, charlie_tenant):
    charlie = ApiClient(make_api_key(tenant=charlie_tenant))

    first = alice_api.get("/v2/echo").json()["tenant"]
    second = charlie.get("/v2/echo").json()["tenant"]

    assert first != second
    assert second == charlie_tenant.pk


def test_no_cache_on_the_way_keeps_an_answer(alice_api):
    assert alice_api.get("/v2/echo")["Cache-Control"] == "no-store"
    assert alice_api.patch("/v2/echo")["Cache-Control"] == "no-store"
    assert ApiClient().get("/v2/echo")["Cache-Control"] == "no-store"


def test_a_body_over_its_limit_is_refused(alice_api):
    text = '"' + "x" * BODY_MAX_BYTES + '"'

    reply = alice_api.post("/v2/echo", text, content_type="application/json")

    assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")


def test_a_body_at_its_limit_is_read(alice_api):
    text = '"' + "x" * (BODY_MAX_BYTES - 2) + '"'

    reply = alice_api.post("/v2/echo", text, content_type="application/json")

    assert reply.status_code == 200


@override_settings(
    LANGUAGES=[("en", "English"), ("de", "German")],
    MIDDLEWARE=["django.middleware.locale.LocaleMiddleware", *settings.MIDDLEWARE],
)
def test_the_texts_of_the_api_are_english_whatever_the_caller_accepts(alice_api):
    headers = {"accept-language": "de"}

    shown = alice_api.get("/language", headers=headers)
    answer = alice_api.get("/v2/month", headers=headers)
    refusal = alice_api.post("/v2/month", {}, headers=headers)
    missing = alice_api.get("/v2/nowhere", headers=headers)

    assert shown.content.decode() == "de März"
    assert answer.json() == {"month": "March"}
    assert refusal.status_code == 422
    assert refusal.json()["detail"] == [
        {"loc": ["body", "name"], "msg": "This field is required.", "type": "missing"}
    ]
    assert missing.json() == {"detail": "Not found.", "code": "not_found"}
