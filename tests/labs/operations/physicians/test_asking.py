from __future__ import annotations

import pytest

from labs.models import OrderApproval
from labs.operations.orders.kits import (
    KitRegistration,
    KitRequest,
    order_kit,
    register_kit,
)
from tests.factories.accounts import ACTOR
from tests.factories.labs import ADDRESS, PATIENT, make_lab_test, make_order
from tests.factories.physicians import make_physician, require_approval
from tests.factories.users import make_user
from tests.labs.holdings import refused

pytestmark = pytest.mark.django_db


def test_without_the_setting_no_order_waits(alice_tenant):
    make_physician(tenant=alice_tenant)

    make_order(tenant=alice_tenant)

    assert not OrderApproval.objects.for_tenant(alice_tenant).exists()


def test_a_kit_waits_once_its_patient_is_known(alice_tenant):
    require_approval(alice_tenant)
    panel = make_lab_test(tenant=alice_tenant, method="testkit")
    user = make_user(tenant=alice_tenant)
    kit = order_kit(
        tenant=alice_tenant,
        actor=ACTOR,
        request=KitRequest(user.uuid, panel.pk, {**ADDRESS, "receiver_name": "Ada"}),
    )
    registration = KitRegistration(kit.sample_id, PATIENT, ADDRESS)
    with refused(alice_tenant, "physician_required"):
        register_kit(tenant=alice_tenant, actor=ACTOR, request=registration)
    make_physician(tenant=alice_tenant)

    register_kit(tenant=alice_tenant, actor=ACTOR, request=registration)

    approval = OrderApproval.objects.for_tenant(alice_tenant).get()
    assert (approval.order_id, approval.status) == (kit.pk, "waiting")


def test_simulation_leads_no_order_past_its_physician(alice_tenant, alice_api):
    require_approval(alice_tenant)
    make_physician(tenant=alice_tenant)
    order = make_order(tenant=alice_tenant)

    reply = alice_api.post(f"/v3/order/{order.pk}/test", {})

    assert reply.status_code == 400
    assert reply.json()["code"] == "order_not_approved"
    order.refresh_from_db()
    assert order.status == "received.walk_in_test.ordered"
