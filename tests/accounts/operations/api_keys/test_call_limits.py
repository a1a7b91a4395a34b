from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
import time_machine
from django.db import connection

from accounts.models import CallWindow
from accounts.operations.api_keys import call_limits
from accounts.operations.api_keys.call_limits import (
    Window,
    clear_rate_limit_cache,
    count_call_against_rate_limit,
    delete_old_rate_limit_windows,
)
from tests.statements import count_statements

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
END = NOON + timedelta(minutes=1)

pytestmark = pytest.mark.django_db


def test_a_window_begins_with_its_first_call_and_then_anew():
    with time_machine.travel(NOON, tick=False) as clock:
        first = count_call_against_rate_limit(subject="key:1", limit=2)
        clock.shift(timedelta(seconds=59.5))
        second = count_call_against_rate_limit(subject="key:1", limit=2)
        third = count_call_against_rate_limit(subject="key:1", limit=2)
        other = count_call_against_rate_limit(subject="key:2", limit=2)
        clock.move_to(END)
        anew = count_call_against_rate_limit(subject="key:1", limit=2)

    late = END - timedelta(seconds=0.5)
    assert first == Window(2, 1, END, NOON)
    assert (first.left, first.seconds, first.is_over) == (1, 60, False)
    assert second == Window(2, 2, END, late)
    assert (second.left, second.seconds, second.is_over) == (0, 1, False)
    assert (third.left, third.seconds, third.is_over) == (0, 1, True)
    assert (other.left, other.seconds) == (1, 60)
    assert (anew.left, anew.seconds, anew.is_over) == (1, 60, False)


def test_a_refusal_costs_no_statement_until_the_limit_changes():
    with time_machine.travel(NOON, tick=False):
        for _ in range(2):
            count_call_against_rate_limit(subject="key:1", limit=1)
        with count_statements() as refused:
            over = count_call_against_rate_limit(subject="key:1", limit=1).is_over
        wider = count_call_against_rate_limit(subject="key:1", limit=9)

    assert (refused, over) == ([], True)
    assert (wider.calls, wider.is_over) == (3, False)


def test_windows_of_long_ago_are_forgotten():
    with time_machine.travel(NOON, tick=False) as clock:
        count_call_against_rate_limit(subject="address:192.0.2.7", limit=9)
        clock.shift(timedelta(minutes=30))
        count_call_against_rate_limit(subject="address:192.0.2.8", limit=9)
        clock.shift(timedelta(minutes=31))

        forgotten = delete_old_rate_limit_windows()

    assert forgotten == 1
    assert CallWindow.objects.get().subject == "address:192.0.2.8"


def test_what_a_process_remembers_is_bounded(monkeypatch):
    monkeypatch.setattr(call_limits, "REMEMBERED_AT_MOST", 2)

    for number in range(3):
        for _ in range(2):
            count_call_against_rate_limit(subject=f"key:{number}", limit=1)

    assert list(call_limits._spent) == [("key:2", 1)]


@pytest.mark.django_db(transaction=True)
def test_of_calls_at_once_no_more_than_the_limit_are_served():
    together = Barrier(2)

    def call(_: int) -> list[bool]:
        together.wait()
        try:
            served = []
            for _ in range(40):
                clear_rate_limit_cache()  # as another process, which remembers nothing
                served.append(
                    not count_call_against_rate_limit(subject="key:1", limit=50).is_over
                )
            return served
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        served = [each for found in pool.map(call, range(2)) for each in found]

    assert (len(served), served.count(True)) == (80, 50)
