from __future__ import annotations

import pytest

from labs.models import (
    Appointment,
    AppointmentEvent,
    InboundMessage,
    InboundReport,
    Order,
    OrderEvent,
    OrderTransaction,
    SlotPlace,
    UserInsurance,
)
from labs.operations.erasure import erase_user_orders
from labs.operations.insurance import InsuranceRequest, store_insurance
from labs.operations.order_status.status import advance_order
from labs.operations.orders.kits import (
    KitRegistration,
    KitRequest,
    order_kit,
    register_kit,
)
from labs.operations.orders.redraws import place_redraw_order
from labs.states.catalogue import CollectionMethod
from labs.states.inbound import MessageStatus
from tests.factories.accounts import ACTOR
from tests.factories.appointments import make_appointment, make_bookable_order
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab, make_unmatched, take
from tests.factories.labs import ADDRESS, PATIENT, make_lab_test, make_order
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db

TABLES = (Order, OrderEvent, OrderTransaction)


def counts(tenant):
    return [model.objects.for_tenant(tenant).count() for model in TABLES]


def test_all_of_a_users_orders_go_and_nobody_elses(alice_tenant):
    user = make_user(tenant=alice_tenant)
    order = make_order(tenant=alice_tenant, user=user)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    place_redraw_order(order=order, actor=ACTOR)
    make_order(tenant=alice_tenant)

    erase_user_orders(alice_tenant.pk, user.uuid)

    assert counts(alice_tenant) == [1, 1, 1]
    assert not Order.objects.for_tenant(alice_tenant).filter(user=user).exists()


def test_a_kit_stays_with_the_user_it_was_registered_to(alice_tenant):
    buyer, wearer = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    panel = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)
    kit = order_kit(
        tenant=alice_tenant,
        actor=ACTOR,
        request=KitRequest(
            user_id=buyer.uuid, lab_test_id=panel.pk, shipping_address=ADDRESS
        ),
    )
    register_kit(
        tenant=alice_tenant,
        actor=ACTOR,
        request=KitRegistration(
            sample_id=kit.sample_id,
            patient_details=PATIENT,
            patient_address=ADDRESS,
            user_id=wearer.uuid,
        ),
    )

    erase_user_orders(alice_tenant.pk, buyer.uuid)
    kept = counts(alice_tenant)
    erase_user_orders(alice_tenant.pk, wearer.uuid)

    assert kept == [1, 3, 1]
    assert counts(alice_tenant) == [0, 0, 0]


def test_a_users_insurance_goes_too(alice_tenant):
    request = InsuranceRequest("SBX001", "M-1", "Self", {**PATIENT, "address": ADDRESS})
    gone, stays = (make_user(tenant=alice_tenant) for _ in range(2))
    for user in (gone, stays):
        store_insurance(user=user, actor=ACTOR, request=request)

    erase_user_orders(alice_tenant.pk, gone.uuid)

    assert UserInsurance.objects.for_tenant(alice_tenant).get().user == stays


def test_what_a_lab_sent_of_a_users_order_goes_with_it(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    take(
        alice_tenant,
        make_oru(make_test(obx(), placer=order.sample_id)),
        lab=order.lab,
    )
    waits = make_unmatched(tenant=alice_tenant)
    answer = InboundMessage(
        tenant=alice_tenant,
        lab=order.lab,
        order=make_order(tenant=alice_tenant),
        file_name="accepted.hl7",
        status=MessageStatus.TAKEN,
    )
    answer.save()

    erase_user_orders(alice_tenant.pk, order.user.uuid)

    assert InboundReport.objects.for_tenant(alice_tenant).get() == waits
    assert set(InboundMessage.objects.for_tenant(alice_tenant)) == {
        waits.message,
        answer,
    }


def test_a_users_visits_go_and_their_places_are_free(alice_tenant):
    order = make_bookable_order(tenant=alice_tenant)
    make_appointment(order=order)

    erase_user_orders(alice_tenant.pk, order.user.uuid)

    left = Appointment.unscoped.count(), AppointmentEvent.unscoped.count()
    assert (left, SlotPlace.objects.count()) == ((0, 0), 0)
