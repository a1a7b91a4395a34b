from __future__ import annotations

import pytest

from portal.ui.pills import PILLS, find_status_pill

FAMILIES = {"ok", "warn", "bad", "info", "rev", "mute"}


@pytest.mark.parametrize(
    ("value", "family", "words"),
    [
        ("pending_review", "rev", "Pending review"),
        ("PENDING", "warn", "Pending"),
        (
            "collecting_sample.testkit.problem_in_transit_lab",
            "warn",
            "Problem in transit to lab",
        ),
        ("collecting_sample.walk_in_test.held_by_partner", "info", "Collecting sample"),
        ("on_hold.walk_in_test.on_ice", "unknown", "On hold.walk in test.on ice"),
        ("awaiting_partner", "unknown", "Awaiting partner"),
        ("", "unknown", ""),
    ],
)
def test_a_status_goes_by_its_last_part_then_its_stage(value, family, words):
    pill = find_status_pill(value)

    assert (pill.family, pill.words) == (family, words)


def test_every_pill_is_of_a_family():
    assert {pill.family for pill in PILLS.values()} == FAMILIES
