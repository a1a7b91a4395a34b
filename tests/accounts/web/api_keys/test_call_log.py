from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import ApiCall, AuditEntry
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
LOG = "/t/alice-health/sandbox/api-log/"
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
                        code="missing" if status == 422 else "",
                    )
                ]
            )
    return key


def found(client, query=""):
    """The calls a query shows, by their place in CALLS; 9 is the other key's."""
    page = client.get(f"{LOG}?{query}")
    return [int(row.call.request_id[0]) for row in page.context["rows"]]


def test_the_page_of_a_key_shows_its_rules_and_statistics(alice_web, key):
    alice_web.get(KEYS)

    with count_statements() as statements:
        page = alice_web.get(f"{KEYS}{key.pk}/")

    assert page.context["sums"] == CallSums(
        number=4, refused=2, faults=1, median_ms=30, p95_ms=50
    )
    assert page.context["scopes"] == [
        ("Users and wearable data", "read"),
        ("Orders and results", "read and write"),
    ]
    own = [each for each in statements if "apicall" in each or "apikey" in each]
    assert len(own) == 3  # the key, the sums, the week
    assert f'href="{LOG}?key={key.pk}"' in page.content.decode()


def test_the_log_shows_the_calls_of_all_keys_of_a_day_newest_first(alice_web, key):
    alice_web.get(LOG)

    with count_statements() as statements:
        page = alice_web.get(LOG)

    assert found(alice_web) == [9, 4, 9, 3, 9, 2, 9, 1]
    assert found(alice_web, f"key={key.pk}") == [4, 3, 2, 1]
    assert page.context["sums"] == CallSums(
        number=8, refused=4, faults=2, median_ms=30, p95_ms=50
    )
    assert (page.context["number"], page.context["error_share"]) == (8, 0.75)
    # Whole hours up to this one: 12:00 has none yet.
    assert "2 successful, 4 with status 4xx, 2 with 5xx" in page.content.decode()
    own = [each for each in statements if "apicall" in each or "apikey" in each]
    assert len(own) == 5  # the keys, a page, how many, the sums, the hours
    read = AuditEntry.unscoped.filter(verb="read", subject="api_call_list")
    assert set(read.values_list("subject_id", flat=True)) == {
        "calls=8",
        str(key.pk),
    }


def test_calls_are_filtered_by_answer_method_time_and_how_they_begin(alice_web, key):
    fields = {
        "answered=ok&period=all": [4, 0],
        "answered=errors": [3, 2, 1],
        "answered=refused": [3, 1],
        "answered=limited": [3],
        "answered=fault": [2],
        "method=POST": [2, 1],
        "slower=500": [],
        "period=1h": [4, 3, 2],
        "period=7d": [4, 3, 2, 1, 0],
        "q=/v3/order": [4, 3, 2],
        "q=/v3/order/": [3],
        "q=/v3_order": [],
        f"q={USER}&period=all": [0],
        f"q={USER}": [],
        f"q={str(USER)[:8]}&period=all": [0],
        f"q={ORDER}": [3],
        "q=22222222": [2],
        "q=anna": [],
        "q=/v3/order&method=POST&period=1h": [2],
        # What means nothing counts as not given.
        "answered=x&method=y&period=z&slower=2&open=x&before=1-": [4, 3, 2, 1],
    }

    assert {
        query: found(alice_web, f"key={key.pk}&{query}") for query in fields
    } == fields
    assert found(alice_web, f"key={uuid.uuid4()}") == []


def test_a_slow_call_is_found_by_its_time(alice_web, alice_tenant, key):
    call = Call(
        alice_tenant.pk, key.pk, NOON, "GET", "/", 200, 999, "8" * 32, None, None
    )
    write_api_call_log([call, replace(call, ms=1000, request_id="7" * 32)])

    assert found(alice_web, "slower=500") == [7, 8]
    assert found(alice_web, "slower=1000") == [7]


def test_older_calls_follow_without_a_gap(alice_web, key, monkeypatch):
    monkeypatch.setattr(call_log, "PAGE_SIZE", 2)
    shown, after = [], ""
    for _ in range(2):
        page = alice_web.get(
            f"{LOG}?key={key.pk}&before={after}", headers={"HX-Request": "true"}
        )
        shown += [int(row.call.request_id[0]) for row in page.context["rows"]]
        after = page.context["after"]

    assert shown == [4, 3, 2, 1]
    assert after == ""
    assert page.templates[0].name == "accounts/_older_calls.html"


def test_sorted_calls_follow_without_a_gap_while_new_ones_arrive(
    alice_web, alice_tenant, key, monkeypatch
):
    monkeypatch.setattr(call_log, "PAGE_SIZE", 3)
    query = f"{LOG}?key={key.pk}&sort=-path"
    first = alice_web.get(query)
    shown = [row.call.path for row in first.context["rows"]]
    write_api_call_log(
        [
            Call(
                tenant_pk=alice_tenant.pk,
                key_id=key.pk,
                at=NOON,
                method="GET",
                path="/zzz",
                status=200,
                ms=1,
                request_id="7" * 32,
                address="192.0.2.7",
                user_uuid=None,
                code="",
            )
        ]
    )
    place = f"&before={first.context['after']}&offset={first.context['next_offset']}"
    rest = alice_web.get(query + place, headers={"HX-Request": "true"})
    shown += [row.call.path for row in rest.context["rows"]]

    assert shown == sorted(shown, reverse=True)
    assert len(shown) == 4
    assert "/zzz" not in shown
    assert rest.context["after"] == ""
    assert alice_web.get(query).context["rows"][0].call.path == "/zzz"


def test_an_opened_call_shows_its_refusal_scopes_and_curl(alice_web, alice_tenant, key):
    calls = ApiCall.objects.for_tenant(alice_tenant).filter(api_key=key)
    refused = calls.get(path="/v2/user")
    page = alice_web.get(f"{LOG}?key={key.pk}&open={refused.pk}")

    opened = page.context["opened"]
    assert (opened.call, opened.phrase) == (refused, "Unprocessable Entity")
    assert [(each.name, each.is_granted) for each in opened.scopes] == [
        ("users:write", False)
    ]
    assert opened.curl == (
        'curl -X POST "$ASSAY_URL/v2/user" \\\n'
        '  -H "x-service-api-key: $ASSAY_KEY" \\\n'
        '  -H "content-type: application/json" \\\n'
        "  -d @body.json"
    )
    assert (page.context["newer"].status, page.context["older"]) == (500, None)
    text = page.content.decode()
    assert "<code>missing</code>" in text
    assert f'"/api/docs/?q=POST%20{opened.template}"' in text


def test_what_the_log_left_out_is_a_variable_of_the_curl(alice_web, alice_tenant, key):
    write_api_call_log(
        [
            Call(
                alice_tenant.pk, key.pk, NOON, "GET", path, 404, 1, "6" * 32, None, None
            )
            for path in ("/v2/user/resolve/{client_user_id}", "/v1/gone")
        ]
    )
    calls = ApiCall.objects.for_tenant(alice_tenant).filter(status=404)
    known, gone = calls.order_by("-path")

    page = alice_web.get(f"{LOG}?open={known.pk}")
    unknown = alice_web.get(f"{LOG}?open={gone.pk}")

    assert page.context["opened"].curl == (
        'curl "$ASSAY_URL/v2/user/resolve/$CLIENT_USER_ID" \\\n'
        '  -H "x-service-api-key: $ASSAY_KEY"'
    )
    assert unknown.status_code == 200
    assert unknown.context["opened"].curl == ""


def test_calls_of_others_do_not_open(alice_web, charlie_tenant, key):
    other, _ = create_api_key(tenant=charlie_tenant, actor=ACTOR, label="theirs")
    call = Call(
        charlie_tenant.pk, other.pk, NOON, "GET", "/", 200, 1, "5" * 32, None, None
    )
    write_api_call_log([call])
    theirs = ApiCall.objects.for_tenant(charlie_tenant).get()

    for pk in (theirs.pk, 2**63, "-1", "²"):
        page = alice_web.get(f"{LOG}?open={pk}&key={other.pk}&period=all")
        assert page.status_code == 200
        assert (page.context["opened"], page.context["rows"]) == (None, [])
        assert "theirs" not in page.content.decode()


def test_a_removed_filter_leaves_the_others(alice_web, key):
    text = alice_web.get(f"{LOG}?method=POST&answered=fault&before=x").content.decode()

    assert 'href="?answered=fault"' in text
    assert 'href="?method=POST"' in text


def test_the_other_environment_keeps_the_filters_but_the_key(
    alice_web, alice_production, key
):
    page = alice_web.get(f"{LOG}?key={key.pk}&method=POST")

    assert page.context["environments"] == [
        ("Sandbox", f"{LOG}?method=POST"),
        ("Production", "/t/alice-health/production/api-log/?method=POST"),
    ]


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
    assert client.get(LOG).status_code == 403
