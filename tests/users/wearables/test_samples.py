from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories.users import make_user
from users.models import Sample, SampleExtra
from users.wearables.samples import SampleColumns, Written, find_store

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HEART, STEPS = 100, 200
RING, WATCH = 1, 2


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def columns(*samples, **extra):
    """Of (series, minute, value), with what else there is by name of the column."""
    number = len(samples)
    given = {
        "tz_offset": [3600] * number,
        "duration": [0] * number,
        "origin": [0] * number,
        **extra,
    }
    return SampleColumns(
        series=[series for series, _, _ in samples],
        ts=[NOON + minute * MINUTE for _, minute, _ in samples],
        value=[value for _, _, value in samples],
        **given,
    )


def write(user, *samples, feed=RING, **extra):
    return find_store().write_batch(
        user_id=user.pk, feed=feed, columns=columns(*samples, **extra)
    )


def read(user, *, series=(HEART,), start=0, end=10_000, limit=1000, **given):
    return find_store().read_range(
        user_id=user.pk,
        series=series,
        start=NOON + start * MINUTE,
        end=NOON + end * MINUTE,
        feeds=given.get("feeds"),
        after=given.get("after"),
        limit=limit,
    )


def test_samples_are_read_as_they_were_written(user):
    written = write(user, (HEART, 2, 71.5), (STEPS, 0, 10), (HEART, 0, 70))

    assert written == Written(created=[0, 1, 2], updated=[])
    assert read(user) == [
        (NOON, HEART, RING, 70.0, 3600, 0, 0, None),
        (NOON + 2 * MINUTE, HEART, RING, 71.5, 3600, 0, 0, None),
    ]


def test_of_one_key_the_latest_value_wins(user):
    write(user, (HEART, 0, 70), (HEART, 1, 71), (HEART, 2, 72))

    written = write(user, (HEART, 3, 80), (HEART, 1, 81), (HEART, 0, 70))

    assert written == Written(created=[0], updated=[1])
    assert [row[3] for row in read(user)] == [70.0, 81.0, 72.0, 80.0]


def test_extras(user):
    write(user, (HEART, 0, 70), (HEART, 1, 71), extra={1: {"a": 1}})
    assert [row[-1] for row in read(user)] == [None, {"a": 1}]
    assert write(user, (HEART, 0, 70), (HEART, 1, 71), extra={1: {"a": 1}}) == Written(
        [], []
    )
    assert write(user, (HEART, 0, 70), (HEART, 1, 71), extra={0: {"a": 2}}) == Written(
        [], [0, 1]
    )
    assert [row[-1] for row in read(user)] == [{"a": 2}, None]


def test_pages(user):
    write(user, *((HEART, n, n) for n in range(5)))
    write(user, *((HEART, n, n) for n in range(3)), feed=WATCH)
    found, after = [], None
    while page := read(user, limit=2, after=after):
        found += page
        after = page[-1][:3]
    assert [(row[0], row[2]) for row in found] == sorted(
        [(NOON + n * MINUTE, RING) for n in range(5)]
        + [(NOON + n * MINUTE, WATCH) for n in range(3)]
    )
    assert find_store().delete_user(user_id=user.pk) == 8
    assert Sample.objects.count() == SampleExtra.objects.count() == 0
