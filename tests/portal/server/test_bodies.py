"""Bodies as clients send them, on the real server with all of Assay behind it."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from django.core.wsgi import get_wsgi_application
from django.test import Client

from accounts.webhooks.models import Endpoint
from tests.factories.accounts import (
    ACTOR,
    PASSWORD,
    make_api_key,
    make_management_key,
    make_member,
)
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.portal.server.raw import END, HOST, Raw, chunk, request, serving
from users.models import User
from users.operations.connect.link_sessions import (
    create_connect_link,
    sign_connect_link_token,
)
from users.operations.imports.files import BODY_MAX_BYTES

pytestmark = pytest.mark.django_db(transaction=True)

ANYBODY = 2_621_440
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"


@pytest.fixture
def port(settings):
    settings.ALLOWED_HOSTS = [HOST, "testserver"]
    with serving(get_wsgi_application()) as port:
        yield port


@pytest.fixture
def ask(port):
    """Send a request and what belongs to it; its answer."""

    def ask(method, path, *headers, body=()):
        client = Raw(port)
        client.send(request(method, path, *headers), *body)
        answer = client.answer(method)
        client.close()
        return answer

    return ask


@pytest.fixture
def status_before_body(port):
    """The first status of a request whose body is stated and not sent; 100: send it."""

    def ask(path, length, *headers):
        client = Raw(port)
        stated = f"Content-Length: {length}"
        client.send(request("POST", path, stated, "Expect: 100-continue", *headers))
        line = client.file.readline()
        client.close()
        return int(line.split()[1])

    return ask


def cookies_of(client):
    return "Cookie: " + "; ".join(
        f"{name}={each.value}" for name, each in client.cookies.items()
    )


def in_chunks(body, size=7):
    return [*(chunk(body[at : at + size]) for at in range(0, len(body), size)), END]


def test_a_chunked_patch_is_stored(ask, alice_tenant):
    user = make_user(tenant=alice_tenant)
    key = f"x-service-api-key: {make_api_key(tenant=alice_tenant)}"
    body = json.dumps({"client_user_id": "sent in chunks"}).encode()

    answer = ask(
        "PATCH", f"/v2/user/{user.uuid}", key, JSON, CHUNKED, body=in_chunks(body)
    )

    assert answer.status == 204
    stored = User.unscoped.get(pk=user.pk)
    assert stored.client_user_id == "sent in chunks"


def test_a_chunked_call_of_the_management_api_is_done(ask, alice_team):
    key = f"x-management-key: {make_management_key(team=alice_team)}"
    path = f"/v1/org/{alice_team.organisation.pk}/team/{alice_team.pk}/sandbox/webhook"
    body = json.dumps({"url": "https://hooks.example.com/assay"}).encode()

    answer = ask("POST", path, key, JSON, CHUNKED, body=in_chunks(body))

    assert answer.status == 200
    assert Endpoint.unscoped.get().url == "https://hooks.example.com/assay"


def test_a_chunked_form_of_a_page_is_read(ask):
    member = make_member()
    browser = Client()
    browser.get("/accounts/login/")
    token = browser.cookies["csrftoken"].value
    form = urlencode(
        {
            "login": member.email,
            "password": PASSWORD,
            "csrfmiddlewaretoken": token,
        }
    ).encode()

    answer = ask(
        "POST",
        "/accounts/login/",
        cookies_of(browser),
        "Content-Type: application/x-www-form-urlencoded",
        CHUNKED,
        body=in_chunks(form),
    )

    assert answer.status == 302
    assert any(
        each.startswith("sessionid=") for each in answer.headers.get_all("Set-Cookie")
    )


def test_a_body_cut_off_changes_nothing(port, alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="before")
    key = f"x-service-api-key: {make_api_key(tenant=alice_tenant)}"
    body = json.dumps({"client_user_id": "after"}).encode()
    path = f"/v2/user/{user.uuid}"
    for headers, sent in (
        ([f"Content-Length: {len(body) + 1}"], body),
        ([CHUNKED], chunk(body)),
    ):
        client = Raw(port)
        client.send(request("PATCH", path, key, JSON, *headers), sent)
        client.close()

    client = Raw(port)
    client.send(request("GET", path, key))

    assert json.loads(client.answer().content)["client_user_id"] == "before"
    client.close()
    assert emitted_types(alice_tenant) == []


def test_a_long_body_of_nobody_is_refused_before_it_is_sent(
    status_before_body, alice_tenant
):
    user = make_user(tenant=alice_tenant)
    imports = f"/t/alice-health/sandbox/users/{user.uuid}/imports/"
    for path, status in {
        "/accounts/login/": 413,
        imports: 302,  # to sign in
        "/v2/user": 401,
        "/v1/org/a/team/b/sandbox/webhook": 401,
        "/nowhere/": 404,
    }.items():
        assert status_before_body(path, ANYBODY) == 100
        for length in (ANYBODY + 1, 10**12):
            assert (path, status_before_body(path, length)) == (path, status)


def test_chunks_of_nobody_are_taken_up_to_what_anybody_may_send(ask):
    part = chunk(b"x" * 65_536)
    body = [part] * (ANYBODY // 65_536 + 1)

    page = ask("POST", "/accounts/login/", CHUNKED, body=body)
    call = ask("POST", "/v2/user", JSON, CHUNKED, body=body)

    assert (page.status, call.status) == (413, 401)
    assert call.headers["Connection"] == "close"


def test_a_call_with_a_key_may_send_what_its_view_takes(ask, alice_tenant):
    key = f"x-service-api-key: {make_api_key(tenant=alice_tenant)}"
    blanks = b" " * (ANYBODY + 1)
    body = [f"{len(blanks):x}\r\n", blanks, b"\r\n", END]

    long = ask("POST", "/v2/user", key, JSON, CHUNKED, body=body)
    over = ask("POST", "/v2/user", key, JSON, "Content-Length: 10485761")

    assert (long.status, b"json_invalid" in long.content) == (422, True)
    assert (over.status, b'"body_too_large"' in over.content) == (413, True)
    assert not User.unscoped.exists()


def test_files_are_taken_of_who_is_signed_in_and_up_to_their_bound(
    status_before_body, alice_web, alice_tenant
):
    user = make_user(tenant=alice_tenant)
    imports = f"/t/alice-health/sandbox/users/{user.uuid}/imports/"
    signed_in = cookies_of(alice_web)
    bounds = {
        "/t/alice-health/sandbox/users/import/": ANYBODY,
        "/t/alice-health/sandbox/reports/upload/": 2 * 10_485_760,
        imports: BODY_MAX_BYTES,
    }

    for path, bound in bounds.items():
        assert status_before_body(path, bound, signed_in) == 100
        assert status_before_body(path, bound + 1, signed_in) == 413


def test_a_link_takes_a_file_of_its_holder_alone(status_before_body, alice_tenant):
    session = create_connect_link(user=make_user(tenant=alice_tenant), actor=ACTOR)
    path = f"/connect/{session.uuid}/apple_health_kit/file/"
    holder = Client()
    holder.get("/connect/", {"token": sign_connect_link_token(session)})

    assert status_before_body(path, ANYBODY + 1) == 413
    assert status_before_body(path, ANYBODY + 1, cookies_of(holder)) == 100
