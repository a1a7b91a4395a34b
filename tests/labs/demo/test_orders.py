from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest

from accounts.declarations.demo_data import DemoPerson, DemoScene
from labs.demo.accounts import load_demo_lab_accounts
from labs.demo.orders import load_demo_orders
from labs.models import (
    CriticalAlert,
    LabTest,
    Order,
    OrderEvent,
    OrderTransaction,
    ResultVersion,
)
from labs.operations.catalogue.panels import archive_lab_test
from labs.operations.erasure import erase_user_orders
from labs.queries.orders.attention import count_orders_needing_attention
from labs.states.catalogue import CollectionMethod
from labs.states.order_queues import IN_STATE, Stage, WorkState, get_order_stage
from labs.states.orders import split_order_status
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_order
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.outbox import emitted_types
from users.models import User

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def everybody(alice_tenant, time_machine):
    """As many people as the demo has orders for."""
    time_machine.move_to(NOON, tick=False)
    return scene_of(alice_tenant, 16)


@pytest.fixture
def two(alice_tenant, time_machine):
    """The first two people, who get two orders each."""
    time_machine.move_to(NOON, tick=False)
    return scene_of(alice_tenant, 2)


def scene_of(tenant, number):
    people = []
    for each in range(number):
        user = make_user(tenant=tenant, client_user_id=f"mbr_{each}")
        people.append(DemoPerson(user.uuid, user.client_user_id, (), None, None))
    scene = DemoScene(tenant, ACTOR, tuple(people))
    load_demo_lab_accounts(scene)
    return scene


def orders(scene):
    rows = Order.objects.for_tenant(scene.tenant)
    return list(rows.select_related("transaction").order_by("created_at"))


def test_demo_people_have_orders_in_every_state_of_work(everybody):
    load_demo_orders(everybody)

    found = orders(everybody)
    lows = [split_order_status(order.status).low for order in found]
    assert len(found) == 31
    assert len({order.user_id for order in found}) == 16
    assert {order.method for order in found} == set(CollectionMethod.values)
    assert {get_order_stage(order.status) for order in found} == {None, *Stage}
    assert sum(map(IN_STATE[WorkState.RESULTS], [one.status for one in found])) == 10
    assert sum(map(IN_STATE[WorkState.CLOSED], [one.status for one in found])) == 4
    assert count_orders_needing_attention(tenant=everybody.tenant) == 4
    assert {"redraw_available", "problem_in_transit_lab", "cancelled"} <= set(lows)
    assert {"lab_processing_blocked", "sample_error", "corrected"} <= set(lows)
    [waits] = [order for order in found if order.activate_by]
    assert waits.activate_by == date(2026, 3, 16)
    assert split_order_status(waits.status).low == "ordered"
    told = Counter(order.interpretation for order in found)
    assert told == {"": 21, "normal": 5, "abnormal": 4, "critical": 1}
    assert sum(bool(order.has_missing_results) for order in found) == 1
    current = ResultVersion.objects.for_tenant(everybody.tenant).filter(is_current=True)
    assert Counter(current.values_list("status", "is_correction")) == {
        ("final", False): 7,
        ("partial", False): 2,
        ("final", True): 1,
    }
    alerts = CriticalAlert.objects.for_tenant(everybody.tenant)
    assert [alert.acknowledged_at for alert in alerts] == [None]
    # Loading costs seconds: what it loaded is looked at once.
    _expect_steps_in_the_past(everybody)


def _expect_steps_in_the_past(everybody):
    """The steps of an order lie one after another, a redraw's after its order."""
    taken = {}
    rows = OrderEvent.objects.for_tenant(everybody.tenant).order_by("pk")
    for order_id, at in rows.values_list("order_id", "created_at"):
        taken.setdefault(order_id, []).append(at)
    found = orders(everybody)
    for order in found:
        times = taken[order.pk]
        assert times == sorted(set(times))
        assert (order.created_at, order.updated_at) == (times[0], times[-1])
        assert times[-1] < NOON
    assert found[0].created_at < NOON - timedelta(days=47)
    assert found[-1].created_at > NOON - timedelta(days=1)
    by_id = {order.pk: order for order in found}
    after = {order.origin: order for order in found if order.parent_id}
    assert set(after) == {"redraw", "recreation"}
    for order in after.values():
        before = by_id[order.parent_id]
        assert order.transaction.created_at == before.created_at
        assert order.created_at == before.updated_at


def test_each_step_is_told_of_and_loading_again_changes_nothing(two, time_machine):
    load_demo_orders(two)

    told = emitted_types(two.tenant)
    walked = OrderEvent.objects.for_tenant(two.tenant)
    # Partial results are told of where a team asks for it.
    kept_quiet = walked.filter(status__endswith="partial_results").count()
    assert told.count("labtest.order.created") == len(orders(two)) == 5
    assert told.count("labtest.result.critical") == 1
    assert told.count("labtest.order_tracking.updated") == 3
    assert len(told) - 1 - 3 == walked.count() - kept_quiet == 17
    # Loading again changes nothing.
    before = holdings(two.tenant)
    time_machine.move_to(NOON + timedelta(days=40), tick=False)

    load_demo_orders(two)

    assert holdings(two.tenant) == before


def test_who_has_an_order_gets_none(two):
    [first, second] = two.people
    user = User.objects.for_tenant(two.tenant).get(uuid=first.user_uuid)
    own = make_order(tenant=two.tenant, user=user)

    load_demo_orders(two)

    by_user = [order.user.uuid for order in orders(two) if order != own]
    assert by_user == [second.user_uuid] * 2


def test_an_archived_panel_is_left_out_and_the_rest_ordered(two):
    panels = LabTest.objects.for_tenant(two.tenant)
    panel = panels.get(reference_slug="quest-cardiometabolic")
    archive_lab_test(tenant=two.tenant, actor=ACTOR, lab_test_id=panel.pk)

    load_demo_orders(two)

    assert [order.lab_test.reference_slug for order in orders(two)] == [
        "quest-essential-health",
        "ussl-thyroid-kit",
        "quest-lipid-panel",
        "quest-lipid-panel",
    ]
    assert OrderTransaction.objects.for_tenant(two.tenant).count() == 4


def test_erasing_the_people_takes_their_orders(two):
    load_demo_orders(two)

    for person in two.people:
        erase_user_orders(two.tenant.pk, person.user_uuid)

    assert orders(two) == []
    assert not OrderTransaction.objects.for_tenant(two.tenant).exists()
