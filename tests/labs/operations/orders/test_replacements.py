from __future__ import annotations

import pytest

from labs.models import Order
from labs.operations.order_status.status import advance_order
from labs.operations.orders.kits import KitRequest, order_kit
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.replacements import replace_kit
from labs.payloads import get_transaction_status
from labs.queries.orders.orders import get_order_with_details
from labs.states.accounts import LabAccountStatus
from tests.factories.accounts import ACTOR
from tests.factories.labs import ADDRESS, make_lab_test, make_order
from tests.factories.shipments import make_kit, report_shipment
from tests.factories.users import make_user
from tests.jobs import queued
from tests.labs.holdings import refused
from tests.outbox import emitted

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "steps",
    [
        ("transit_customer", "lost"),
        ("transit_customer", "failure_to_deliver_to_customer"),
        ("transit_customer", "with_customer", "transit_lab", "lost"),
    ],
)
def test_another_kit_goes_to_the_same_patient_in_the_same_transaction(
    alice_production, steps
):
    kit = make_kit(tenant=alice_production)
    report_shipment(kit, *steps)

    new = replace_kit(order=kit, actor=ACTOR)

    old = get_order_with_details(tenant=alice_production, order_id=kit.pk)
    assert old.status == f"failed.testkit.{steps[-1]}"
    assert new.status == "received.testkit.ordered"
    assert (new.origin, new.parent_id) == ("recreation", kit.pk)
    assert (new.transaction_id, new.update_reason) == (kit.transaction_id, "OTHER")
    assert new.patient_details == kit.patient_details
    assert new.patient_address == kit.patient_address
    assert (new.lab_account_id, new.sample_id) == (kit.lab_account_id, "")
    assert get_transaction_status([old, new]) == "active"
    created = emitted(alice_production)[-1]
    assert created["event_type"] == "labtest.order.created"
    assert created["data"]["id"] == str(new.pk)
    assert created["data"]["order_transaction"]["status"] == "active"
    assert queued()[-1].lock == f"order-{new.pk}"


def test_a_kit_that_was_never_registered_is_replaced_by_one_to_register(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, method="testkit")
    kit = order_kit(
        tenant=alice_tenant,
        actor=ACTOR,
        request=KitRequest(
            user_id=make_user(tenant=alice_tenant).uuid,
            lab_test_id=panel.pk,
            shipping_address={**ADDRESS, "receiver_name": "Ada Example"},
        ),
    )
    for low in ("transit_customer", "lost"):
        advance_order(order=kit, actor=ACTOR, to=low)

    new = replace_kit(order=kit, actor=ACTOR)

    assert new.status == "received.testkit.awaiting_registration"
    assert (new.is_registrable, new.patient_details) == (True, None)
    assert new.shipping_address == kit.shipping_address
    assert new.recipient_name == "Ada Example"
    assert new.sample_id not in {"", kit.sample_id}


def test_a_kit_is_replaced_once_until_that_one_is_cancelled(alice_production):
    kit = make_kit(tenant=alice_production)
    report_shipment(kit, "transit_customer", "lost")
    first = replace_kit(order=kit, actor=ACTOR)

    with refused(alice_production, "kit_replaced"):
        replace_kit(order=kit, actor=ACTOR)

    cancel_order(order=first, actor=ACTOR)
    assert replace_kit(order=kit, actor=ACTOR).parent_id == kit.pk


def test_what_is_no_failed_kit_is_not_replaced(alice_tenant):
    kit = make_kit(tenant=alice_tenant)
    walk_in = make_order(tenant=alice_tenant)
    for low in ("requisition_created", "sample_error"):
        advance_order(order=walk_in, actor=ACTOR, to=low)

    for order in (kit, walk_in):
        with refused(alice_tenant, "kit_not_replaceable"):
            replace_kit(order=order, actor=ACTOR)
    assert Order.objects.for_tenant(alice_tenant).count() == 2


def test_a_kit_on_a_suspended_account_is_not_replaced(alice_production):
    kit = make_kit(tenant=alice_production)
    report_shipment(kit, "transit_customer", "lost")
    account = kit.lab_account
    account.status = LabAccountStatus.SUSPENDED
    account.save(update_fields=["status"])

    with refused(alice_production, "lab_account_not_active"):
        replace_kit(order=kit, actor=ACTOR)
