from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from accounts.models import AuditEntry
from accounts.webhooks.models import Delivery, Endpoint
from accounts.webhooks.operations.endpoints import read_custom_headers
from accounts.webhooks.signing import generate_signing_secret
from portal.lib.secrets.encryption import decrypt_secret
from tests.clients import ManagementClient, error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import make_management_key
from tests.factories.webhooks import PUBLIC_URL, make_endpoint, make_event

pytestmark = pytest.mark.django_db

LIST = "/v1/org/{org_id}/team/{team_id}/{environment}/webhook"
ONE = f"{LIST}/{{webhook_id}}"
UNTOUCHED = {"url": PUBLIC_URL, "description": "", "rate_limit": None}


@pytest.fixture
def api(alice_team):
    return ManagementClient(make_management_key(team=alice_team))


@pytest.fixture
def base(alice_tenant):
    return LIST.format(
        org_id=alice_tenant.team.organisation_id,
        team_id=alice_tenant.team_id,
        environment="sandbox",
    )


def live(tenant):
    return Endpoint.objects.for_tenant(tenant).live()


def test_making_one_answers_it_as_published(api, base, alice_tenant):
    secret = generate_signing_secret()

    reply = api.post(
        base,
        {
            "url": PUBLIC_URL,
            "description": "Warehouse",
            "rate_limit": 20,
            "disabled": True,
            "filter_types": ["lab_report.", "provider.connection.created"],
            "secret": secret,
        },
    )

    endpoint = live(alice_tenant).get()
    check_answer(reply, "post", LIST)
    assert reply.json() == {
        "id": str(endpoint.uuid),
        "url": PUBLIC_URL,
        "description": "Warehouse",
        "rate_limit": 20,
        "disabled": True,
        "filter_types": ["lab_report.", "provider.connection.created"],
        "created_at": endpoint.created_at.isoformat(),
        "updated_at": endpoint.created_at.isoformat(),
    }
    assert decrypt_secret(endpoint.secret) == secret


def test_a_url_is_enough(api, base, alice_tenant):
    reply = api.post(base, {"url": PUBLIC_URL, "filter_types": None}).json()

    assert (reply["description"], reply["rate_limit"]) == ("", None)
    assert (reply["disabled"], reply["filter_types"]) == (False, None)
    line = AuditEntry.objects.for_tenant(alice_tenant).get(verb="create_endpoint")
    assert (line.actor_kind, line.actor_label) == ("management", "tests")


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({}, (["body", "url"], "missing")),
        ({"url": 7}, (["body", "url"], "string_type")),
        ({"rate_limit": 0}, (["body", "rate_limit"], "greater_than_equal")),
        ({"rate_limit": "5"}, (["body", "rate_limit"], "int_parsing")),
        ({"disabled": "yes"}, (["body", "disabled"], "bool_parsing")),
        ({"filter_types": []}, (["body", "filter_types"], "value_error")),
        ({"filter_types": [1]}, (["body", "filter_types", 0], "string_type")),
        ({"description": "x" * 501}, (["body", "description"], "string_too_long")),
    ],
)
def test_a_malformed_body_is_422_and_makes_nothing(api, base, alice_tenant, body, line):
    if body:
        body = {"url": PUBLIC_URL, **body}

    reply = api.post(base, body)

    assert error_lines(reply) == [line]
    assert not live(alice_tenant).exists()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"url": "http://hooks.customer.example/"}, "url_refused"),
        ({"url": "https://169.254.169.254/latest"}, "url_refused"),
        ({"filter_types": ["no.such.type"]}, "filter_type_unknown"),
        ({"filter_types": ["lab_report"]}, "filter_type_unknown"),
        ({"secret": "whsec_short"}, "secret_invalid"),
    ],
)
def test_what_a_rule_refuses_is_400_and_makes_nothing(
    api, base, alice_tenant, body, code
):
    reply = api.post(base, {"url": PUBLIC_URL, **body})

    assert (reply.status_code, reply.json()["code"]) == (400, code)
    assert not live(alice_tenant).exists()


def test_the_list_goes_on_page_by_page(api, base, alice_tenant, alice_production):
    ids = [str(make_endpoint(tenant=alice_tenant).uuid) for _ in range(3)]
    make_endpoint(tenant=alice_production)

    first = api.get(f"{base}?limit=2")
    cursor = first.json()["next_cursor"]
    second = api.get(f"{base}?limit=2&next_cursor={cursor}")

    check_answer(first, "get", LIST)
    assert [each["id"] for each in first.json()["data"]] == ids[:2]
    assert [each["id"] for each in second.json()["data"]] == ids[2:]
    assert second.json()["next_cursor"] is None


def test_the_list_takes_the_same_queries_for_one_and_for_many(
    api, base, alice_tenant, django_assert_num_queries
):
    api.get(base)
    for _ in range(5):
        make_endpoint(tenant=alice_tenant)

    # The key, its teams, the tenant, the endpoints.
    with django_assert_num_queries(4):
        api.get(base)


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("limit=0", (["query", "limit"], "greater_than_equal")),
        ("limit=101", (["query", "limit"], "less_than_equal")),
        ("next_cursor=x", (["query", "next_cursor"], "value_error")),
        ("next_cursor=WyIyeCJd", (["query", "next_cursor"], "value_error")),
    ],
)
def test_a_malformed_query_is_422(api, base, query, line):
    assert error_lines(api.get(f"{base}?{query}")) == [line]


def test_one_is_read_changed_and_ended(api, base, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    make_event(tenant=alice_tenant)
    path = f"{base}/{endpoint.uuid}"

    read = api.get(path)
    changed = api.patch(
        path,
        {
            "url": "https://new.customer.example/",
            "description": "New",
            "rate_limit": 5,
            "disabled": True,
            "filter_types": ["provider."],
        },
    )
    ended = api.delete(path)

    check_answer(read, "get", ONE)
    check_answer(changed, "patch", ONE)
    assert read.json()["url"] == PUBLIC_URL
    assert {name: changed.json()[name] for name in ("url", "rate_limit")} == {
        "url": "https://new.customer.example/",
        "rate_limit": 5,
    }
    assert changed.json()["filter_types"] == ["provider."]
    assert changed.json()["disabled"] is True
    assert (ended.status_code, ended.content) == (204, b"")
    assert api.get(path).status_code == 404
    assert Delivery.objects.for_tenant(alice_tenant).get().status == "dropped"


def test_null_takes_away_and_absence_keeps(api, base, alice_tenant):
    endpoint = make_endpoint(
        tenant=alice_tenant,
        description="Warehouse",
        rate_limit=5,
        filter_types=["provider."],
    )
    path = f"{base}/{endpoint.uuid}"

    kept = api.patch(path, {}).json()
    cleared = api.patch(
        path, {"description": None, "rate_limit": None, "filter_types": None}
    ).json()

    assert (kept["description"], kept["rate_limit"]) == ("Warehouse", 5)
    assert kept["filter_types"] == ["provider."]
    assert {name: cleared[name] for name in UNTOUCHED} == UNTOUCHED
    assert cleared["filter_types"] is None


@pytest.mark.parametrize(
    ("name", "kind"), [("url", "string_type"), ("disabled", "bool_parsing")]
)
def test_what_has_no_null_refuses_it(api, base, alice_tenant, name, kind):
    endpoint = make_endpoint(tenant=alice_tenant)

    reply = api.patch(f"{base}/{endpoint.uuid}", {name: None})

    assert error_lines(reply) == [(["body", name], kind)]
    assert live(alice_tenant).get().url == PUBLIC_URL


def test_a_malformed_id_is_422(api, base):
    reply = api.get(f"{base}/7")

    assert error_lines(reply) == [(["path", "webhook_id"], "uuid_parsing")]


def test_headers_are_replaced_whole_and_passwords_withheld(api, base, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    path = f"{base}/{endpoint.uuid}/headers"
    headers = {"X-Stage": "beta", "Authorization": "Basic eA==", "X-Api-Key": "k"}

    api.put(path, {"headers": {"X-Old": "1"}})
    written = api.put(path, {"headers": headers})
    read = api.get(path)

    assert (written.status_code, written.content) == (204, b"")
    check_answer(read, "get", f"{ONE}/headers")
    assert read.json() == {
        "headers": {"X-Stage": "beta"},
        "sensitive": ["Authorization", "X-Api-Key"],
    }
    assert read_custom_headers(live(alice_tenant).get()) == headers


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"headers": ["a"]}, 422),
        ({"headers": {"X-A": 7}}, 422),
        ({"headers": {"webhook-id": "x"}}, 400),
        ({"headers": {"X-A": "a\nb"}}, 400),
    ],
)
def test_refused_headers_change_nothing(api, base, alice_tenant, body, status):
    endpoint = make_endpoint(tenant=alice_tenant)

    reply = api.put(f"{base}/{endpoint.uuid}/headers", body)

    assert reply.status_code == status
    assert read_custom_headers(live(alice_tenant).get()) == {}


def test_the_secret_is_read_and_the_audit_says_by_whom(api, base, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)

    reply = api.get(f"{base}/{endpoint.uuid}/secret")

    check_answer(reply, "get", f"{ONE}/secret")
    assert reply.json() == {"key": decrypt_secret(endpoint.secret)}
    lines = AuditEntry.objects.for_tenant(alice_tenant).filter(verb="reveal_secret")
    assert [line.actor_label for line in lines] == ["tests"]


def test_a_rotation_makes_a_secret_or_takes_one(api, base, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    path = f"{base}/{endpoint.uuid}/secret/rotate"
    given = generate_signing_secret()

    made = api.post(path)
    second = live(alice_tenant).get()
    taken = api.post(path, {"key": given})

    stored = live(alice_tenant).get()
    assert (made.status_code, made.content, taken.status_code) == (204, b"", 204)
    assert decrypt_secret(second.previous_secret) == decrypt_secret(endpoint.secret)
    assert decrypt_secret(stored.secret) == given
    assert decrypt_secret(stored.previous_secret) == decrypt_secret(second.secret)
    ends_in = stored.previous_secret_ends_at - stored.secret_made_at
    assert ends_in == timedelta(hours=24)


def test_a_refused_rotation_keeps_the_secret(api, base, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)

    reply = api.post(f"{base}/{endpoint.uuid}/secret/rotate", {"key": "whsec_x"})

    assert (reply.status_code, reply.json()["code"]) == (400, "secret_invalid")
    assert live(alice_tenant).get().secret == endpoint.secret


def test_times_are_in_utc_with_their_offset(api, base, alice_tenant):
    make_endpoint(tenant=alice_tenant)

    [found] = api.get(base).json()["data"]

    assert found["created_at"].endswith("+00:00")
    assert datetime.fromisoformat(found["updated_at"]).utcoffset() == timedelta(0)


def test_a_test_event_is_on_its_way(api, base, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant, filter_types=["labtest."])
    path = f"{base}/{endpoint.uuid}/test"

    first = api.post(path)
    second = api.post(path, {"event_type": "daily.data.sleep.created"})
    unknown = api.post(path, {"event_type": "no.such"})

    check_answer(first, "post", f"{ONE}/test")
    assert first.json()["event_type"] == "labtest.order.created"
    assert (unknown.status_code, unknown.json()["code"]) == (400, "event_type_unknown")
    sent = Delivery.objects.for_tenant(alice_tenant).order_by("pk")
    assert [d.event.message_id for d in sent] == [
        first.json()["id"],
        second.json()["id"],
    ]
