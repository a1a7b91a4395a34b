from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import ApiCall, ApiCallTally
from accounts.operations.api_keys import call_log
from accounts.operations.api_keys.call_log import (
    Call,
    delete_api_calls_of_user,
    delete_expired_api_calls,
    write_api_call_log,
)
from accounts.queries.api_calls import (
    HourOfCalls,
    count_api_calls_by_day,
    count_api_calls_by_hour,
)
from tests.factories.accounts import make_tenant

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def call(tenant, *, at=NOON, user=None, key=None, status=200):
    return Call(
        tenant_pk=tenant.pk,
        key_id=key or uuid.uuid4(),
        at=at,
        method="GET",
        path="/v2/user",
        status=status,
        ms=7,
        request_id="ab" * 16,
        address="2001:db8::7",
        user_uuid=user,
    )


def test_calls_are_written_in_bulk_as_they_were():
    tenant = make_tenant()
    calls = [call(tenant, at=NOON + timedelta(seconds=n)) for n in range(3)]

    write_api_call_log(calls)

    rows = ApiCall.objects.for_tenant(tenant).order_by("at")
    assert [
        (row.api_key_id, row.at, row.method, row.path, row.status, row.ms)
        for row in rows
    ] == [(c.key_id, c.at, "GET", "/v2/user", 200, 7) for c in calls]
    assert {(row.request_id, row.address, row.user_uuid) for row in rows} == {
        ("ab" * 16, "2001:db8::7", None)
    }


def test_calls_are_counted_by_key_and_hour_for_a_week():
    tenant, other = make_tenant(), make_tenant()
    key, quiet, foreign = (uuid.uuid4() for _ in range(3))
    hours = {0: 2, 1: 1, 23: 1, 24: 3, 167: 1, 168: 9}
    for _ in range(2):
        write_api_call_log(
            [
                call(
                    tenant,
                    at=NOON + timedelta(minutes=59) - timedelta(hours=ago),
                    key=key,
                )
                for ago, number in hours.items()
                for _ in range(number)
            ]
            + [call(other, key=foreign)]
        )
    write_api_call_log([])
    keys = [key, quiet, foreign]

    counts = count_api_calls_by_day(
        tenant=tenant, keys=keys, at=NOON + timedelta(minutes=59.5)
    )
    with time_machine.travel(NOON + timedelta(days=8), tick=False):
        delete_expired_api_calls()

    assert dict(counts) == {key: [2, 0, 0, 0, 0, 6, 8]}
    left = ApiCallTally.objects.for_tenant(tenant).values_list("hour", "calls")
    assert list(left) == [(NOON, 4)]


def test_old_calls_go_in_batches_and_young_ones_stay(settings, monkeypatch):
    settings.API_CALL_LOG_DAYS = 30
    monkeypatch.setattr(call_log, "_BATCH", 2)
    tenant = make_tenant()
    ages = (0, 29, 30, 31, 32, 33)
    write_api_call_log([call(tenant, at=NOON - timedelta(days=age)) for age in ages])

    with time_machine.travel(NOON, tick=False):
        pruned = delete_expired_api_calls()

    left = ApiCall.objects.for_tenant(tenant).values_list("at", flat=True)
    assert pruned == 3
    assert {(NOON - at).days for at in left} == {0, 29, 30}


def test_an_environment_keeps_no_more_than_its_newest_calls(settings, monkeypatch):
    settings.API_CALL_LOG_DAYS, settings.API_CALL_LOG_ROWS = 30, 3
    monkeypatch.setattr(call_log, "_BATCH", 2)
    busy, quiet = make_tenant(), make_tenant()
    # Two of one moment: the one that was written first goes.
    ages = (0, 1, 2, 2, 3, 4, 5)
    write_api_call_log([call(busy, at=NOON - timedelta(hours=age)) for age in ages])
    write_api_call_log([call(quiet, at=NOON - timedelta(days=9)) for _ in range(3)])

    with time_machine.travel(NOON, tick=False):
        deleted = delete_expired_api_calls()

    left = ApiCall.objects.for_tenant(busy).order_by("-at", "-pk")
    first = ApiCall.unscoped.order_by("pk").first()
    assert deleted == 4
    assert [(row.pk - first.pk, NOON - row.at) for row in left] == [
        (0, timedelta(0)),
        (1, timedelta(hours=1)),
        (3, timedelta(hours=2)),
    ]
    assert ApiCall.objects.for_tenant(quiet).count() == 3


def test_answers_are_counted_by_hour_for_a_day():
    tenant = make_tenant()
    key = uuid.uuid4()
    for hours, status in (
        (0, 200),
        (0, 302),
        (0, 404),
        (23, 500),
        (23, 503),
        (24, 200),
    ):
        at = NOON + timedelta(minutes=59) - timedelta(hours=hours)
        write_api_call_log([call(tenant, at=at, key=key, status=status)])
    write_api_call_log([call(tenant, at=NOON)])

    counts = count_api_calls_by_hour(
        tenant=tenant, keys=[key], at=NOON + timedelta(minutes=59.5)
    )

    assert counts == [HourOfCalls(faults=2), *[HourOfCalls()] * 22, HourOfCalls(2, 1)]


def test_the_calls_that_name_an_erased_user_go():
    mine, other = make_tenant(), make_tenant()
    user = uuid.uuid4()
    write_api_call_log([call(mine, user=user), call(mine), call(other, user=user)])

    forgotten = delete_api_calls_of_user(tenant_pk=mine.pk, user_uuid=user)

    assert forgotten == 1
    assert ApiCall.objects.for_tenant(mine).get().user_uuid is None
    assert ApiCall.objects.for_tenant(other).count() == 1
