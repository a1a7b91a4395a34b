from __future__ import annotations

import pytest
from django.core import mail

from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.order_status.status import advance_order
from labs.operations.orders.kits import (
    KitRegistration,
    KitRequest,
    order_kit,
    register_kit,
)
from labs.operations.orders.placing import import_order, place_order
from labs.operations.orders.recreations import RecreationRequest, recreate_order
from labs.operations.orders.redraws import place_redraw_order
from labs.operations.production import require_physician
from labs.states.accounts import AccountReason, DelegatedFlow
from labs.states.catalogue import CollectionMethod
from labs.states.orders import UpdateReason
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    PHYSICIAN,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_order,
    order_request,
    set_up_production,
)
from tests.factories.users import make_user
from tests.labs.holdings import refused
from users.models import User

pytestmark = pytest.mark.django_db

SHIPPING = {**ADDRESS, "receiver_name": "Ada Example", "phone_number": "+15550101"}


@pytest.fixture(autouse=True)
def _nobody_is_mailed():
    yield
    assert mail.outbox == []


@pytest.fixture(autouse=True)
def _users(alice_tenant, alice_production):
    """A user made while an order is refused would be an event of its own."""
    for tenant in (alice_tenant, alice_production):
        make_user(tenant=tenant)


@pytest.fixture
def no_gateway(settings):
    settings.LAB_GATEWAY = ""


def the_user(tenant):
    return User.objects.for_tenant(tenant).earliest("id")


def forget_account(order):
    """Make an order as one that was placed before production needed an account."""
    order.lab_account = None
    order.account_reason = AccountReason.PLATFORM
    order.save(update_fields=["lab_account", "account_reason"])
    return order


def forget_physician(order):
    order.physician = None
    order.save(update_fields=["physician"])
    return order


def place(tenant, panel, **wanted):
    request = order_request(user=the_user(tenant), panels=(panel,), **wanted)
    return place_order(tenant=tenant, actor=ACTOR, request=request)


def bring_in(tenant, panel, **wanted):
    request = order_request(user=the_user(tenant), panels=(panel,), **wanted)
    return import_order(tenant=tenant, actor=ACTOR, request=request, sample_id="Q-1")


def send_kit(tenant, panel):
    request = KitRequest(
        user_id=the_user(tenant).uuid,
        lab_test_id=panel.pk,
        shipping_address=SHIPPING,
    )
    return order_kit(tenant=tenant, actor=ACTOR, request=request)


def register(tenant, kit, physician=PHYSICIAN):
    registration = KitRegistration(
        sample_id=kit.sample_id,
        patient_details=PATIENT,
        patient_address=ADDRESS,
        physician=physician,
    )
    return register_kit(tenant=tenant, actor=ACTOR, request=registration)


def recreate(order, reason=UpdateReason.OTHER, **changes):
    wanted = RecreationRequest(reason=reason, **changes)
    return recreate_order(order=order, actor=ACTOR, recreation=wanted)


def make_drawn_order(tenant):
    """A walk-in order that has reached its lab."""
    order = make_order(tenant=tenant)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    return order


def make_production_kit(tenant):
    panel = make_lab_test(tenant=tenant, method=CollectionMethod.TESTKIT)
    set_up_production(tenant=tenant, lab=panel.lab)
    return send_kit(tenant, panel)


def test_without_a_gateway_nothing_is_ordered(alice_production, settings):
    panel = make_lab_test(tenant=alice_production)
    kit_panel = make_lab_test(tenant=alice_production, method="testkit", lab=panel.lab)
    set_up_production(tenant=alice_production, lab=panel.lab)
    kit, drawn = (
        send_kit(alice_production, kit_panel),
        make_drawn_order(alice_production),
    )
    settings.LAB_GATEWAY = ""

    for act in (
        lambda: place(alice_production, panel, physician=PHYSICIAN),
        lambda: send_kit(alice_production, kit_panel),
        lambda: register(alice_production, kit),
        lambda: recreate(drawn),
        lambda: place_redraw_order(order=drawn, actor=ACTOR),
    ):
        with refused(alice_production, "lab_gateway_required"):
            act()


def test_an_import_needs_no_gateway(alice_production, no_gateway):
    panel = make_lab_test(tenant=alice_production)
    set_up_production(tenant=alice_production, lab=panel.lab)

    order = bring_in(alice_production, panel, physician=PHYSICIAN)

    assert order.status == "received.walk_in_test.requisition_bypassed"


def test_production_has_no_platform_account(alice_production):
    panel = make_lab_test(tenant=alice_production)
    kit_panel = make_lab_test(tenant=alice_production, method="testkit")
    kit = forget_account(make_production_kit(alice_production))
    drawn = forget_account(make_drawn_order(alice_production))

    for act in (
        lambda: place(alice_production, panel, physician=PHYSICIAN),
        lambda: bring_in(alice_production, panel, physician=PHYSICIAN),
        lambda: send_kit(alice_production, kit_panel),
        lambda: register(alice_production, kit),
        lambda: recreate(drawn),
        lambda: place_redraw_order(order=drawn, actor=ACTOR),
    ):
        with refused(alice_production, "lab_account_required"):
            act()


def test_a_wrong_lab_account_is_not_replaced_by_the_platforms(alice_production):
    order = make_order(tenant=alice_production)

    with refused(alice_production, "lab_account_required"):
        recreate(order, UpdateReason.INCORRECT_LAB)


def test_production_has_no_platform_physicians(alice_production):
    panel = make_lab_test(tenant=alice_production)
    set_up_production(tenant=alice_production, lab=panel.lab)
    kit = make_production_kit(alice_production)
    drawn = forget_physician(make_drawn_order(alice_production))

    for act in (
        lambda: place(alice_production, panel),
        lambda: bring_in(alice_production, panel),
        lambda: register(alice_production, kit, physician=None),
        lambda: recreate(drawn),
        lambda: place_redraw_order(order=drawn, actor=ACTOR),
    ):
        with refused(alice_production, "physician_required"):
            act()


@pytest.mark.parametrize("flow", DelegatedFlow)
def test_who_orders_depends_on_the_account_and_the_environment(
    alice_tenant, alice_production, flow
):
    is_team = flow in {"order_delegated", "fully_delegated"}
    for tenant, otherwise in (
        (alice_tenant, None),
        (alice_production, "physician_required"),
    ):
        account = make_lab_account(tenant=tenant, lab=make_lab(), delegated_flow=flow)
        require_physician(tenant=tenant, account=account, physician=PHYSICIAN)
        if code := "physician_missing" if is_team else otherwise:
            with refused(tenant, code):
                require_physician(tenant=tenant, account=account, physician=None)
        else:
            require_physician(tenant=tenant, account=account, physician=None)
    require_physician(tenant=alice_tenant, account=None, physician=None)


def test_production_sends_nobody_home(alice_production):
    home = CollectionMethod.AT_HOME_PHLEBOTOMY
    panel = make_lab_test(tenant=alice_production, method=home)
    set_up_production(tenant=alice_production, lab=panel.lab)
    walk_in = make_order(tenant=alice_production)
    other = make_lab_test(tenant=alice_production, lab=walk_in.lab, method=home)

    with refused(alice_production, "directory_required"):
        place(alice_production, panel, physician=PHYSICIAN)
    with refused(alice_production, "directory_required"):
        recreate(walk_in, order_set=OrderSet(lab_test_ids=(other.pk,)))

    # What was collected elsewhere is a fact.
    assert bring_in(alice_production, panel, physician=PHYSICIAN).method == home


def test_the_sandbox_keeps_its_own(alice_tenant, no_gateway):
    for method in (CollectionMethod.WALK_IN_TEST, CollectionMethod.AT_HOME_PHLEBOTOMY):
        order = place(alice_tenant, make_lab_test(tenant=alice_tenant, method=method))
        assert (order.lab_account, order.account_reason) == (None, "platform")
