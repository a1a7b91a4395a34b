from __future__ import annotations

import pytest

from portal.lib.database.transitions import Transitions

MOVES = Transitions(
    {"new": {"open"}, "open": {"done", "lost"}, "done": set(), "lost": set()}
)


@pytest.mark.parametrize("old", ["new", "open", "done", "lost", "never heard of"])
@pytest.mark.parametrize("new", ["new", "open", "done", "lost", "never heard of"])
def test_only_a_move_in_the_table_is_allowed(old, new):
    assert MOVES.allows(old, new) is (
        (old, new) in {("new", "open"), ("open", "done"), ("open", "lost")}
    )


def test_a_status_with_nothing_after_it_is_terminal_and_an_unknown_one_is_not():
    assert [
        s for s in ("new", "open", "done", "lost", "?") if MOVES.is_terminal(s)
    ] == [
        "done",
        "lost",
    ]


def test_a_table_that_leads_to_a_status_without_a_row_is_refused():
    with pytest.raises(ValueError, match="gone"):
        Transitions({"new": {"gone"}})
