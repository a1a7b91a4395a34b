from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from labs.models import Order
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_order
from tests.factories.shipments import make_kit, report_shipment
from tests.labs.holdings import holdings
from tests.outbox import emitted

pytestmark = pytest.mark.django_db
PATH = "/v3/order/{order_id}/replace_kit"


def path_of(order):
    return PATH.format(order_id=order.pk)


def code(reply):
    return reply.status_code, reply.json().get("code")


def make_lost_kit(tenant):
    kit = make_kit(tenant=tenant)
    report_shipment(kit, "transit_customer", "lost")
    return kit


def test_another_kit_is_ordered_for_a_lost_one(alice_production, alice_production_api):
    kit = make_lost_kit(alice_production)

    reply = alice_production_api.post(path_of(kit))

    assert set(reply.json()) == {"order", "status", "message"}
    order = reply.json()["order"]
    new = Order.objects.for_tenant(alice_production).exclude(pk=kit.pk).get()
    assert order["id"] == str(new.pk)
    assert (order["status"], order["origin"]) == ("received", "recreation")
    assert new.parent_id == kit.pk
    assert order["order_transaction"]["id"] == str(kit.transaction_id)
    assert emitted(alice_production)[-1]["event_type"] == "labtest.order.created"
    assert emitted(alice_production)[-1]["data"]["id"] == str(new.pk)
    kit.refresh_from_db()
    assert kit.status == "failed.testkit.lost"


def test_a_call_sent_again_with_its_key_orders_one_kit(
    alice_production, alice_production_api
):
    kit = make_lost_kit(alice_production)
    headers = {"x-idempotency-key": "again-1"}

    first, second = (
        alice_production_api.post(path_of(kit), headers=headers) for _ in range(2)
    )

    assert first.json() == second.json()
    assert Order.objects.for_tenant(alice_production).count() == 2


def test_what_cannot_be_replaced_is_refused_and_nothing_is_written(
    alice_production, alice_production_api, charlie_tenant
):
    lost, going = make_lost_kit(alice_production), make_kit(tenant=alice_production)
    walk_in = make_order(tenant=alice_production)
    theirs = make_lost_kit(charlie_tenant)
    _row, reader = create_api_key(
        tenant=alice_production,
        actor=ACTOR,
        label="reader",
        rules=KeyRules(scopes=frozenset({"orders:read", "patient_details:read"})),
    )
    alice_production_api.post(path_of(lost))
    before, of_charlie = holdings(alice_production), holdings(charlie_tenant)

    for api, path, answer in (
        (alice_production_api, path_of(lost), (400, "kit_replaced")),
        (alice_production_api, path_of(going), (400, "kit_not_replaceable")),
        (alice_production_api, path_of(walk_in), (400, "kit_not_replaceable")),
        (alice_production_api, path_of(theirs), (404, "order_not_found")),
        (
            alice_production_api,
            PATH.format(order_id=uuid.uuid4()),
            (404, "order_not_found"),
        ),
        (alice_production_api, PATH.format(order_id="7"), (422, None)),
        (ApiClient(reader), path_of(lost), (403, "scope_missing")),
    ):
        assert code(api.post(path)) == answer

    assert holdings(alice_production) == before
    assert holdings(charlie_tenant) == of_charlie


@pytest.mark.django_db(transaction=True)
def test_of_calls_at_once_one_orders_a_kit(alice_production, alice_production_api):
    kit = make_lost_kit(alice_production)

    def post(_number):
        try:
            return code(alice_production_api.post(path_of(kit)))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(post, range(8)))

    assert sorted(answers, key=str) == [(200, None), *[(400, "kit_replaced")] * 7]
    assert Order.objects.for_tenant(alice_production).count() == 2
