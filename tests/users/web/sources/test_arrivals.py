from __future__ import annotations

from datetime import UTC, datetime

import pytest

from users.wearables.providers import find_provider
from users.web.sources.arrivals import STRIP_HOURS, SourceDay


def day_of(*hours_ago):
    """A day with data that many hours ago; 0 is the present hour."""
    names = {STRIP_HOURS - 1 - ago for ago in hours_ago}
    return SourceDay(
        provider=find_provider("oura"),
        url="/users/?source=oura",
        this_hour=datetime(2026, 11, 21, 9, tzinfo=UTC),
        counts=tuple(3 if hour in names else 0 for hour in range(STRIP_HOURS)),
    )


@pytest.mark.parametrize(
    ("hours_ago", "silent", "pause", "dot", "heard"),
    [
        ((), None, None, "mute", "No data yet"),
        ((0,), 0, None, "ok", "This hour"),
        ((23,), 23, None, "ok", "23 h ago"),  # a scale, say: one reading a day
        ((20, 23), 20, None, "ok", "20 h ago"),
        ((0, 1, 2), 0, 1, "ok", "This hour"),
        ((2, 3, 4), 2, 1, "ok", "2 h ago"),
        ((3, 4, 5), 3, 1, "bad", "3 h ago"),
        ((8, 12, 16), 8, 4, "ok", "8 h ago"),
        ((9, 13, 17), 9, 4, "bad", "9 h ago"),
    ],
)
def test_a_source_is_overdue_after_twice_its_longest_pause(
    hours_ago, silent, pause, dot, heard
):
    day = day_of(*hours_ago)

    assert (day.silent_hours, day.longest_pause) == (silent, pause)
    assert (day.is_overdue, day.dot) == (dot == "bad", dot)
    assert day.last_seen == heard


def test_the_strip_says_whose_it_is_and_when_it_was_last_heard_of():
    strip = day_of(6, 7).strip

    assert (
        'aria-label="Oura, data in each of the last 24 hours. Last: 6 h ago"' in strip
    )
    assert strip.count('class="h4"') == 2
    assert strip.count('class="h0"') == 22
