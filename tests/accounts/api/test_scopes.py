"""Every call that takes an API key names its area, and scopes open that and no more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from rest_framework.views import APIView

from accounts.api.auth import ApiKeyAuthentication
from accounts.models import AuditEntry
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from accounts.states import SCOPES, Access
from portal.lib.api.calls import list_areas_needed_by_call
from portal.ops.isolation.endpoints import PARAMETER, list_named_urls
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("as_web_role")

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def calls() -> Iterator[tuple[str, str, Any]]:
    """Each call that takes an API key: its path with no id in it, method and view."""
    for route, _, callback in list_named_urls():
        view = getattr(callback, "view_class", None)
        if view is None or not issubclass(view, APIView):
            continue
        if ApiKeyAuthentication not in view.authentication_classes:
            continue
        path = re.sub(r"(?<!\\)[\^$?]", "", PARAMETER.sub("none", route))
        path = path.replace("\\", "")  # $export
        for method in METHODS:
            if hasattr(view, method.lower()):
                yield f"/{path}", method, view


def scopes_of(view: Any, method: str) -> frozenset[str]:
    """The least scopes of a call; a KeyError of the test where it names none."""
    found = {
        f"{area}:{Access.WRITE if write else Access.READ}"
        for area, write in list_areas_needed_by_call(view, method)
    }
    assert found <= SCOPES.keys(), (view, method, found)
    return frozenset(found)


@pytest.fixture
def client_with(alice_tenant):
    clients: dict[frozenset[str], ApiClient] = {}

    def client(scopes: frozenset[str]) -> ApiClient:
        if scopes not in clients:
            _, text = create_api_key(
                tenant=alice_tenant,
                actor=ACTOR,
                label="limited",
                rules=KeyRules(scopes=scopes),
            )
            clients[scopes] = ApiClient(text)
        return clients[scopes]

    return client


def answer(client: ApiClient, method: str, path: str) -> tuple[int, str]:
    """The status of a call, and the code of a refusal by scope."""
    reply = client.generic(method, path, b"{}", "application/json")
    is_json = reply["Content-Type"].endswith("json")
    body = reply.json() if is_json and reply.content else {}
    if reply["Content-Type"] == "application/fhir+json":
        issue = body.get("issue", [{}])[0]
        body = issue.get("details", {}).get("coding", [{}])[0]
    return reply.status_code, body.get("code", "") if isinstance(body, dict) else ""


@pytest.mark.django_db
def test_every_call_is_opened_by_its_scopes_and_by_no_others(client_with):
    wrong = []
    walked = list(calls())
    for path, method, view in walked:
        needed = scopes_of(view, method)
        if answer(client_with(needed), method, path)[1] == "scope_missing":
            wrong.append((method, path, "is closed to", sorted(needed)))
        for scope in needed:
            area, access = SCOPES[scope]
            enough = {scope, f"{area}:{Access.WRITE}"}
            if access == Access.WRITE:
                enough = {scope}
            if area == view.area:
                enough |= {name for name in SCOPES if SCOPES[name][0] in view.or_areas}
            rest = frozenset(SCOPES) - enough
            if answer(client_with(rest), method, path) != (403, "scope_missing"):
                wrong.append((method, path, "is open without", scope))

    assert wrong == []
    assert len(walked) > 100


def test_every_scope_opens_something():
    opened = {scope for _, method, view in calls() for scope in scopes_of(view, method)}

    # It opens /mcp, which is no call of the API: see tests/portal/assistants.
    assert opened | {"assistant:read"} == set(SCOPES)


@pytest.mark.django_db
def test_a_refused_call_reads_and_writes_nothing(client_with):
    client = client_with(frozenset({"users:read"}))
    audited = AuditEntry.unscoped.count()

    made = client.post("/v2/user", {"client_user_id": "u1"})
    not_served = client.put("/v2/user", b"{}", "application/json")

    assert (made.status_code, made.json()["code"]) == (403, "scope_missing")
    assert not_served.status_code == 405
    assert client.get("/v2/user").json()["total"] == 0
    assert AuditEntry.unscoped.count() == audited + 1


@pytest.mark.django_db
def test_writing_includes_reading(client_with):
    client = client_with(frozenset({"users:write"}))

    assert client.post("/v2/user", {"client_user_id": "u1"}).status_code == 200
    assert client.get("/v2/user").json()["total"] == 1
