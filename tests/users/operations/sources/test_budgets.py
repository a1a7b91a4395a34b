from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection as database

from users.gateways.base import CallLimit, SourceUnavailable
from users.models import SourceBudget
from users.operations.sources.budgets import (
    BudgetUse,
    CallBudget,
    delete_old_user_budgets,
)

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


def budget(calls=20, client_id="id"):
    return CallBudget("fitbit", client_id, (CallLimit(calls, 60),), timedelta(0))


def take_all(meter):
    """Return how many calls go out before one is held back, and for how long."""
    taken = 0
    while True:
        try:
            meter.take()
        except SourceUnavailable as away:
            return taken, away.retry_after
        taken += 1


@pytest.fixture
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_no_minute_holds_more_calls_than_the_limit(time_machine):
    meter = budget()
    out = []
    for second in range(180):
        now = NOON + timedelta(seconds=second)
        time_machine.move_to(now, tick=False)
        out += [now] * take_all(meter)[0]

    most = max(
        sum(start <= each < start + timedelta(seconds=60) for each in out)
        for start in out
    )
    assert out.count(NOON) == 5
    assert 17 <= most <= 20
    # The limit is used, not only kept.
    assert len(out) >= 45


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_who_is_held_back_is_told_until_when(time_machine):
    meter = budget()
    _taken, wait = take_all(meter)

    time_machine.move_to(NOON + wait, tick=False)
    meter.take()

    assert timedelta(0) < wait <= timedelta(seconds=5)
    with pytest.raises(SourceUnavailable) as away:
        meter.take()
    assert away.value.reason == "budget_spent"


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_a_call_that_is_due_soon_is_waited_for(monkeypatch, time_machine):
    waited = []

    def pause(seconds):
        waited.append(seconds)
        time_machine.shift(seconds)

    monkeypatch.setattr("users.operations.sources.budgets.pause", pause)
    meter = CallBudget("fitbit", "id", (CallLimit(120, 60),))
    for _ in range(60):
        meter.take()

    assert len(waited) == 35
    assert sum(waited) == pytest.approx(35 * 60 / 95, abs=0.1)


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_applications_have_budgets_of_their_own():
    take_all(budget())

    assert take_all(budget(client_id="other"))[0] == 5


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_a_block_holds_back_everything_and_is_never_shortened(time_machine):
    meter = budget()
    meter.take()
    meter.block(timedelta(minutes=10))
    meter.block(None)

    with pytest.raises(SourceUnavailable) as away:
        meter.take()

    assert away.value.retry_after == timedelta(minutes=10)
    assert meter.read_use() == BudgetUse(1, NOON + timedelta(minutes=10))
    time_machine.move_to(NOON + timedelta(minutes=10), tick=False)
    meter.take()
    assert meter.read_use() == BudgetUse(2, None)


@pytest.mark.django_db
@pytest.mark.usefixtures("_noon")
def test_calls_are_counted_by_day(time_machine):
    meter = CallBudget("fitbit", "id", ())
    meter.take()
    meter.take()
    today = meter.read_use()
    time_machine.move_to(NOON + timedelta(hours=12), tick=False)
    tomorrow = meter.read_use()
    meter.take()

    assert (today.used_today, tomorrow.used_today) == (2, 0)
    assert meter.read_use().used_today == 1


@pytest.mark.django_db(transaction=True)
def test_ten_workers_at_once_share_one_budget():
    # An hour for each spread call: none is due while the test runs.
    meter = CallBudget("fitbit", "id", (CallLimit(50, 3600 * 39),))

    def work(_number):
        try:
            return take_all(meter)[0]
        finally:
            database.close()

    with ThreadPoolExecutor(10) as pool:
        taken = sum(pool.map(work, range(10)))

    assert taken == 11
    assert SourceBudget.objects.get().used == 11


@pytest.mark.django_db
def test_each_user_has_a_budget_beside_that_of_the_application(time_machine):
    time_machine.move_to(NOON, tick=False)
    limits = (
        CallLimit(calls=1000, seconds=60),
        CallLimit(calls=20, seconds=900, is_per_user=True),
    )
    mine = CallBudget("polar", "app-1", limits)

    def spend(account):
        taken = 0
        try:
            for _ in range(50):
                mine.take(account)
                taken += 1
        except SourceUnavailable as away:
            return taken, away.retry_after
        return taken, None

    first, again, second = spend("ann"), spend("ann"), spend("ben")

    # Four at once and one a minute: room for four more is there in four minutes.
    assert first == second == (5, timedelta(minutes=4))
    assert again == (0, timedelta(minutes=4))
    # A call of nobody, such as for tokens, spends nobody's budget.
    assert spend("") == (50, None)
    assert {kept.account for kept in SourceBudget.objects.all()} & {"ann", "ben"} == (
        set()
    )
    time_machine.move_to(NOON + timedelta(minutes=4), tick=False)
    assert spend("ann")[0] == 4
    time_machine.move_to(NOON + timedelta(days=2), tick=False)
    assert delete_old_user_budgets() == 2
    assert SourceBudget.objects.count() == 1
