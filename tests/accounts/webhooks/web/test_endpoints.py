from __future__ import annotations

from http import HTTPStatus

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.webhooks.models import Endpoint
from accounts.webhooks.operations.endpoints import (
    read_custom_headers,
    replace_custom_headers,
)
from portal.lib.secrets.encryption import decrypt_secret
from tests.accounts.webhooks.web.test_deliveries import LIST, page
from tests.audit import audited
from tests.clients import confirm
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import (
    PUBLIC_URL,
    make_attempted_delivery,
    make_delivery,
    make_endpoint,
)

pytestmark = pytest.mark.django_db

CONFIRM = "/accounts/confirm/"


@pytest.fixture
def endpoint(alice_tenant):
    return make_endpoint(tenant=alice_tenant, description="Warehouse")


def stored(tenant):
    return list(Endpoint.objects.for_tenant(tenant).order_by("pk"))


def test_the_list_says_how_each_endpoint_does(alice_web, alice_tenant, endpoint):
    quiet = make_endpoint(tenant=alice_tenant, url="https://quiet.example/")
    for code in (200, 200, 200, 500):
        make_attempted_delivery(
            make_delivery(endpoint=endpoint), code=code, total_ms=code * 1.0
        )
    make_attempted_delivery(make_delivery(endpoint=endpoint), code=500, status="failed")
    endpoint.last_success_at = timezone.now()
    endpoint.save()

    reply = alice_web.get(LIST)

    first, second = reply.context["rows"]
    assert (first.name, second.name) == ("Warehouse", "quiet.example")
    assert (first.health.state, second.health.state) == ("degraded", "unused")
    assert (first.health.attempts, first.health.succeeded) == (5, 3)
    assert first.health.p95_ms == 200.0
    # Every event goes to both: the second waits for five first attempts.
    assert (first.health.waiting, first.health.missed) == (1, 1)
    assert (second.health.waiting, second.endpoint) == (5, quiet)
    assert "60%" in reply.text


def test_an_endpoint_without_any_attempt_is_not_used_yet(alice_web, endpoint):
    [row] = alice_web.get(LIST).context["rows"]

    assert (row.health.state, row.health.success) == ("unused", None)


def test_the_list_costs_the_same_for_one_and_for_many(
    alice_web, alice_tenant, endpoint
):
    alice_web.get(LIST)
    costs = []
    for number in (0, 5):
        for _ in range(number):
            make_endpoint(tenant=alice_tenant)
        with CaptureQueriesContext(connection) as captured:
            alice_web.get(LIST)
        costs.append(len(captured))

    assert costs[0] == costs[1]


def test_an_endpoint_is_added_with_the_events_it_gets(alice_web, alice_tenant):
    reply = alice_web.post(
        f"{LIST}new/",
        {
            "url": PUBLIC_URL,
            "description": "Warehouse",
            "events": "some",
            "filter_types": ["provider.", "lab_report.parsing_job.created"],
            "rate_limit": "20",
        },
    )

    [made] = stored(alice_tenant)
    assert reply.headers["Location"] == page(made)
    assert made.filter_types == ["lab_report.parsing_job.created", "provider."]
    assert (made.description, made.rate_limit) == ("Warehouse", 20)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": ""}, "url"),
        ({"events": "some"}, "events"),
        ({"events": "some", "filter_types": "unheard.of"}, "events"),
        ({"rate_limit": "0"}, "rate_limit"),
    ],
)
def test_an_endpoint_that_can_not_be_is_refused_in_place(
    alice_web, alice_tenant, given, field
):
    reply = alice_web.post(f"{LIST}new/", {"url": PUBLIC_URL, "events": "all", **given})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == [field]
    assert stored(alice_tenant) == []


def test_an_edit_keeps_what_the_page_does_not_offer(alice_web, alice_tenant):
    made = make_endpoint(tenant=alice_tenant, filter_types=["lab_report.parsing_job."])
    form = alice_web.get(f"{page(made)}edit/").context["form"]
    assert form.others == ["lab_report.parsing_job."]

    alice_web.post(
        f"{page(made)}edit/",
        {
            "url": "https://new.example/",
            "events": "some",
            "filter_types": form.chosen,
        },
    )

    made.refresh_from_db()
    assert made.url == "https://new.example/"
    assert made.filter_types == ["lab_report.parsing_job."]


def test_a_header_that_is_withheld_stays_as_it_is(alice_web, endpoint):
    replace_custom_headers(
        endpoint=endpoint,
        actor=ACTOR,
        headers={"Authorization": "Bearer s3cret", "X-Team": "one"},
    )

    shown = alice_web.get(f"{page(endpoint)}headers/")
    given = shown.context["form"].initial["headers"]
    assert "s3cret" not in shown.text
    alice_web.post(
        f"{page(endpoint)}headers/", {"headers": given.replace("one", "two")}
    )

    endpoint.refresh_from_db()
    assert read_custom_headers(endpoint) == {
        "Authorization": "Bearer s3cret",
        "X-Team": "two",
    }


@pytest.mark.parametrize("lines", ["nonsense", "Host: evil.example", "A: 1\nA: 2"])
def test_headers_that_can_not_be_sent_are_refused(alice_web, endpoint, lines):
    reply = alice_web.post(f"{page(endpoint)}headers/", {"headers": lines})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    endpoint.refresh_from_db()
    assert endpoint.headers == ""


def test_an_endpoint_is_paused_and_resumed(alice_web, endpoint):
    waiting = make_delivery(endpoint=endpoint)

    alice_web.post(f"{page(endpoint)}pause/")
    endpoint.refresh_from_db()
    waiting.refresh_from_db()
    assert (endpoint.disabled_by, waiting.status) == ("member", "held")
    assert alice_web.get(page(endpoint)).context["diagnosis"].kind == "paused"
    alice_web.post(f"{page(endpoint)}resume/")

    endpoint.refresh_from_db()
    assert endpoint.disabled_at is None


def test_deleting_asks_for_the_name(alice_web, endpoint):
    wrong = alice_web.post(f"{page(endpoint)}delete/", {"typed_name": "Ware"})
    assert wrong.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    endpoint.refresh_from_db()
    assert endpoint.deleted_at is None

    right = alice_web.post(f"{page(endpoint)}delete/", {"typed_name": "Warehouse"})

    assert right.headers["Location"] == LIST
    assert alice_web.get(page(endpoint)).status_code == HTTPStatus.NOT_FOUND


def test_the_secret_is_shown_after_the_password_alone(alice_web, alice, endpoint):
    alice.set_password("a long passphrase")
    alice.save()
    alice_web.force_login(alice)

    asked = alice_web.get(f"{page(endpoint)}secret/")
    assert asked.headers["Location"].startswith(CONFIRM)
    assert not any(verb == "reveal_secret" for verb, *_ in audited(endpoint.tenant))
    confirmed = alice_web.post(asked.headers["Location"], {"password": "wrong"})
    assert confirmed.status_code == HTTPStatus.OK
    reply = alice_web.post(
        asked.headers["Location"], {"password": "a long passphrase"}, follow=True
    )

    assert reply.context["secret"] == decrypt_secret(endpoint.secret)
    assert any(verb == "reveal_secret" for verb, *_ in audited(endpoint.tenant))


def test_a_rotated_secret_leaves_the_old_one_for_a_while(alice_web, endpoint):
    old = endpoint.secret
    confirm(alice_web)

    reply = alice_web.post(f"{page(endpoint)}secret/rotate/")

    endpoint.refresh_from_db()
    assert reply.headers["Location"] == f"{page(endpoint)}secret/"
    assert (endpoint.previous_secret, endpoint.secret == old) == (old, False)
