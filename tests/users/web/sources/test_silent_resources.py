from __future__ import annotations

from datetime import timedelta

import pytest

from users.web.sources.silent_resources import describe_interval


@pytest.mark.parametrize(
    ("hours", "said"),
    [
        (1, "every hour"),
        (6, "every 6 hours"),
        (24, "every day"),
        (35, "every 35 hours"),
        (48, "every 2 days"),
        (170, "every 7 days"),
    ],
)
def test_a_pace_is_said_as_people_do(hours, said):
    assert describe_interval(timedelta(hours=hours)) == said
