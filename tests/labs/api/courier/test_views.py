from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import uuid4

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.webhooks.signing import (
    decode_signing_secret,
    generate_signing_secret,
    sign_webhook_message,
)
from labs.models import CourierConnection, CourierMessage, ShipmentEvent
from labs.operations.shipments.couriers import (
    create_courier_secret,
    delete_old_courier_messages,
    find_courier_connection,
    remove_courier,
)
from tests.factories.accounts import ACTOR
from tests.factories.shipments import make_kit, report_shipment
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db


@pytest.fixture
def secret(alice_production):
    return create_courier_secret(tenant=alice_production, actor=ACTOR)


@pytest.fixture
def kit(alice_production):
    return make_kit(tenant=alice_production)


def body_of(kit, status="transit_customer", **fields):
    at = (timezone.now() - timedelta(hours=1)).isoformat()
    body = {"status": status, "occurred_at": at, "order_id": str(kit.pk)} | fields
    return json.dumps({name: value for name, value in body.items() if value}).encode()


def sign(secret, body, *, at=None, message_id=None):
    message_id = message_id or f"msg_{uuid4().hex}"
    at = int(at or time.time())
    key = decode_signing_secret(secret)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": sign_webhook_message([key], message_id, at, body),
    }


def send(tenant, body, headers, courier=None):
    courier = courier or find_courier_connection(tenant=tenant).pk
    return Client().post(
        f"/courier/v1/{courier}", body, "application/json", headers=headers
    )


def held(tenant):
    return [
        *holdings(tenant),
        ShipmentEvent.objects.for_tenant(tenant).count(),
        CourierMessage.objects.for_tenant(tenant).count(),
        CourierConnection.objects.for_tenant(tenant).values_list().first(),
    ]


def test_a_signed_message_moves_its_order_and_reads_nothing(
    alice_production, secret, kit
):
    body = body_of(kit, tracking_number="OUT-1")

    reply = send(alice_production, body, sign(secret, body))

    assert (reply.status_code, reply.json()) == (200, {"status": "success"})
    row = ShipmentEvent.objects.for_tenant(alice_production).get()
    assert (row.order_id, row.status) == (kit.pk, "transit_customer")
    assert (row.reporter, row.actor_label) == ("courier", "courier")
    assert find_courier_connection(tenant=alice_production).last_used_at


def test_the_order_is_found_by_its_tracking_number(alice_production, secret, kit):
    report_shipment(
        kit,
        "transit_customer",
        at=timezone.now() - timedelta(hours=2),
        tracking_number="OUT-1",
    )
    body = body_of(kit, "with_customer", order_id=None, tracking_number="OUT-1")
    nobodys = body_of(kit, "with_customer", order_id=None, tracking_number="OUT-2")

    assert send(alice_production, body, sign(secret, body)).status_code == 200
    reply = send(alice_production, nobodys, sign(secret, nobodys))

    assert (reply.status_code, reply.json()["code"]) == (404, "order_not_found")
    assert ShipmentEvent.objects.for_tenant(alice_production).count() == 2


def forgeries(secret, body):
    good = sign(secret, body)
    return {
        "another secret": sign(generate_signing_secret(), body),
        "another body": sign(secret, body + b" "),
        "another id": {**good, "webhook-id": "msg_other"},
        "no signature": {**good, "webhook-signature": ""},
        "no id": {**good, "webhook-id": ""},
        "no timestamp": {**good, "webhook-timestamp": ""},
        "not a number": {**good, "webhook-timestamp": "now"},
        "stale": sign(secret, body, at=time.time() - 301),
        "early": sign(secret, body, at=time.time() + 301),
        "no headers": {},
    }


@pytest.mark.parametrize("name", list(forgeries(generate_signing_secret(), b"")))
def test_a_forged_or_stale_message_is_refused_and_nothing_moves(
    alice_production, secret, kit, name, caplog
):
    body = body_of(kit, tracking_number="SECRET-NUMBER")
    before = held(alice_production)

    reply = send(alice_production, body, forgeries(secret, body)[name])

    assert reply.status_code == 401
    assert reply.json()["code"] == "unauthenticated"
    assert "service-api-key" not in reply.json()["detail"]  # a courier has none
    assert held(alice_production) == before
    assert "SECRET-NUMBER" not in caplog.text
    assert str(kit.pk) not in caplog.text


def test_a_message_to_no_courier_looks_as_a_forged_one(alice_production, secret, kit):
    body = body_of(kit)

    replies = [
        send(alice_production, body, sign(secret, body), courier=courier)
        for courier in (uuid4(), "none")
    ]
    forged = send(alice_production, body, sign(generate_signing_secret(), body))

    assert {reply.status_code for reply in (*replies, forged)} == {401}
    assert {reply.content for reply in (*replies, forged)} == {forged.content}


def test_a_repeated_message_is_refused_and_nothing_moves(alice_production, secret, kit):
    body = body_of(kit)
    headers = sign(secret, body)
    first = send(alice_production, body, headers)
    before = held(alice_production)

    again = send(alice_production, body, headers)

    assert first.status_code == 200
    assert (again.status_code, again.json()["code"]) == (
        409,
        "courier_message_repeated",
    )
    assert held(alice_production) == before


def test_a_later_attempt_of_a_message_is_answered_as_the_first(
    alice_production, secret, kit
):
    body = body_of(kit)
    for seconds in (0, 5):
        headers = sign(secret, body, at=time.time() + seconds, message_id="msg_1")
        assert send(alice_production, body, headers).status_code == 200

    assert ShipmentEvent.objects.for_tenant(alice_production).count() == 1


def test_a_refused_step_is_not_remembered(alice_production, secret, kit):
    body = body_of(kit, "transit_lab")
    headers = sign(secret, body)
    before = held(alice_production)

    replies = [send(alice_production, body, headers) for _ in range(2)]

    assert {(one.status_code, one.json()["code"]) for one in replies} == {
        (400, "transition_not_allowed")
    }
    assert held(alice_production) == before


def test_a_courier_reaches_its_own_environment_alone(
    alice_production, alice_tenant, secret
):
    theirs = make_kit(tenant=alice_tenant)
    body = body_of(theirs)
    before = held(alice_tenant)

    reply = send(alice_production, body, sign(secret, body))

    assert (reply.status_code, reply.json()["code"]) == (404, "order_not_found")
    assert held(alice_tenant) == before


def test_a_rotated_secret_is_accepted_for_a_day(alice_production, secret, kit):
    new = create_courier_secret(tenant=alice_production, actor=ACTOR)
    body = body_of(kit)
    assert send(alice_production, body, sign(secret, body)).status_code == 200

    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        body = body_of(kit, "with_customer")
        old = send(alice_production, body, sign(secret, body))
        current = send(alice_production, body, sign(new, body))

    assert (old.status_code, current.status_code) == (401, 200)


def test_a_removed_courier_is_refused(alice_production, secret, kit):
    courier = find_courier_connection(tenant=alice_production).pk
    remove_courier(tenant=alice_production, actor=ACTOR)
    body = body_of(kit)

    reply = send(alice_production, body, sign(secret, body), courier=courier)

    assert reply.status_code == 401


def test_digests_are_deleted_once_nothing_can_be_repeated(
    alice_production, secret, kit
):
    body = body_of(kit)
    send(alice_production, body, sign(secret, body))

    kept = delete_old_courier_messages(at=timezone.now() + timedelta(minutes=10))
    gone = delete_old_courier_messages(at=timezone.now() + timedelta(minutes=61))

    assert (kept, gone) == (0, 1)


@pytest.mark.django_db(transaction=True)
def test_two_copies_at_once_are_taken_once(alice_production, secret, kit):
    body, start = body_of(kit), Barrier(2)
    headers = sign(secret, body)
    courier = find_courier_connection(tenant=alice_production).pk

    def work(_number):
        try:
            start.wait()
            return send(alice_production, body, headers, courier=courier).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(work, range(2))) == [200, 409]
    assert ShipmentEvent.objects.for_tenant(alice_production).count() == 1
