"""The guide of the standby works as it is written."""

from __future__ import annotations

import pytest

from tests.attacks.standby_drill import read_commands, run_drill


def test_every_section_of_the_guide_with_commands_is_drilled():
    with_commands = {name: len(blocks) for name, blocks in read_commands().items()}

    assert {name: number for name, number in with_commands.items() if number} == {
        "Set up": 1,
        "Follow": 1,
        "Confirm on both": 2,
        "When the primary is lost": 1,
        "When the standby is lost": 2,
        "Drill": 2,  # which is this
    }


@pytest.mark.long
def test_what_was_confirmed_outlives_two_lost_primaries_and_a_lost_standby():
    said: list[str] = []

    assert run_drill(0.5, said.append) == set()
    assert len(said) == 7
