from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories.samples import put_samples
from tests.factories.users import make_user
from tests.statements import count_statements
from users.store.extents import (
    count_samples_by_series,
    find_days_with_samples,
    find_sample_extents,
)
from users.wearables.timeseries import TIMESERIES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("both_ways")]
DAY = timedelta(days=1)
HEART = next(iter(TIMESERIES["heartrate"].series))


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_extents_tell_the_first_and_the_last_of_each_source(user):
    put_samples(user, "heartrate", ("2026-02-01T10:00", 0, 60))
    put_samples(user, "heartrate", ("2025-11-30T10:00", 0, 61))
    put_samples(user, "heartrate", ("2026-02-02T10:00", 0, 62), provider="garmin")
    put_samples(user, "steps", ("2026-02-02T10:00", 5, 62))

    with count_statements() as sent:
        found = find_sample_extents(user_id=user.pk)

    assert len(sent) == 1
    heart = [each for each in found if each.series == HEART]
    assert [(each.first, each.last) for each in heart] == [
        (at("2025-11-30T10:00"), at("2026-02-01T10:00")),
        (at("2026-02-02T10:00"), at("2026-02-02T10:00")),
    ]
    assert len(found) == 3


def test_extents_are_of_one_user_alone(user, alice_tenant):
    put_samples(
        make_user(tenant=alice_tenant), "heartrate", ("2026-02-01T10:00", 0, 60)
    )

    assert find_sample_extents(user_id=user.pk) == []


def test_days_hold_what_begins_in_them(user):
    put_samples(
        user,
        "heartrate",
        ("2026-02-01T00:00", 0, 60),
        ("2026-02-01T23:59", 0, 60),
        ("2026-02-04T00:00", 0, 60),
    )
    edges = [at("2026-02-01T00:00") + number * DAY for number in range(4)]
    extents = find_sample_extents(user_id=user.pk)

    found = find_days_with_samples(user_id=user.pk, extents=extents, edges=edges)

    assert list(found.values()) == [[0]]


def test_counting_ends_where_it_is_told_to(user):
    put_samples(
        user, "heartrate", *((f"2026-02-01T10:{n:02}", 0, 60) for n in range(5))
    )
    extents = find_sample_extents(user_id=user.pk)
    start = at("2026-02-01T10:01")

    def count(most):
        found = count_samples_by_series(
            user_id=user.pk, extents=extents, start=start, end=start + DAY, most=most
        )
        return list(found.values())

    assert count(10) == [4]
    assert count(3) == [3]


def test_nobody_s_samples_are_no_question(user):
    with count_statements() as sent:
        assert find_days_with_samples(user_id=user.pk, extents=[], edges=[]) == {}
        assert (
            count_samples_by_series(
                user_id=user.pk,
                extents=[],
                start=at("2026-02-01"),
                end=at("2026-02-02"),
                most=5,
            )
            == {}
        )
    assert sent == []
