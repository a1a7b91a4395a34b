from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache

from accounts.operations.sign_in import attempts
from accounts.operations.sign_in.attempts import (
    LONGEST_WAIT,
    MEMORY,
    NEWCOMERS,
    build_sign_in_subject_of_email,
    clear_sign_in_attempts,
    count_sign_in_attempt,
    uncount_correct_sign_in_attempt,
)

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
OWNER = build_sign_in_subject_of_email("alice@assay.example")


@pytest.fixture(autouse=True)
def clock():
    cache.clear()
    with time_machine.travel(NOON, tick=False) as travelled:
        yield travelled


def attempt(number=0, *, subject=OWNER, device=""):
    return count_sign_in_attempt(
        subject=subject, device=device, address=f"192.0.2.{number}"
    )


def test_waits_double_up_to_a_bound_and_are_for_the_next_try_alone(clock):
    waits = []
    for _ in range(13):
        taken = attempt()
        assert taken.is_allowed
        waits.append((taken.wait, taken.left))
        clock.shift(timedelta(seconds=taken.wait))

    assert waits == [
        *((0, 4), (0, 3), (0, 2), (0, 1)),
        *((seconds, 0) for seconds in (10, 20, 40, 80, 160, 300, 300, 300, 300)),
    ]


def test_a_refused_try_makes_no_wait_longer(clock):
    for _ in range(5):
        attempt()
    refused = [attempt() for _ in range(50)]
    clock.shift(timedelta(seconds=10))

    assert {(each.is_allowed, each.wait) for each in refused} == {(False, 10)}
    assert attempt().is_allowed


def test_a_waiting_lane_lets_so_many_newcomers_through_once_each():
    for _ in range(5):
        attempt()
    first = [attempt(number) for number in range(1, NEWCOMERS + 10)]
    again = [attempt(number) for number in range(1, NEWCOMERS + 10)]

    assert [each.is_allowed for each in first] == [True] * NEWCOMERS + [False] * 9
    assert not any(each.is_allowed for each in again)


def test_a_newcomer_stays_one_however_often_it_tries_later(clock):
    for _ in range(5):
        attempt()
    for number in range(1, NEWCOMERS + 1):
        attempt(number)
    # Each of them takes a turn of the lane, which gives no other newcomer its place.
    for number in range(1, 4):
        clock.shift(LONGEST_WAIT)
        assert attempt(number).is_allowed

    assert not attempt(200).is_allowed


def test_a_known_device_has_a_lane_of_its_own():
    for number in range(100):
        attempt(number)
    own = [attempt(device="laptop") for _ in range(7)]

    assert [each.is_allowed for each in own] == [True] * 5 + [False] * 2
    assert attempt(device="phone").is_allowed


def test_a_right_try_is_not_counted(clock):
    for _ in range(5):
        attempt()
    clock.shift(timedelta(seconds=10))
    for _ in range(3):
        right = attempt()
        assert right.is_allowed
        uncount_correct_sign_in_attempt(right)
    newcomer = attempt(7)

    assert (newcomer.is_allowed, newcomer.wait) == (True, 20)


def test_a_right_try_of_a_newcomer_leaves_its_place():
    for _ in range(5):
        attempt()
    for _ in range(NEWCOMERS + 1):
        right = attempt(1)
        assert right.is_allowed
        uncount_correct_sign_in_attempt(right)


def test_an_account_is_forgotten_after_an_hour_or_when_its_member_is_known(clock):
    for number in range(40):
        attempt(number)
    refused = attempt(99)
    clear_sign_in_attempts(subject=OWNER)
    known = attempt()
    for number in range(40):
        attempt(number)
    clock.shift(MEMORY + timedelta(seconds=1))

    assert (refused.is_allowed, known.left) == (False, 4)
    assert attempt().left == 4


def test_accounts_are_counted_by_themselves():
    for number in range(40):
        attempt(number)

    assert (
        attempt(subject=build_sign_in_subject_of_email("bob@assay.example")).left == 4
    )


@pytest.mark.parametrize(
    "spelled", ["ALICE@assay.example", " alice@assay.example ", "alıce@aſſay.example"]
)
def test_another_spelling_of_an_address_is_no_other_account(spelled):
    assert build_sign_in_subject_of_email(spelled) == OWNER


def test_many_other_counts_push_none_out():
    for _ in range(5):
        attempt()
    for number in range(400):
        cache.set(f"aa-other-{number}", 1, 3600)

    assert not attempt().is_allowed


def test_a_lane_that_is_held_too_long_refuses(monkeypatch):
    @contextmanager
    def busy(_key):
        yield False

    monkeypatch.setattr(attempts, "cache_lock", busy)

    assert (attempt().is_allowed, attempt().wait) == (False, 1)
