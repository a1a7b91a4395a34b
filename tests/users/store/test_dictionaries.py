from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection, transaction

from portal.lib.errors import DomainError
from tests.factories.users import make_user
from tests.statements import count_statements
from users.models import Feed, Origin, Series
from users.store import dictionaries
from users.store.dictionaries import (
    NO_ORIGIN,
    OPEN_SERIES_FIRST,
    FeedKey,
    OriginKey,
    find_feed_numbers_of_provider,
    find_feeds_by_number,
    find_origins_by_number,
    find_series_types_of_resource,
    get_or_create_feed_number,
    get_or_create_origin_numbers,
    get_or_create_series_numbers,
)

pytestmark = pytest.mark.django_db
WORKOUT = UUID("0b8ed3d5-7a0c-4f5e-8a52-6f3ff3c0a111")
RUN = OriginKey(workout_id=WORKOUT, sport="running")
APP = OriginKey(app_id="com.example.ring", device_id=WORKOUT)


def feed(tenant, provider="oura", source_type="ring"):
    return get_or_create_feed_number(
        tenant=tenant, provider=provider, source_type=source_type
    )


def series(tenant, *types, resource="ige"):
    return get_or_create_series_numbers(tenant=tenant, resource=resource, types=types)


def test_a_feed_keeps_its_number(alice_tenant):
    first = feed(alice_tenant)
    second = feed(alice_tenant, source_type="watch")

    assert (first, second) == (1, 2)
    assert feed(alice_tenant) == 1
    assert find_feeds_by_number(tenant=alice_tenant, numbers=[2, 1, 3]) == {
        1: FeedKey("oura", "ring"),
        2: FeedKey("oura", "watch"),
    }


def test_feeds_are_found_by_provider(alice_tenant):
    feed(alice_tenant)
    feed(alice_tenant, provider="fitbit")
    feed(alice_tenant, source_type="watch")

    assert find_feed_numbers_of_provider(tenant=alice_tenant, provider="oura") == [1, 3]
    assert find_feed_numbers_of_provider(tenant=alice_tenant, provider="garmin") == []


def test_types_keep_their_numbers_in_their_resource(alice_tenant):
    first = series(alice_tenant, "peanut", "birch")
    second = series(alice_tenant, "hazel", "birch")
    other = series(alice_tenant, "birch", resource="igg")

    base = OPEN_SERIES_FIRST
    assert first == {"birch": base, "peanut": base + 1}
    assert second == {"birch": base, "hazel": base + 2}
    assert other == {"birch": base + 3}
    assert find_series_types_of_resource(tenant=alice_tenant, resource="ige") == {
        base: "birch",
        base + 1: "peanut",
        base + 2: "hazel",
    }


def test_tenants_count_for_themselves(alice_tenant, charlie_tenant):
    feed(alice_tenant, provider="fitbit")
    series(alice_tenant, "birch")

    assert feed(charlie_tenant) == 1
    assert series(charlie_tenant, "hazel") == {"hazel": OPEN_SERIES_FIRST}
    assert find_feeds_by_number(tenant=charlie_tenant, numbers=[1]) == {
        1: FeedKey("oura", "ring")
    }
    assert find_series_types_of_resource(tenant=charlie_tenant, resource="ige") == {
        OPEN_SERIES_FIRST: "hazel"
    }


def test_a_tenant_can_not_have_any_number_of_words(
    alice_tenant, charlie_tenant, monkeypatch
):
    monkeypatch.setattr(dictionaries, "FEEDS_MAX", 1)
    monkeypatch.setattr(dictionaries, "OPEN_TYPES_MAX", 2)
    feed(alice_tenant)
    series(alice_tenant, "birch")

    with pytest.raises(DomainError) as no_feed:
        feed(alice_tenant, source_type="watch")
    with pytest.raises(DomainError) as no_series:
        series(alice_tenant, "hazel", "peanut")

    assert no_feed.value.code == "too_many_source_types"
    assert no_series.value.code == "too_many_types"
    assert Feed.objects.for_tenant(alice_tenant).count() == 1
    assert Series.objects.for_tenant(alice_tenant).count() == 1
    assert feed(alice_tenant) == feed(charlie_tenant) == 1
    assert series(alice_tenant, "hazel") == {"hazel": OPEN_SERIES_FIRST + 1}


def test_an_origin_keeps_its_number_with_its_user(alice_tenant):
    user, other = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)

    first = get_or_create_origin_numbers(user=user, origins=[RUN, NO_ORIGIN])
    second = get_or_create_origin_numbers(user=user, origins=[APP, RUN])
    others = get_or_create_origin_numbers(user=other, origins=[APP])

    assert first == {NO_ORIGIN: 0, RUN: 1}
    assert second == {NO_ORIGIN: 0, RUN: 1, APP: 2}
    assert others == {NO_ORIGIN: 0, APP: 1}
    assert find_origins_by_number(user_id=user.pk, numbers=[0, 1, 2, 3]) == {
        0: NO_ORIGIN,
        1: RUN,
        2: APP,
    }


def test_origins_go_with_their_user(alice_tenant):
    user, other = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    for each in (user, other):
        get_or_create_origin_numbers(user=each, origins=[RUN])

    user.delete()

    mine = Origin.objects.for_tenant(alice_tenant)
    assert [origin.user for origin in mine] == [other]


def test_what_is_committed_is_not_asked_for_again(
    alice_tenant, django_capture_on_commit_callbacks
):
    user = make_user(tenant=alice_tenant)
    feed(alice_tenant, source_type="watch")
    with count_statements() as before_commit:
        feed(alice_tenant, source_type="watch")
    with django_capture_on_commit_callbacks(execute=True):
        feed(alice_tenant, source_type="watch")
        find_feeds_by_number(tenant=alice_tenant, numbers=[1])

    with count_statements() as after_commit:
        number = feed(alice_tenant, source_type="watch")
        words = find_feeds_by_number(tenant=alice_tenant, numbers=[1])
        nothing = get_or_create_origin_numbers(user=user, origins=[NO_ORIGIN])

    assert len(before_commit) == 1
    assert after_commit == []
    assert (number, words[1].source_type, nothing) == (1, "watch", {NO_ORIGIN: 0})


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_uses_of_words_share_their_numbers(alice_production):
    user = make_user(tenant=alice_production)
    together = Barrier(4)
    types = [["a", "b", "c"], ["c", "b", "d"]] * 2

    def claim(own):
        together.wait(20)
        try:
            with transaction.atomic():
                return (
                    feed(alice_production),
                    series(alice_production, *own),
                    get_or_create_origin_numbers(user=user, origins=[RUN, APP])[RUN],
                )
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(claim, types))

    assert {number for number, _, _ in done} == {1}
    assert len({run for _, _, run in done}) == 1
    found = find_series_types_of_resource(tenant=alice_production, resource="ige")
    assert sorted(found.values()) == ["a", "b", "c", "d"]
    assert all(found[number] == word for _, s, _ in done for word, number in s.items())
    assert Origin.objects.for_tenant(alice_production).count() == 2
