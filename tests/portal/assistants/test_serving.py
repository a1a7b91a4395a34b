"""The protocol, by its own client, and who is let in."""

from __future__ import annotations

import json
from types import SimpleNamespace

import httpx
import pytest
from django.core.management import CommandError, call_command
from mcp import Client

from accounts.models import AssistantCall, Tenant
from portal.assistants import serving
from portal.assistants.calls import ToolRefused
from portal.assistants.server import build_assistant_server
from portal.assistants.tools import TOOLS
from tests.portal.assistants.conftest import DATA, HomeExecutor, make_key, turn_on

pytestmark = pytest.mark.django_db
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def post(key=None, *, body=LIST, headers=None, client="127.0.0.1"):
    """The answer of /mcp to one request."""
    home = HomeExecutor()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(serving, "ThreadPoolExecutor", lambda _size: home)
        gate = serving.build_assistant_application()

    async def run():
        transport = httpx.ASGITransport(gate, client=(client, 50_000))
        inner = gate._application
        async with (
            inner.router.lifespan_context(inner),
            httpx.AsyncClient(
                transport=transport, base_url="http://localhost:8010"
            ) as opened,
        ):
            sent = {"accept": "application/json, text/event-stream", **(headers or {})}
            if key:
                sent["x-service-api-key"] = key
            return await opened.post("/mcp", json=body, headers=sent)

    return home.run(run())


@pytest.fixture
def find_caller(monkeypatch, key):
    """Who calls by stdio with the key."""
    captured = {}
    with monkeypatch.context() as patched:
        patched.setattr(
            serving,
            "build_assistant_server",
            lambda find, _threads: captured.update(find=find),
        )
        patched.setattr(serving.asyncio, "run", lambda never: never.close())
        serving.serve_assistant_by_stdio(key)
    return captured["find"]


def test_a_client_of_the_protocol_lists_and_calls_every_tool(world, find_caller):
    home = HomeExecutor()
    server = build_assistant_server(find_caller, home)

    async def talk():
        async with Client(server) as client:
            listed = (await client.list_tools()).tools
            answered = {
                name: await client.call_tool(name, arguments)
                for name, arguments in world.items()
            }
            refused = await client.call_tool("read_order", {"order_id": "x"})
        return listed, answered, refused

    listed, answered, refused = home.run(talk())

    assert {each.name for each in listed} == set(TOOLS)
    assert all(each.annotations.read_only_hint for each in listed)
    assert not any(each.is_error for each in answered.values())
    told = answered["find_user"]
    assert json.loads(told.content[0].text) == told.structured_content
    assert (refused.is_error, refused.structured_content["error"]) == (True, "invalid")


def test_by_http_each_request_brings_its_key(alice_tenant, key, world):
    listed = post(key)
    asked = post(
        body={
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "find_user", "arguments": world["find_user"]},
        },
        headers={"authorization": f"Bearer {key}", "user-agent": "Sam<b>ple/1.0"},
    )

    assert listed.status_code == 200
    tools = listed.json()["result"]["tools"]
    assert {each["name"] for each in tools} == set(TOOLS)
    assert asked.json()["result"]["structuredContent"]["cost"]["calls"] == 1
    (kept,) = AssistantCall.objects.for_tenant(alice_tenant)
    assert kept.client == "Sambple/1.0"


def test_who_is_not_let_in_reads_nothing(alice_tenant, charlie_tenant, settings):
    settings.API_CALLS_PER_ADDRESS = 0
    turn_on(alice_tenant)
    narrow = make_key(alice_tenant, "assistant:read", networks=("10.0.0.0/8",))
    cases = {
        "no key": (post(), 401, "key_invalid"),
        "unknown": (post("sk_us_" + "x" * 43), 401, "key_invalid"),
        "no scope": (post(make_key(alice_tenant, *DATA)), 403, "scope_missing"),
        "full access": (post(make_key(alice_tenant)), 403, "scope_missing"),
        "elsewhere": (post(narrow), 403, "address_not_allowed"),
        "turned off": (
            post(make_key(charlie_tenant, "assistant:read")),
            403,
            "assistants_off",
        ),
    }

    for why, (reply, status, code) in cases.items():
        assert (reply.status_code, reply.json()["error"]) == (status, code), why
    assert post(narrow, client="10.1.2.3").status_code == 200
    foreign = {"host": "evil.example"}
    assert post(narrow, client="10.1.2.3", headers=foreign).status_code == 421
    assert not AssistantCall.unscoped.exists()


def test_too_many_unknown_keys_wait(settings):
    settings.API_CALLS_PER_ADDRESS = 1

    statuses = [post("sk_us_" + "x" * 43).status_code for _ in range(3)]

    assert statuses[-1] == 429


def test_a_switch_that_is_turned_off_ends_an_open_connection(alice_tenant, find_caller):
    context = SimpleNamespace(request=None)

    assert find_caller(context).grant.tenant == alice_tenant
    Tenant.objects.update(assistants_enabled=False)
    with pytest.raises(ToolRefused) as refused:
        find_caller(context)
    assert refused.value.code == "assistants_off"


def test_stdio_needs_a_key(settings):
    settings.ASSISTANT_KEY = ""

    with pytest.raises(CommandError):
        call_command("mcp")
