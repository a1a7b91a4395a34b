from __future__ import annotations

import pytest

from labs.operations.appointments.booking import request_home_appointment
from labs.operations.appointments.changes import cancel_appointment
from labs.operations.simulation.orders import simulate_order_progress
from labs.queries.appointments.appointments import (
    find_active_appointment,
    list_appointments_of_order,
)
from labs.queries.orders.history import find_last_order_event_id
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod
from labs.states.orders import build_order_status, split_order_status
from tests.factories.accounts import ACTOR
from tests.factories.appointments import HOME, make_appointment, make_bookable_order
from tests.jobs import make_all_due
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db
_AT_HOME = CollectionMethod.AT_HOME_PHLEBOTOMY


@pytest.fixture
def asked(alice_tenant):
    """An order with a visit to a home that has no time yet."""
    order = make_bookable_order(tenant=alice_tenant, method=_AT_HOME)
    request_home_appointment(
        order=order,
        actor=ACTOR,
        provider="phlebfinders",
        address={**HOME, "zip_code": "54650"},
    )
    return order


def walk(order, low):
    order = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    goal = build_order_status(order.method, low)
    simulate_order_progress(order=order, actor=ACTOR, final_status=goal)
    return get_order_with_details(tenant=order.tenant, order_id=order.pk).status == goal


def visits(order):
    return [one.status for one in list_appointments_of_order(order=order)]


def test_the_sandbox_sets_a_time_for_a_requested_visit_and_comes(asked):
    scheduled = walk(asked, "appointment_scheduled")
    visit = find_active_appointment(order=asked)
    drawn = walk(asked, "draw_completed")

    assert (scheduled, drawn) == (True, True)
    assert visit.start_at is not None
    assert visits(asked) == ["completed"]


def test_a_waiting_visit_is_confirmed_by_a_walk_to_scheduled(
    alice_tenant, time_machine
):
    time_machine.move_to("2026-03-02T16:00:00+00:00", tick=False)
    order = make_bookable_order(tenant=alice_tenant)
    make_appointment(order=order, notes="sandbox:slow", waits_on=True)

    assert walk(order, "appointment_scheduled")
    assert visits(order) == ["confirmed"]


def test_a_walk_to_a_called_off_visit_or_order_calls_the_visit_off(asked):
    assert walk(asked, "appointment_cancelled")
    assert visits(asked) == ["cancelled"]


def test_a_walk_to_cancelled_takes_a_home_visit_along(asked):
    assert walk(asked, "cancelled")
    assert visits(asked) == ["cancelled"]


@pytest.mark.django_db(transaction=True)
def test_nothing_goes_past_a_cancelled_visit_before_a_new_one(
    asked, alice_tenant, alice_api, alice_web, run_jobs, time_machine
):
    """Neither the API, nor the page, nor a job that was queued before."""
    walk(asked, "appointment_scheduled")
    alice_api.post(f"/v3/order/{asked.pk}/test?delay=60")
    at_once = get_order_with_details(tenant=alice_tenant, order_id=asked.pk)
    cancel_appointment(order=at_once, actor=ACTOR, reason_id="other")
    run_jobs()
    before = holdings(alice_tenant)
    page = f"/t/alice-health/sandbox/orders/{asked.pk}/"

    replies = [
        alice_api.post(f"/v3/order/{asked.pk}/test{query}")
        for query in (
            "",
            "?delay=60",
            *(
                f"?final_status={build_order_status(asked.method, low)}"
                for low in ("appointment_scheduled", "draw_completed", "corrected")
            ),
        )
    ]
    shown = alice_web.get(page)
    offered = alice_web.get(f"{page}advance/").context["form"]["final_status"]
    seen = find_last_order_event_id(asked)
    drawn = build_order_status(asked.method, "draw_completed")
    pressed = alice_web.post(
        f"{page}advance/", {"final_status": drawn, "seen": seen}, follow=True
    )
    make_all_due()
    run_jobs()

    assert {(reply.status_code, reply.json()["code"]) for reply in replies} == {
        (400, "final_status_unreachable")
    }
    assert (shown.context["actions"].next_goal, shown.context["actions"].simulate) == (
        "",
        True,
    )
    assert [
        split_order_status(status).low
        for _group, options in offered.field.choices
        for status, _words in options
    ] == ["cancelled"]
    assert list(pressed.context["form"].errors) == ["final_status"]
    assert holdings(alice_tenant) == before
    assert visits(asked) == ["cancelled"]

    request_home_appointment(
        order=get_order_with_details(tenant=alice_tenant, order_id=asked.pk),
        actor=ACTOR,
        provider="phlebfinders",
        address={**HOME, "zip_code": "54650"},
    )

    assert walk(asked, "completed")
    assert visits(asked) == ["completed", "cancelled"]


def test_a_status_alone_says_that_a_visit_was_cancelled(alice_tenant, alice_api):
    """Orders that never had a visit are drawn, but not past a cancelled one."""
    never, off = (
        make_bookable_order(tenant=alice_tenant, method=_AT_HOME) for _ in range(2)
    )
    assert walk(never, "completed")
    assert walk(off, "appointment_cancelled")
    before = holdings(alice_tenant)

    reply = alice_api.post(f"/v3/order/{off.pk}/test")

    assert (reply.status_code, reply.json()["code"]) == (
        400,
        "final_status_unreachable",
    )
    assert (holdings(alice_tenant), visits(off)) == (before, [])

    order = get_order_with_details(tenant=alice_tenant, order_id=off.pk)
    request_home_appointment(
        order=order,
        actor=ACTOR,
        provider="phlebfinders",
        address={**HOME, "zip_code": "54650"},
    )

    assert walk(off, "completed")
    assert visits(off) == ["completed"]
