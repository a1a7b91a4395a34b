from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from accounts.declarations.demo_data import DemoPerson, DemoScene
from labs.demo.accounts import load_demo_lab_accounts
from labs.demo.appointments import load_demo_appointments
from labs.models import (
    Appointment,
    AppointmentEvent,
    LabTest,
    Order,
    OrderEvent,
    SlotPlace,
)
from labs.operations.order_status.status import advance_order
from labs.queries.appointments.days import (
    AppointmentTab,
    count_appointments_by_tab,
    list_appointments_on_tab,
)
from labs.states.orders import split_order_status
from tests.factories.accounts import ACTOR
from tests.factories.labs import ADDRESS, make_order
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db
TUESDAY = datetime(2026, 3, 10, 12, tzinfo=UTC)
SATURDAY_EVENING = datetime(2026, 3, 15, 1, tzinfo=UTC)
SUNDAY = datetime(2026, 3, 15, 18, tzinfo=UTC)


# Place in the scene: panel and ZIP code.
PANELS = {
    0: ("quest-lipid-panel", "Tempe", "AZ", "85281"),
    1: ("quest-lipid-panel", "New York", "NY", "10016"),
    2: ("quest-lipid-panel", "Phoenix", "AZ", "85004"),
    3: ("quest-essential-health-at-home", "Tucson", "AZ", "85701"),
    4: ("quest-lipid-panel", "Evanston", "IL", "60201"),
    5: ("quest-essential-health-at-home", "San Diego", "CA", "92101"),
    11: ("quest-lipid-panel", "Newark", "NJ", "07102"),
    15: ("quest-essential-health-at-home", "Chattanooga", "TN", "37402"),
}


@pytest.fixture
def load(alice_tenant, time_machine):
    """Place the orders that the demo books visits for, and load those at a moment."""

    def load_at(moment):
        time_machine.move_to(moment - timedelta(days=5), tick=False)
        people = [DemoPerson(uuid4(), "", (), None, None)] * 16
        scene = DemoScene(alice_tenant, ACTOR, ())
        load_demo_lab_accounts(scene)
        panels = LabTest.objects.for_tenant(alice_tenant)
        for number, (slug, city, state, zip_code) in PANELS.items():
            user = make_user(tenant=alice_tenant)
            people[number] = DemoPerson(user.uuid, "", (), None, None)
            order = make_order(
                tenant=alice_tenant,
                user=user,
                lab_test=panels.get(reference_slug=slug),
                patient_address={
                    **ADDRESS,
                    "city": city,
                    "state": state,
                    "zip": zip_code,
                },
            )
            advance_order(order=order, actor=ACTOR, to="requisition_created")
        time_machine.move_to(moment, tick=False)
        scene = replace(scene, people=tuple(people))
        load_demo_appointments(scene)
        return scene

    return load_at


def test_each_tab_of_visits_has_one_to_show(load):
    tenant = load(TUESDAY).tenant

    visits = Appointment.objects.for_tenant(tenant)
    assert sorted(visits.values_list("status", flat=True)) == [
        *["cancelled"] * 2,
        *["confirmed"] * 4,
        *["pending"] * 2,
    ]
    counts = count_appointments_by_tab(tenant=tenant, at=TUESDAY)
    for tab in (AppointmentTab.TODAY, AppointmentTab.TOMORROW, AppointmentTab.LATER):
        assert counts[tab] == 1
    assert (counts[AppointmentTab.UNSURE], counts[AppointmentTab.PASSED]) == (2, 1)
    for off in visits.filter(status="cancelled"):
        assert off.cancellation_reason == "schedule_conflict"
        assert split_order_status(off.order.status).low == "appointment_cancelled"
    assert SlotPlace.objects.count() == 3
    assert emitted_types(tenant).count("labtest.appointment.created") == 8


def test_steps_of_visits_lie_in_the_past_and_one_after_another(load):
    tenant = load(TUESDAY).tenant

    for visit in Appointment.objects.for_tenant(tenant):
        taken = OrderEvent.objects.for_tenant(tenant).filter(order=visit.order_id)
        times = list(taken.order_by("pk").values_list("created_at", flat=True))
        steps = AppointmentEvent.objects.for_tenant(tenant).filter(appointment=visit)
        assert times == sorted(times)
        assert visit.created_at < TUESDAY
        assert visit.start_at is None or visit.created_at < visit.start_at
        assert max(step.created_at for step in steps) == visit.updated_at
        order = Order.objects.for_tenant(tenant).get(pk=visit.order_id)
        assert visit.updated_at == order.updated_at


@pytest.mark.parametrize(
    ("moment", "today", "passed"),
    [(SATURDAY_EVENING, 1, 2), (SUNDAY, 0, 1)],
    ids=["after hours", "closed"],
)
def test_a_day_without_free_times_has_visits_that_are_over(load, moment, today, passed):
    tenant = load(moment).tenant

    counts = count_appointments_by_tab(tenant=tenant, at=moment)

    assert (counts[AppointmentTab.TODAY], counts[AppointmentTab.PASSED]) == (
        today,
        passed,
    )
    page = list_appointments_on_tab(
        tenant=tenant, tab=AppointmentTab.PASSED, at=moment, offset=0, limit=9
    )
    for visit in page.appointments:
        assert visit.end_at < moment
        assert not visit.places.exists()


def test_loading_again_changes_nothing(load):
    scene = load(TUESDAY)
    before = holdings(scene.tenant)

    load_demo_appointments(scene)

    assert holdings(scene.tenant) == before
