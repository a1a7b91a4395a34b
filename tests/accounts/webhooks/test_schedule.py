from __future__ import annotations

import pytest

from accounts.webhooks.schedule import (
    ATTEMPTS_MAX,
    compute_longest_retry_wait,
    compute_retry_wait,
)


def test_eight_attempts_wait_longer_and_longer():
    waits = [compute_retry_wait(step, chance=0.0) for step in range(1, 9)]

    assert waits == [5, 300, 1800, 7200, 18000, 36000, 36000, None]


def test_jitter_only_ever_waits_longer_and_a_tenth_at_most():
    assert compute_retry_wait(2, chance=0.5) == pytest.approx(315)
    assert compute_retry_wait(2, chance=1.0) == pytest.approx(330)


@pytest.mark.parametrize(
    ("step", "asked", "wait"),
    [(1, 2, 5), (1, 60, 60), (1, 9999, 300), (7, 10**8, 36000), (6, 36001, 36000)],
)
def test_the_receivers_wish_counts_up_to_the_next_step(step, asked, wait):
    assert compute_retry_wait(step, retry_after_s=asked, chance=0.0) == wait


def test_nothing_waits_longer_than_the_longest_wait_of_its_step():
    longest = [compute_longest_retry_wait(step) for step in range(ATTEMPTS_MAX)]

    assert longest == pytest.approx([0, 300, 1800, 7200, 18000, 36000, 39600, 39600])
    for step in range(1, ATTEMPTS_MAX):
        for asked in (None, 10**8):
            wait = compute_retry_wait(step, retry_after_s=asked, chance=1.0)
            assert wait is not None
            assert wait <= longest[step]
