"""What production lacks is refused through every door of the API (contract D23)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.core import mail

from labs.models import Appointment, LabAccountTeam, Order, ServiceCenter, SlotPlace
from labs.operations.order_status.status import advance_order
from labs.operations.orders.kits import KitRequest, order_kit
from labs.operations.orders.placing import import_order
from labs.states.accounts import AccountReason
from tests.factories.accounts import ACTOR
from tests.factories.appointments import (
    HOME,
    booking_lab,
    free_slots,
    make_appointment,
    make_bookable_order,
    make_center,
)
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    PHYSICIAN,
    make_lab_test,
    make_order,
    order_request,
    set_up_production,
)
from tests.factories.users import make_user
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db

SHIPPING = {**ADDRESS, "receiver_name": "Ada Example", "phone_number": "+15550101"}


@pytest.fixture
def world(alice_production, alice_production_api):
    """Orders and panels of a production environment that lacks nothing yet."""
    tenant = alice_production
    lab = booking_lab(tenant=tenant)
    set_up_production(tenant=tenant, lab=lab)
    panels = {
        method: make_lab_test(tenant=tenant, lab=lab, method=method)
        for method in ("walk_in_test", "testkit", "at_home_phlebotomy")
    }
    user = make_user(tenant=tenant)
    center = make_center(tenant=tenant)
    booked = make_bookable_order(tenant=tenant)
    make_appointment(order=booked, center=center)
    lost = make_order(tenant=tenant, user=user, lab_test=panels["testkit"])
    for low in ("requisition_created", "transit_customer", "lost"):
        advance_order(order=lost, actor=ACTOR, to=low)
    request = KitRequest(
        user_id=user.uuid, lab_test_id=panels["testkit"].pk, shipping_address=SHIPPING
    )
    at_home = order_request(
        user=user, panels=(panels["at_home_phlebotomy"],), physician=PHYSICIAN
    )
    return SimpleNamespace(
        tenant=tenant,
        api=alice_production_api,
        user=user,
        panels=panels,
        physician=PHYSICIAN,
        placed=make_order(tenant=tenant, lab_test=panels["walk_in_test"]),
        kit=order_kit(tenant=tenant, actor=ACTOR, request=request),
        lost=lost,
        bookable=make_bookable_order(tenant=tenant),
        booked=booked,
        slot=free_slots(tenant, center)[1].booking_key,
        at_home=import_order(
            tenant=tenant, actor=ACTOR, request=at_home, sample_id="Q-9"
        ),
    )


def take_away(world, code, settings):
    orders = Order.objects.for_tenant(world.tenant)
    if code == "lab_gateway_required":
        settings.LAB_GATEWAY = ""
    elif code == "lab_account_required":
        LabAccountTeam.objects.filter(team_id=world.tenant.team_id).delete()
        orders.update(lab_account=None, account_reason=AccountReason.PLATFORM)
    elif code == "physician_required":
        world.physician = None
        orders.update(physician=None)
    else:
        ServiceCenter.objects.update(is_active=False)


def body_of(world, method, **wanted):
    return {
        "user_id": str(world.user.uuid),
        "order_set": {"lab_test_ids": [str(world.panels[method].pk)]},
        "patient_details": PATIENT,
        "patient_address": ADDRESS,
        **({"physician": world.physician} if world.physician else {}),
        **wanted,
    }


def create(world, method="walk_in_test", path="/v3/order"):
    return world.api.post(path, body_of(world, method))


def create_at_create(world):
    return create(world, path="/v3/order/create")


def create_kit(world):
    return create(world, method="testkit")


def create_at_home(world):
    return create(world, method="at_home_phlebotomy")


def import_elsewhere(world):
    body = body_of(
        world,
        "walk_in_test",
        billing_type="client_bill",
        collection_method="walk_in_test",
        sample_id="Q-1",
        patient_address=SHIPPING,
    )
    return world.api.post("/v3/order/import", body)


def order_testkit(world):
    body = {
        "user_id": str(world.user.uuid),
        "lab_test_id": str(world.panels["testkit"].pk),
        "shipping_details": SHIPPING,
    }
    return world.api.post("/v3/order/testkit", body)


def register_testkit(world):
    body = {
        "sample_id": world.kit.sample_id,
        "patient_details": PATIENT,
        "patient_address": ADDRESS,
        **({"physician": world.physician} if world.physician else {}),
    }
    return world.api.post("/v3/order/testkit/register", body)


def recreate(world, **changes):
    body = {"update_reason": "OTHER", **changes}
    return world.api.post(f"/v3/order/{world.placed.pk}/recreate", body)


def recreate_for_wrong_lab(world):
    return recreate(world, update_reason="INCORRECT_LAB")


def recreate_at_home(world):
    panel = world.panels["at_home_phlebotomy"]
    return recreate(world, order_set={"lab_test_ids": [str(panel.pk)]})


def replace_kit(world):
    return world.api.post(f"/v3/order/{world.lost.pk}/replace_kit")


def book_center(world):
    return world.api.post(
        f"/v3/order/{world.bookable.pk}/psc/appointment/book",
        {"booking_key": world.slot},
    )


def reschedule_center(world):
    return world.api.patch(
        f"/v3/order/{world.booked.pk}/psc/appointment/reschedule",
        {"booking_key": world.slot},
    )


def request_home_visit(world):
    return world.api.post(
        f"/v3/order/{world.at_home.pk}/phlebotomy/appointment/request",
        {"address": HOME, "provider": "getlabs"},
    )


def find_center_times(world):
    return world.api.post(
        "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004"
    )


def find_home_times(world):
    return world.api.post("/v3/order/phlebotomy/appointment/availability", HOME)


def find_area(world):
    return world.api.get("/v3/order/area/info?zip_code=85004")


DOORS = {
    "lab_gateway_required": (
        *(create, create_at_create, create_kit, order_testkit, register_testkit),
        *(recreate, recreate_for_wrong_lab, replace_kit),
    ),
    "lab_account_required": (
        *(create, create_at_create, create_kit, import_elsewhere, order_testkit),
        *(register_testkit, recreate, recreate_for_wrong_lab, replace_kit),
    ),
    "physician_required": (
        *(create, create_at_create, create_kit, import_elsewhere),
        *(register_testkit, recreate, replace_kit),
    ),
    "directory_required": (
        *(create_at_home, recreate_at_home, book_center, reschedule_center),
        *(request_home_visit, find_center_times, find_home_times, find_area),
    ),
}
TABLE = [(code, door) for code, doors in DOORS.items() for door in doors]


def written(world):
    return [
        *holdings(world.tenant),
        *Appointment.objects.for_tenant(world.tenant).order_by("pk").values(),
        SlotPlace.objects.count(),
    ]


@pytest.mark.parametrize(
    ("code", "door"), TABLE, ids=[f"{door.__name__}-{code}" for code, door in TABLE]
)
def test_what_production_lacks_is_refused_and_nothing_happens(
    world, settings, code, door
):
    take_away(world, code, settings)
    before = written(world)

    reply = door(world)

    assert (reply.status_code, reply.json().get("code")) == (400, code)
    assert written(world) == before
    assert mail.outbox == []


@pytest.mark.parametrize("door", dict.fromkeys(door for _code, door in TABLE))
def test_with_all_set_up_each_door_but_those_of_home_visits_is_open(world, door):
    reply = door(world)

    if "home" in door.__name__:
        assert (reply.status_code, reply.json()["code"]) == (400, "directory_required")
    elif door is recreate_for_wrong_lab:  # the team has no account of another lab
        assert reply.json()["code"] == "lab_account_required"
    else:
        assert reply.status_code == 200, reply.content
