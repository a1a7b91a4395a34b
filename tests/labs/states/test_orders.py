from __future__ import annotations

from itertools import pairwise

import pytest

from labs.states.catalogue import CollectionMethod
from labs.states.orders import (
    CANCELLABLE,
    DEFAULT_WALKS,
    LOW_LEVEL_STATUSES,
    ORDER_MOVES,
    ORDER_STATUSES,
    REGISTRABLE_KIT_MOVES,
    REGISTRABLE_WALK,
    build_order_status,
    find_order_status_path,
    get_allowed_order_transitions,
    has_status_passed_requisition,
    split_order_status,
)

TABLES = [*ORDER_MOVES.values(), REGISTRABLE_KIT_MOVES]


def test_there_are_as_many_statuses_as_the_contract_counts():
    assert (len(ORDER_STATUSES), len(LOW_LEVEL_STATUSES)) == (54, 27)


def test_the_two_statuses_the_specification_names_are_there():
    assert {
        "collecting_sample.testkit.problem_in_transit_customer",
        "collecting_sample.testkit.problem_in_transit_lab",
    } <= set(ORDER_STATUSES)


def test_a_draw_lies_with_the_lab_on_site_and_before_it_at_home():
    assert build_order_status("on_site_collection", "draw_completed").startswith(
        "sample_with_lab."
    )
    assert build_order_status("at_home_phlebotomy", "draw_completed").startswith(
        "collecting_sample."
    )


@pytest.mark.parametrize("method", CollectionMethod)
def test_every_status_of_a_method_has_its_row(method):
    own = {status for status in ORDER_STATUSES if f".{method}." in status}

    assert {status for status, _ in ORDER_MOVES[method]} == own


@pytest.mark.parametrize("table", TABLES)
def test_no_move_leaves_the_method(table):
    for status, following in table:
        assert {split_order_status(after).method for after in following} <= {
            split_order_status(status).method
        }


ENDS = {
    "cancelled",
    "do_not_process",
    "failure_to_deliver_to_customer",
    "failure_to_deliver_to_lab",
    "lost",
    "sample_error",
    "redraw_available",
}


@pytest.mark.parametrize("table", TABLES)
def test_what_the_contract_calls_terminal_goes_nowhere(table):
    for status, following in table:
        low = split_order_status(status).low
        if low in ENDS:
            assert following == frozenset(), status
        if low in {"completed", "corrected"}:
            assert {split_order_status(after).low for after in following} == {
                "corrected"
            }


def test_what_can_be_cancelled_has_the_move_and_nothing_else_has():
    for method, table in ORDER_MOVES.items():
        can = {
            status
            for status, following in table
            if build_order_status(method, "cancelled") in following
        }
        own = {status for status in CANCELLABLE if f".{method}." in status}
        if method == CollectionMethod.TESTKIT:
            can |= {
                status
                for status, following in REGISTRABLE_KIT_MOVES
                if build_order_status(method, "cancelled") in following
            }
        assert can == own


@pytest.mark.parametrize("method", CollectionMethod)
def test_the_usual_walk_is_legal(method):
    walk = [build_order_status(method, low) for low in DEFAULT_WALKS[method].split()]

    assert all(ORDER_MOVES[method].allows(old, new) for old, new in pairwise(walk))
    assert find_order_status_path(walk[0], to=walk[-1], registrable=False) == walk[1:]
    assert find_order_status_path(walk[2], to=walk[-1], registrable=False) == walk[3:]


def test_the_walk_of_a_kit_to_register_is_legal():
    walk = [build_order_status("testkit", low) for low in REGISTRABLE_WALK.split()]

    assert all(REGISTRABLE_KIT_MOVES.allows(old, new) for old, new in pairwise(walk))
    assert find_order_status_path(walk[0], to=walk[-1], registrable=True) == walk[1:]


@pytest.mark.parametrize("registrable", [False, True])
@pytest.mark.parametrize("method", CollectionMethod)
def test_every_walk_found_is_legal_and_ends_where_it_was_to_end(method, registrable):
    table = get_allowed_order_transitions(method, registrable=registrable)
    for start, _ in table:
        for goal, _ in table:
            walk = find_order_status_path(start, to=goal, registrable=registrable)
            if walk is None:
                continue
            steps = [start, *walk]
            assert steps[-1] == goal
            assert all(table.allows(old, new) for old, new in pairwise(steps))


def test_a_problem_on_the_way_is_reached_by_its_own_edge():
    start = build_order_status("testkit", "with_customer")

    assert find_order_status_path(
        start,
        to=build_order_status("testkit", "problem_in_transit_lab"),
        registrable=False,
    ) == [
        build_order_status("testkit", "transit_lab"),
        build_order_status("testkit", "problem_in_transit_lab"),
    ]


def test_simulation_never_takes_an_edge_of_early_results():
    start = build_order_status("at_home_phlebotomy", "appointment_cancelled")

    walk = find_order_status_path(
        start,
        to=build_order_status("at_home_phlebotomy", "corrected"),
        registrable=False,
    )

    assert [split_order_status(status).low for status in walk] == [
        *("appointment_scheduled", "draw_completed", "completed", "corrected")
    ]


@pytest.mark.parametrize(
    ("status", "parts"),
    [
        ("received.walk_in_test.ordered", ("received", "walk_in_test", "ordered")),
        ("in_orbit.testkit.weightless", ("in_orbit", "testkit", "weightless")),
        ("in_orbit", ("in_orbit", "", "in_orbit")),
        ("", ("", "", "")),
    ],
)
def test_unknown_statuses_come_apart_as_well(status, parts):
    assert split_order_status(status) == parts


def test_an_order_of_an_unknown_method_may_not_move():
    assert list(get_allowed_order_transitions("by_rocket", registrable=False)) == []


def test_a_requisition_is_there_from_its_making_on():
    assert not has_status_passed_requisition("received.testkit.awaiting_registration")
    assert has_status_passed_requisition("received.testkit.requisition_created")
    assert has_status_passed_requisition("completed.walk_in_test.completed")
