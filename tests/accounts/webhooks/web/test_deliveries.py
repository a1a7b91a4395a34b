from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.states import Role
from accounts.webhooks.models import Delivery
from accounts.webhooks.operations import UserRef
from accounts.webhooks.operations.endpoints import (
    change_endpoint,
    rotate_signing_secret,
)
from accounts.webhooks.signing import decode_signing_secret, sign_webhook_message
from portal.lib.secrets.encryption import decrypt_secret
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.webhooks import (
    make_attempted_delivery,
    make_delivery,
    make_endpoint,
)

pytestmark = pytest.mark.django_db

LIST = "/t/alice-health/sandbox/webhooks/"
HTMX = {"HX-Request": "true"}
STEPS = "provider.connection.created"
REPORT = "lab_report.parsing_job.created"


@pytest.fixture
def endpoint(alice_tenant):
    return make_endpoint(tenant=alice_tenant, description="Warehouse")


def page(endpoint):
    return f"{LIST}{endpoint.uuid}/"


def page_of(delivery):
    return f"{page(delivery.endpoint)}deliveries/{delivery.event.message_id}/"


def shown(reply):
    assert reply.status_code == HTTPStatus.OK
    return [row.delivery.pk for row in reply.context["rows"]]


def as_role(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    return client


def test_an_endpoint_says_how_it_does_and_why(alice_web, endpoint):
    made = make_delivery(endpoint=endpoint)
    make_attempted_delivery(made, code=503, body=b"upstream")
    endpoint.first_failed_at = timezone.now()
    endpoint.save()

    reply = alice_web.get(page(endpoint))

    assert shown(reply) == [made.pk]
    assert reply.context["health"].state == "failing"
    assert reply.context["diagnosis"].kind == "receiver_fault"
    assert "Receiver responds with 503" in reply.text
    assert "Retrying" in reply.text
    assert audited(endpoint.tenant)[-1][:2] == ("read", "delivery_list")


@pytest.mark.parametrize(
    ("query", "ages"),
    [
        ("", [1, 2, 3, 4]),
        ("outcome=failed", [2]),
        ("outcome=missed", [2, 3]),
        ("outcome=delivered", [4]),
        ("outcome=waiting", [1]),
        ("outcome=nonsense", [1, 2, 3, 4]),
        ("answer=5xx", [2]),
        ("answer=none", [3]),
        ("answer=2xx", [4]),
        ("tries=1", [2, 4]),
        ("tries=2", [3]),
        (f"type={STEPS}", [4]),
        ("type=lab_report.", [1, 2, 3]),
        ("type=nothing.", []),
        ("user=mbr_dana", [4]),
        ("user=mbr_nobody", []),
        ("period=1h", [1, 2, 3, 4]),
        ("since=2020-01-01T00:00&until=2020-01-02T00:00", []),
        ("outcome=missed&answer=5xx&type=lab_report.", [2]),
    ],
)
def test_the_log_is_narrowed(alice_web, endpoint, query, ages):
    dana = UserRef(user_uuid=uuid4(), client_user_id="mbr_dana")
    by_age = {
        age: make_delivery(endpoint=endpoint, age=timedelta(minutes=age), **event)
        for age, event in (
            (1, {}),
            (2, {}),
            (3, {}),
            (4, {"event_type": STEPS, "user": dana}),
        )
    }
    make_attempted_delivery(by_age[2], code=500, status="failed")
    make_attempted_delivery(by_age[3], code=None, fault="timeout")
    make_attempted_delivery(by_age[3], code=None, fault="timeout")
    make_attempted_delivery(by_age[4], code=200)

    reply = alice_web.get(f"{page(endpoint)}?{query}")

    assert shown(reply) == [by_age[age].pk for age in ages]
    assert reply.context["total"] == len(ages)


def test_a_user_is_found_by_our_id_too(alice_web, endpoint):
    made = make_delivery(endpoint=endpoint)
    make_delivery(endpoint=endpoint)

    assert shown(alice_web.get(f"{page(endpoint)}?user={made.user_uuid}")) == [made.pk]


def test_older_deliveries_follow_without_a_gap(alice_web, endpoint, monkeypatch):
    monkeypatch.setattr("accounts.webhooks.web.deliveries.PAGE_SIZE", 2)
    made = [make_delivery(endpoint=endpoint) for _ in range(5)]
    # All at one moment: the place is told by the key as well.
    Delivery.objects.for_tenant(endpoint.tenant).update(created_at=timezone.now())

    seen, query = [], ""
    for _ in range(3):
        reply = alice_web.get(f"{page(endpoint)}{query}", headers=HTMX)
        seen += shown(reply)
        query = f"?before={reply.context['after']}"

    assert seen == [row.pk for row in reversed(made)]
    assert reply.context["after"] == ""


@pytest.mark.parametrize("cursor", ["nonsense", "1-", "nan-1", "1e300-1"])
def test_a_place_in_the_log_that_means_nothing_is_its_beginning(
    alice_web, endpoint, cursor
):
    made = make_delivery(endpoint=endpoint)

    assert shown(alice_web.get(f"{page(endpoint)}?before={cursor}")) == [made.pk]


def test_the_log_costs_the_same_for_one_and_for_many(alice_web, endpoint):
    make_attempted_delivery(make_delivery(endpoint=endpoint))
    alice_web.get(page(endpoint))
    costs = []
    for number in (1, 9):
        for _ in range(number):
            make_attempted_delivery(make_delivery(endpoint=endpoint))
        with CaptureQueriesContext(
            connection,
        ) as captured:
            alice_web.get(page(endpoint), headers=HTMX)
        costs.append(len(captured))

    assert costs[0] == costs[1]


def test_a_delivery_shows_each_try_and_what_it_met(alice_web, endpoint):
    made = make_delivery(endpoint=endpoint, event_type=REPORT)
    make_attempted_delivery(
        made, code=502, body=b"Bad gateway", headers=[["Server", "nginx"]], dns_ms=3.2
    )
    make_attempted_delivery(made, code=None, fault="timeout", total_ms=15_000.0)

    reply = alice_web.get(f"{page_of(made)}?attempt=1")

    assert reply.context["attempt"].number == 1
    assert [row.attempt.code for row in reply.context["attempts"]] == [502, None]
    for text in ("HTTP 502", "Server: nginx", "Bad gateway", "webhook-signature"):
        assert text in reply.text
    assert audited(endpoint.tenant)[-1] == ("read", "answer", made.event.message_id)
    assert alice_web.get(page_of(made)).context["attempt"].number == 2


def test_a_payload_is_masked_until_asked_for_and_the_audit_keeps_it(
    alice_web, endpoint
):
    made = make_delivery(endpoint=endpoint, data={"id": "job-7", "value": "ferritin"})
    make_attempted_delivery(made)
    secretly = "ferritin"

    before = alice_web.get(page_of(made))
    assert secretly not in before.text
    assert "job-7" in before.text
    reads = [line for line in audited(endpoint.tenant) if "delivery_payload" in line]
    assert reads == []
    after = alice_web.post(page_of(made))

    assert secretly in after.text
    assert "--data-binary" in after.context["curl"]
    assert any("delivery_payload" in line for line in audited(endpoint.tenant))


def test_who_may_not_read_such_data_sees_the_mask_alone(
    alice_team, alice_web, endpoint
):
    made = make_delivery(endpoint=endpoint, event_type=REPORT, data={"value": "zinc"})
    make_attempted_delivery(made, body=b"no zinc, please")
    developer = as_role(alice_team, Role.DEVELOPER)

    looked = developer.get(page_of(made))
    asked = developer.post(page_of(made))

    for reply in (looked, asked):
        assert reply.status_code == HTTPStatus.OK
        assert "zinc" not in reply.text
    assert not any("delivery_payload" in line for line in audited(endpoint.tenant))


@pytest.mark.parametrize(
    ("rotations", "words"), [(0, "current"), (1, "previous"), (2, "earlier")]
)
def test_the_signature_is_checked_as_a_receiver_does(
    alice_web, endpoint, rotations, words
):
    made = make_delivery(endpoint=endpoint)
    at = timezone.now()
    key = decode_signing_secret(decrypt_secret(endpoint.secret))
    signature = sign_webhook_message(
        [key], made.event.message_id, int(at.timestamp()), made.event.body.encode()
    )
    make_attempted_delivery(made, code=200, started_at=at, signature=signature)
    for _ in range(rotations):
        rotate_signing_secret(endpoint=endpoint, actor=ACTOR)

    found = alice_web.get(page_of(made)).context["verification"]

    assert words in found.signed_by
    assert found.is_good == (rotations < 2)


@pytest.mark.parametrize(
    ("ahead", "is_small"), [(0, True), (301, False), (-400, False)]
)
def test_a_clock_that_is_far_off_is_noticed(alice_web, endpoint, ahead, is_small):
    at = timezone.now().replace(microsecond=0)
    date = f"{at + timedelta(seconds=ahead):%a, %d %b %Y %H:%M:%S} GMT"
    made = make_delivery(endpoint=endpoint)
    make_attempted_delivery(made, started_at=at, headers=[["Date", date]])

    found = alice_web.get(page_of(made)).context["verification"]

    assert (found.skew_s, found.skew_is_small) == (ahead, is_small)


def test_one_is_sent_again_from_its_page(alice_web, endpoint):
    made = make_delivery(endpoint=endpoint)
    make_attempted_delivery(made, status="failed")

    reply = alice_web.post(f"{page_of(made)}resend/")

    assert reply.headers["Location"] == page_of(made)
    made.refresh_from_db()
    assert (made.status, made.lane) == ("pending", 1)
    assert alice_web.get(page_of(made)).context["poll_seconds"] == 3


def test_a_refused_replay_says_why_and_sends_nothing(alice_web, endpoint):
    made = make_delivery(endpoint=endpoint)
    make_attempted_delivery(made, status="failed")
    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=True)

    reply = alice_web.post(f"{page_of(made)}resend/", follow=True)

    assert "Nothing was sent." in reply.text
    made.refresh_from_db()
    assert made.status == "failed"


def test_retries_are_ended_from_the_page(alice_web, endpoint):
    made = make_delivery(endpoint=endpoint)
    make_attempted_delivery(made)

    alice_web.post(f"{page_of(made)}drop/")

    made.refresh_from_db()
    assert made.status == "dropped"


@pytest.mark.parametrize("role", [Role.CLINICIAN, Role.LAB_STAFF, Role.VIEWER])
def test_roles_without_the_right_see_no_webhooks(alice_team, endpoint, role):
    client = as_role(alice_team, role)

    assert client.get(LIST).status_code == HTTPStatus.FORBIDDEN
    assert client.get(page(endpoint)).status_code == HTTPStatus.FORBIDDEN
    assert LIST not in client.get("/t/alice-health/sandbox/").text
