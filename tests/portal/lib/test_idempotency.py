from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection, transaction

from portal.lib.errors import Conflict, Invalid
from portal.lib.idempotency import (
    CLAIM_TTL,
    KEY_MAX_LENGTH,
    RETENTION,
    IdempotentAnswer,
    claim_idempotency_key,
    delete_expired_answers,
)
from tests.factories.accounts import make_tenant

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def clock():
    with time_machine.travel(NOW, tick=False) as moved:
        yield moved


def turn(tenant, key="k", *, body=b"{}", endpoint="order", **options):
    return claim_idempotency_key(
        tenant=tenant, endpoint=endpoint, key=key, request_body=body, **options
    )


def answer(tenant, key="k", *, status=200, body=b"first", **options):
    """Do the work of a first call."""
    with turn(tenant, key, **options) as mine:
        assert mine.repeat is None
        mine.keep(status=status, body=body)


def repeated(tenant, key="k", **options):
    with turn(tenant, key, **options) as mine:
        return mine.repeat


def kept(tenant):
    return IdempotentAnswer.objects.for_tenant(tenant).count()


@pytest.mark.django_db
def test_a_repeat_gets_the_first_answer(alice_tenant):
    answer(alice_tenant, status=200, body=b"first")

    assert repeated(alice_tenant) == (200, b"first")
    assert repeated(alice_tenant) == (200, b"first")
    assert kept(alice_tenant) == 1


@pytest.mark.parametrize("other", ["tenant", "endpoint", "key"])
@pytest.mark.django_db
def test_an_answer_is_for_its_tenant_endpoint_and_key(other, alice_tenant):
    answer(alice_tenant)
    differing = {
        "tenant": (make_tenant(), "k", "order"),
        "endpoint": (alice_tenant, "k", "testkit"),
        "key": (alice_tenant, "K", "order"),
    }
    tenant, key, endpoint = differing[other]

    assert repeated(tenant, key, endpoint=endpoint) is None


@pytest.mark.parametrize("status", [400, 404, 500])
@pytest.mark.django_db
def test_a_failure_is_an_answer_too_unless_the_caller_says_no(status, alice_tenant):
    answer(alice_tenant, "kept", status=status)
    answer(alice_tenant, "dropped", status=status, keep_failures=False)

    assert repeated(alice_tenant, "kept") == (status, b"first")
    assert repeated(alice_tenant, "dropped") is None


@pytest.mark.parametrize("status", [409, 422])
@pytest.mark.django_db
def test_a_conflict_and_a_malformed_request_are_never_kept(status, alice_tenant):
    answer(alice_tenant, status=status)

    assert repeated(alice_tenant) is None


@pytest.mark.django_db
def test_another_body_is_refused_and_the_answer_stays(alice_tenant):
    answer(alice_tenant)

    with pytest.raises(Invalid) as refusal, turn(alice_tenant, body=b"[]"):
        pass

    assert refusal.value.code == "idempotency_key_mismatch"
    assert refusal.value.field == "x-idempotency-key"
    assert repeated(alice_tenant) == (200, b"first")


@pytest.mark.django_db
def test_a_key_has_a_length(alice_tenant):
    answer(alice_tenant, "k" * KEY_MAX_LENGTH)

    with (
        pytest.raises(Invalid) as refusal,
        turn(alice_tenant, "k" * (KEY_MAX_LENGTH + 1)),
    ):
        pass

    assert refusal.value.code == "idempotency_key_too_long"
    assert kept(alice_tenant) == 1


@pytest.mark.django_db
def test_a_key_that_is_being_executed_is_refused(alice_tenant):
    with turn(alice_tenant) as first:
        with pytest.raises(Conflict) as refusal, turn(alice_tenant):
            pass
        first.keep(status=200, body=b"first")

    assert refusal.value.code == "idempotency_key_in_use"
    assert repeated(alice_tenant) == (200, b"first")


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.django_db
def test_a_turn_without_an_answer_frees_the_key(fails, alice_tenant):
    if fails:
        with pytest.raises(LookupError), turn(alice_tenant):
            raise LookupError
    else:
        with turn(alice_tenant):
            pass

    assert kept(alice_tenant) == 0
    assert repeated(alice_tenant) is None


@pytest.mark.django_db(transaction=True)
def test_an_answer_is_kept_with_the_work_or_not_at_all(alice_tenant):
    with turn(alice_tenant) as mine, transaction.atomic():
        mine.keep(status=200, body=b"of work that is rolled back")
        transaction.set_rollback(True)

    assert repeated(alice_tenant) is None


@pytest.mark.django_db
def test_a_claim_whose_worker_died_goes_to_the_next_call(alice_tenant, clock):
    with turn(alice_tenant) as dead:
        clock.shift(CLAIM_TTL - timedelta(seconds=1))
        with pytest.raises(Conflict), turn(alice_tenant):
            pass
        clock.shift(timedelta(seconds=1))
        with turn(alice_tenant) as second:
            assert second.repeat is None
            second.keep(status=200, body=b"second")
        # It was not dead but slow: the answer that was given stays.
        assert not dead.keep(status=200, body=b"late")

    assert repeated(alice_tenant) == (200, b"second")


@pytest.mark.django_db
def test_a_slow_call_that_fails_leaves_the_claim_of_the_next_alone(alice_tenant, clock):
    with turn(alice_tenant) as slow:
        clock.shift(CLAIM_TTL)
        following = turn(alice_tenant)
        mine = following.__enter__()
        assert slow.repeat is None

    mine.keep(status=200, body=b"second")
    following.__exit__(None, None, None)
    assert repeated(alice_tenant) == (200, b"second")


@pytest.mark.django_db
def test_an_answer_is_repeated_for_a_day(alice_tenant, clock):
    answer(alice_tenant)

    clock.shift(RETENTION - timedelta(seconds=1))
    assert repeated(alice_tenant) == (200, b"first")
    clock.shift(timedelta(seconds=1))
    assert repeated(alice_tenant, body=b"[]") is None


@pytest.mark.django_db
def test_an_endpoint_may_keep_answers_longer(alice_tenant, clock):
    answer(alice_tenant, retention=timedelta(days=14))

    clock.shift(timedelta(days=13))

    assert repeated(alice_tenant) == (200, b"first")


@pytest.mark.django_db
def test_answers_past_their_time_are_purged_alone(alice_tenant, clock):
    answer(alice_tenant, "old")
    clock.shift(timedelta(hours=1))
    answer(alice_tenant, "young")
    clock.shift(RETENTION - timedelta(hours=1))

    assert delete_expired_answers() == 1

    assert IdempotentAnswer.objects.for_tenant(alice_tenant).get().key == "young"


@pytest.mark.django_db(transaction=True)
def test_of_calls_at_the_same_time_one_does_the_work(alice_tenant):
    callers = 6
    together = threading.Barrier(callers, timeout=20)
    decided = threading.Barrier(callers, timeout=20)
    worked, refused = [], []

    def call():
        try:
            together.wait()
            try:
                with turn(alice_tenant) as mine:
                    worked.append(mine.repeat)
                    decided.wait()  # all others have been refused meanwhile
                    mine.keep(status=200, body=b"first")
            except Conflict as error:
                refused.append(error.code)
                decided.wait()
        finally:
            connection.close()

    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert worked == [None]
    assert refused == ["idempotency_key_in_use"] * (callers - 1)
    assert repeated(alice_tenant) == (200, b"first")


@pytest.mark.django_db(transaction=True)
def test_a_call_that_meets_a_key_being_given_up_takes_it(alice_tenant, monkeypatch):
    """The row vanishes between being found and being locked."""
    find = IdempotentAnswer.unscoped.get_or_create
    first = turn(alice_tenant)
    first.__enter__()
    meetings: list[tuple[IdempotentAnswer, bool]] = []

    def find_then_lose(**wanted):
        found = find(**wanted)
        if not meetings:
            meetings.append(found)
            first.__exit__(None, None, None)
        return found

    monkeypatch.setattr(IdempotentAnswer.unscoped, "get_or_create", find_then_lose)

    assert repeated(alice_tenant) is None
    assert meetings[0][1] is False
