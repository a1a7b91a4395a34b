from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import AuditEntry
from accounts.operations.api_keys.api_keys import (
    KeyRules,
    create_api_key,
    revoke_api_key,
)
from accounts.operations.api_keys.call_log import Call, write_api_call_log
from accounts.queries.api_calls import CallSums
from accounts.states import Role
from accounts.web.api_keys import call_log
from tests.factories.accounts import ACTOR, make_member
from tests.statements import count_statements

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEYS = "/t/alice-health/sandbox/api-keys/"
USER, ORDER = uuid.UUID(int=7 << 64), uuid.UUID(int=(9 << 96) + 1)
CALLS = [
    ("GET", f"/v2/user/{USER}", 200, 30 * 3600, USER),
    ("POST", "/v2/user", 422, 7200, None),
    ("POST", "/v3/order", 500, 600, None),
    ("GET", f"/v3/order/{ORDER}", 429, 60, None),
    ("GET", "/v3/orders", 200, 1, None),
]

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _noon():
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def key(alice_tenant):
    rules = KeyRules(
        scopes=frozenset({"users:read", "orders:read", "orders:write"}),
        expires_at=NOON + timedelta(days=1),
    )
    key, _ = create_api_key(
        tenant=alice_tenant, actor=ACTOR, label="server", rules=rules
    )
    other, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="other")
    for number, (method, path, status, ago, user) in enumerate(CALLS):
        for each, pk in ((key, number), (other, 9)):
            write_api_call_log(
                [
                    Call(
                        tenant_pk=alice_tenant.pk,
                        key_id=each.pk,
                        at=NOON - timedelta(seconds=ago),
                        method=method,
                        path=path,
                        status=status,
                        ms=10 * (number + 1),
                        request_id=f"{pk}" * 32,
                        address="192.0.2.7",
                        user_uuid=user,
                    )
                ]
            )
    return key


def found(client, key, query=""):
    """The calls a query shows, by their place in CALLS."""
    page = client.get(f"{KEYS}{key.pk}/?{query}")
    return [int(call.request_id[0]) for call in page.context["calls"]]


def test_the_page_of_a_key_shows_its_rules_and_calls_newest_first(alice_web, key):
    alice_web.get(KEYS)

    with count_statements() as statements:
        page = alice_web.get(f"{KEYS}{key.pk}/")

    assert found(alice_web, key) == [4, 3, 2, 1, 0]
    assert page.context["sums"] == CallSums(number=4, refused=2, faults=1, p95_ms=50)
    assert page.context["scopes"] == [
        ("Users and wearable data", "read"),
        ("Orders and results", "read and write"),
    ]
    own = [each for each in statements if "apicall" in each or "apikey" in each]
    assert len(own) == 5  # the key, a page, how many, the sums, the week
    read = AuditEntry.unscoped.filter(verb="read", subject="api_call_list")
    assert set(read.values_list("subject_id", flat=True)) == {str(key.pk)}


def test_calls_are_filtered_by_answer_method_time_and_how_they_begin(alice_web, key):
    fields = {
        "answered=ok": [4, 0],
        "answered=refused": [3, 1],
        "answered=limited": [3],
        "answered=fault": [2],
        "method=POST": [2, 1],
        "period=1h": [4, 3, 2],
        "period=24h": [4, 3, 2, 1],
        "q=/v3/order": [4, 3, 2],
        "q=/v3/order/": [3],
        "q=/v3_order": [],
        f"q={USER}": [0],
        f"q={str(USER)[:8]}": [0],
        f"q={ORDER}": [3],
        "q=22222222": [2],
        "q=anna": [],
        "q=/v3/order&method=POST&period=1h": [2],
        # What means nothing counts as not given.
        "answered=x&method=y&period=z&before=1-": [4, 3, 2, 1, 0],
    }

    assert {query: found(alice_web, key, query) for query in fields} == fields


def test_older_calls_follow_without_a_gap(alice_web, key, monkeypatch):
    monkeypatch.setattr(call_log, "PAGE_SIZE", 2)
    shown, after = [], ""
    for _ in range(3):
        page = alice_web.get(
            f"{KEYS}{key.pk}/?before={after}", headers={"HX-Request": "true"}
        )
        shown += [int(call.request_id[0]) for call in page.context["calls"]]
        after = page.context["after"]

    assert shown == [4, 3, 2, 1, 0]
    assert after == ""
    assert page.templates[0].name == "accounts/_older_calls.html"


def test_the_list_draws_the_calls_of_a_week(settings, alice_web, key):
    settings.API_CALL_LOG_DAYS = 30

    with count_statements() as statements:
        page = alice_web.get(KEYS)

    rows = {row.key.label: row for row in page.context["live"]}
    assert list(rows["server"].calls) == [0, 0, 0, 0, 0, 1, 4]
    assert 'aria-label="Highest in a day: 4. Last day: 4."' in page.content.decode()
    assert len([each for each in statements if "apicalltally" in each]) == 1


def test_a_key_that_ended_keeps_its_page_and_has_nothing_to_do(alice_web, key):
    revoke_api_key(key=key, actor=ACTOR)

    page = alice_web.get(f"{KEYS}{key.pk}/")

    text = page.content.decode()
    assert page.context["row"].ended_at == NOON
    assert f"{KEYS}{key.pk}/" in alice_web.get(KEYS).content.decode()
    for act in ("change", "rotate", "revoke"):
        assert f"{key.pk}/{act}/" not in text


def test_who_may_not_see_keys_sees_no_calls(alice_team, key):
    client = Client()
    client.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))

    assert client.get(f"{KEYS}{key.pk}/").status_code == 403
