from __future__ import annotations

from datetime import date

import pytest

from labs.states.turnaround import (
    AT_LAB,
    Lateness,
    get_current_order_lateness,
    get_result_lateness,
)

USUAL, WORST = date(2026, 3, 4), date(2026, 3, 7)


@pytest.mark.parametrize(
    ("on", "state"),
    [
        (date(2026, 3, 4), Lateness.IN_TIME),
        (date(2026, 3, 5), Lateness.LATE),
        (date(2026, 3, 7), Lateness.LATE),
        (date(2026, 3, 8), Lateness.OVERDUE),
    ],
)
def test_the_day_itself_is_in_time_and_the_worst_case_bounds_late(on, state):
    assert get_result_lateness(due_by=USUAL, worst_case_by=WORST, on=on) == state


def test_without_an_expected_day_nothing_is_late():
    assert (
        get_result_lateness(due_by=None, worst_case_by=None, on=date(2030, 1, 1))
        is None
    )


@pytest.mark.parametrize(
    "status",
    ["completed.testkit.completed", "failed.testkit.lost", "cancelled.testkit.x"],
)
def test_an_order_that_waits_for_nothing_is_not_late(status):
    found = get_current_order_lateness(
        status=status, due_by=USUAL, worst_case_by=WORST, today=date(2026, 3, 9)
    )

    assert found is None


def test_the_statuses_at_the_lab_are_those_of_every_method():
    assert set(AT_LAB) == {
        "sample_with_lab.walk_in_test.partial_results",
        "collecting_sample.at_home_phlebotomy.draw_completed",
        "sample_with_lab.at_home_phlebotomy.partial_results",
        "sample_with_lab.testkit.delivered_to_lab",
        "sample_with_lab.testkit.lab_processing_blocked",
        "sample_with_lab.on_site_collection.draw_completed",
        "sample_with_lab.on_site_collection.partial_results",
    }
