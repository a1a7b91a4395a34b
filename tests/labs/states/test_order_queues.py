from __future__ import annotations

import pytest

from labs.states.order_queues import (
    ENDED_BADLY,
    HELD_UP,
    IN_STATE,
    Stage,
    WorkState,
    get_order_stage,
    has_order_results,
    is_order_closed_without_results,
    is_order_in_progress,
)
from labs.states.orders import ORDER_STATUSES
from portal.ui.pills import find_status_pill

IN_PROGRESS, RESULTS, CLOSED = (
    WorkState.IN_PROGRESS,
    WorkState.RESULTS,
    WorkState.CLOSED,
)


@pytest.mark.parametrize(
    ("status", "states", "stage"),
    [
        ("received.walk_in_test.ordered", {IN_PROGRESS}, Stage.ORDERED),
        ("received.testkit.awaiting_registration", {IN_PROGRESS}, Stage.ORDERED),
        ("received.testkit.registered", {IN_PROGRESS}, Stage.READY),
        ("received.walk_in_test.requisition_bypassed", {IN_PROGRESS}, Stage.READY),
        ("collecting_sample.testkit.transit_lab", {IN_PROGRESS}, Stage.COLLECTING),
        ("sample_with_lab.testkit.delivered_to_lab", {IN_PROGRESS}, Stage.WITH_LAB),
        (
            "sample_with_lab.walk_in_test.partial_results",
            {IN_PROGRESS, RESULTS},
            Stage.PARTIAL,
        ),
        ("completed.walk_in_test.corrected", {RESULTS}, None),
        ("collecting_sample.walk_in_test.redraw_available", {CLOSED}, None),
        ("failed.testkit.lost", {CLOSED}, None),
        ("cancelled.testkit.do_not_process", {CLOSED}, None),
        ("received.walk_in_test.beamed_up", {IN_PROGRESS}, Stage.READY),
        ("orbiting", {IN_PROGRESS}, None),
    ],
)
def test_a_status_says_which_tabs_and_stage_an_order_is_in(status, states, stage):
    assert {state for state, fits in IN_STATE.items() if fits(status)} == states
    assert get_order_stage(status) is stage


def test_every_status_is_in_progress_or_has_results_or_is_closed():
    for status in ORDER_STATUSES:
        assert (
            is_order_in_progress(status)
            or has_order_results(status)
            or is_order_closed_without_results(status)
        )


def test_what_needs_attention_looks_like_it():
    """Design guide: what is in the warn or bad families; besides what a lab refuses."""
    looks = {s for s in ORDER_STATUSES if find_status_pill(s).family in {"warn", "bad"}}

    refused = {"cancelled.testkit.do_not_process"}
    assert {*HELD_UP, *ENDED_BADLY} == looks | refused
