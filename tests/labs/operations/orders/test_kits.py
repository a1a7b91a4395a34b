from __future__ import annotations

from uuid import uuid4

import pytest

from labs.models import Order
from labs.operations.order_status.status import advance_order
from labs.operations.orders.kits import (
    KitRegistration,
    KitRequest,
    order_kit,
    register_kit,
)
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    PHYSICIAN,
    make_lab_account,
    make_lab_test,
    make_order,
    set_up_production,
)
from tests.factories.users import make_user
from tests.jobs import queued
from tests.labs.holdings import refused
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db

SHIPPING = {**ADDRESS, "receiver_name": "Ada Example", "phone_number": "+15550101"}


def make_kit(tenant, **wanted):
    panel = make_lab_test(tenant=tenant, method=CollectionMethod.TESTKIT)
    user = make_user(tenant=tenant)
    if not tenant.is_sandbox:
        set_up_production(tenant=tenant, lab=panel.lab)
    request = KitRequest(
        **{
            "user_id": user.uuid,
            "lab_test_id": panel.pk,
            "shipping_address": SHIPPING,
            **wanted,
        }
    )
    return order_kit(tenant=tenant, actor=ACTOR, request=request)


def register(tenant, kit, **wanted):
    return register_kit(
        tenant=tenant,
        actor=ACTOR,
        request=KitRegistration(
            **{
                "sample_id": kit.sample_id,
                "patient_details": PATIENT,
                "patient_address": ADDRESS,
                **wanted,
            }
        ),
    )


def lows(order):
    kept = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    return [event.status.split(".")[2] for event in kept.events.all()]


def test_a_kit_waits_for_its_registration_with_its_sample_id(alice_tenant):
    kit = make_kit(alice_tenant)

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert kept.status == "received.testkit.awaiting_registration"
    assert kept.sample_id.startswith("K")
    assert (kept.patient_details, kept.recipient_name) == (None, "Ada Example")
    assert lows(kit) == ["ordered", "awaiting_registration"]
    assert emitted_types(alice_tenant) == [
        "labtest.order.created",
        "labtest.order.updated",
    ]


def test_only_a_kit_test_is_sent_as_a_kit(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    user = make_user(tenant=alice_tenant)

    with refused(alice_tenant, "not_a_kit"):
        order_kit(
            tenant=alice_tenant,
            actor=ACTOR,
            request=KitRequest(
                user_id=user.uuid, lab_test_id=panel.pk, shipping_address=SHIPPING
            ),
        )


@pytest.mark.parametrize("on_its_way", [False, True])
def test_a_kit_is_bound_to_its_person_and_goes_on(alice_production, on_its_way):
    kit = make_kit(alice_production)
    if on_its_way:
        for step in ("transit_customer", "with_customer"):
            advance_order(order=kit, actor=ACTOR, to=step)
    other = make_user(tenant=alice_production)

    register(alice_production, kit, user_id=other.uuid, physician=PHYSICIAN)

    kept = get_order_with_details(tenant=alice_production, order_id=kit.pk)
    assert kept.status == "received.testkit.registered"
    assert (kept.user.uuid, kept.patient_name) == (other.uuid, "Ada Example")
    assert len(queued()) == 1
    create_requisition(tenant=alice_production, actor=ACTOR, order_id=kit.pk)
    kept = get_order_with_details(tenant=alice_production, order_id=kit.pk)
    assert kept.status == "received.testkit.requisition_created"
    assert kept.sample_id == kit.sample_id


def test_a_kit_is_registered_once_and_in_time(alice_tenant):
    kit, sent = make_kit(alice_tenant), make_kit(alice_tenant)
    register(alice_tenant, kit)
    advance_order(order=sent, actor=ACTOR, to="transit_customer")

    with refused(alice_tenant, "kit_registered"):
        register(alice_tenant, kit)
    with refused(alice_tenant, "kit_not_registrable"):
        register(alice_tenant, sent)


def test_a_kit_is_found_by_its_team_alone(alice_tenant, charlie_tenant):
    kit = make_kit(alice_tenant)

    with refused(charlie_tenant, "kit_not_found"):
        register(charlie_tenant, kit)
    with refused(alice_tenant, "kit_not_found"):
        register(alice_tenant, kit, sample_id="K0")
    with refused(alice_tenant, "user_not_found"):
        register(alice_tenant, kit, user_id=uuid4())


def test_an_order_for_a_known_person_is_no_kit_to_register(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)
    order.refresh_from_db()

    with refused(alice_tenant, "kit_not_found"):
        register(alice_tenant, order)


def test_a_minors_kit_and_a_state_without_billing_are_refused(alice_tenant):
    kit = make_kit(alice_tenant)

    with refused(alice_tenant, "minor_not_allowed"):
        register(alice_tenant, kit, patient_details={**PATIENT, "dob": "2020-01-01"})


def test_a_kit_is_billed_where_it_is_sent_and_where_its_person_lives(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)
    make_lab_account(
        tenant=alice_tenant, lab=panel.lab, allowed_billing={"client_bill": ["AZ"]}
    )
    kit = make_kit(alice_tenant, lab_test_id=panel.pk)

    with refused(alice_tenant, "billing_not_allowed"):
        make_kit_in = KitRequest(
            user_id=kit.user.uuid,
            lab_test_id=panel.pk,
            shipping_address={**SHIPPING, "state": "NY"},
        )
        order_kit(tenant=alice_tenant, actor=ACTOR, request=make_kit_in)
    with refused(alice_tenant, "billing_not_allowed"):
        register(alice_tenant, kit, patient_address={**ADDRESS, "state": "NY"})
