from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine

from labs.models import Order, OrderEvent
from labs.states.orders import (
    ORDER_STATUSES,
    build_order_status,
    find_order_status_path,
)
from labs.web.order_lifecycle import (
    build_order_stages,
    build_order_status_history,
    describe_next_order_step,
    is_known_order_status,
)

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
UNKNOWN = "new to Assay"


def walked(method, *lows, **fields):
    """An order and its steps, an hour apart, none of them stored."""
    statuses = [low if "." in low else build_order_status(method, low) for low in lows]
    order = Order(method=method, status=statuses[-1], **fields)
    events = [
        OrderEvent(
            id=number,
            status=status,
            created_at=START + timedelta(hours=number),
            actor_kind="member",
            actor_label="alice@assay.example",
        )
        for number, status in enumerate(statuses)
    ]
    return order, events


@pytest.mark.parametrize("status", ORDER_STATUSES)
def test_every_status_has_its_stage_and_says_what_is_next(status):
    method = status.split(".")[1]
    start = build_order_status(method, "ordered")
    lows = [
        start,
        *(find_order_status_path(start, to=status, registrable=False) or [status]),
    ]
    order, events = walked(method, *dict.fromkeys(lows))

    states = [stage.state for stage in build_order_stages(order, events)]

    assert states[0] == "done"
    assert states == sorted(states, key=["done", "now", ""].index)
    assert states.count("now") == (status.split(".")[0] != "completed")
    assert UNKNOWN not in describe_next_order_step(order)
    assert is_known_order_status(status)


def test_a_stage_is_over_when_the_next_one_began():
    order, events = walked(
        "walk_in_test", "ordered", "requisition_created", "partial_results"
    )

    stages = build_order_stages(order, events)

    assert [stage.at for stage in stages[:4]] == [
        events[0].created_at,
        events[1].created_at,
        events[2].created_at,
        events[2].created_at,
    ]
    assert (stages[4].state, stages[4].note) == ("now", "Partial results")


def test_a_kit_is_sent_when_it_is_on_its_way():
    order, events = walked("testkit", "ordered", "requisition_created")

    assert [s.label for s in build_order_stages(order, events)][1] == "Kit sent"
    assert [s.state for s in build_order_stages(order, events)][:2] == ["done", "now"]
    assert describe_next_order_step(order) == "Next: the kit is sent."


def test_a_kit_that_comes_back_from_registration_is_not_sent_again():
    order, events = walked(
        "testkit",
        "ordered",
        "awaiting_registration",
        "transit_customer",
        "with_customer",
        "registered",
        "requisition_created",
        is_registrable=True,
        registered_at=START,
    )

    assert [s.state for s in build_order_stages(order, events)][:3] == [
        "done",
        "done",
        "now",
    ]
    assert (
        describe_next_order_step(order)
        == "Next: the patient sends the sample to the lab."
    )


@pytest.mark.parametrize(
    ("lows", "problem"),
    [
        (("ordered", "requisition_created"), False),
        (("ordered", "cancelled"), True),
        (("ordered", "requisition_created", "sample_error"), True),
        (("ordered", "requisition_created", "redraw_available"), True),
    ],
)
def test_a_problem_marks_the_stage_it_is_in(lows, problem):
    order, events = walked("walk_in_test", *lows)

    (now,) = [
        stage for stage in build_order_stages(order, events) if stage.state == "now"
    ]

    assert now.has_problem is problem


def test_a_status_we_do_not_know_is_placed_by_what_is_known_of_it():
    order, events = walked("walk_in_test", "ordered", "sample_with_lab.x.pooled")

    states = [stage.state for stage in build_order_stages(order, events)]

    assert states == ["done", "done", "done", "now", ""]
    assert UNKNOWN in describe_next_order_step(order)
    assert not is_known_order_status(order.status)


@time_machine.travel("2026-03-02T12:00:00Z", tick=False)
@pytest.mark.parametrize(
    ("day", "says"),
    [
        (date(2026, 3, 9), "the requisition is created on 9 Mar 2026"),
        (date(2026, 3, 2), "Next: the order is sent to the lab"),
    ],
)
def test_a_scheduled_order_says_its_day(day, says):
    order, _ = walked("walk_in_test", "ordered", activate_by=day)

    assert says in describe_next_order_step(order)


def test_history_is_newest_first_and_says_by_whom_and_why():
    _, events = walked("walk_in_test", "ordered", "cancelled")
    events[0].actor_kind, events[0].actor_label = "api_key", "server"
    events[1].why = "Moved away"
    events[1].status_detail = "rejected_on_request"

    rows = build_order_status_history(events)

    assert [(row.label, row.detail, row.actor_label) for row in rows] == [
        ("Cancelled", "Rejected on request. Moved away", "alice@assay.example"),
        ("Ordered", "", "server"),
    ]
    assert [row.kind for row in rows] == ["now", ""]
