from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.lib.errors import NotFound
from tests.factories.users import make_user
from tests.statements import count_statements
from users.models import PackedDay, Sample, SampleExtra
from users.store import partitions
from users.store.columns import SampleColumns
from users.store.samples import Written, get_sample_store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("both_ways")]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HEART, STEPS = 100, 200
RING, WATCH = 1, 2
TAGGED = {"tags": ["food"], "value": "Toast"}


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def columns(*samples, **given):
    """Of (series, minute, value); other columns by name, the same for all."""
    number = len(samples)
    return SampleColumns(
        series=[series for series, _, _ in samples],
        ts=[NOON + minute * MINUTE for _, minute, _ in samples],
        value=[value for _, _, value in samples],
        tz_offset=[given.get("tz_offset", 3600)] * number,
        duration=[given.get("duration", 0)] * number,
        origin=[given.get("origin", 0)] * number,
        extra=given.get("extra", {}),
    )


def write(user, *samples, feed=RING, **given):
    return get_sample_store().write_batch(
        user_id=user.pk, feed=feed, columns=columns(*samples, **given)
    )


def read(user, *, series=(HEART,), start=0, end=10_000, limit=1000, **given):
    return get_sample_store().read_range(
        user_id=user.pk,
        series=series,
        start=NOON + start * MINUTE,
        end=NOON + end * MINUTE,
        feeds=given.get("feeds"),
        after=given.get("after"),
        limit=limit,
    )


def values(user, **given):
    return [row[3] for row in read(user, **given)]


def versions():
    """Where each row lies, and which transactions made it and let it go."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tableoid, ctid, xmin, xmax FROM users_sample UNION ALL"
            " SELECT tableoid, ctid, xmin, xmax FROM users_packedday UNION ALL"
            " SELECT tableoid, ctid, xmin, xmax FROM users_sampleextra ORDER BY 1, 2"
        )
        return cursor.fetchall()


def test_samples_are_read_as_they_were_written(user):
    written = write(user, (HEART, 2, 71.5), (STEPS, 0, 10), (HEART, 0, 70))

    assert written == Written(created=[0, 1, 2], updated=[])
    assert read(user) == [
        (NOON, HEART, RING, 70.0, 3600, 0, 0, None),
        (NOON + 2 * MINUTE, HEART, RING, 71.5, 3600, 0, 0, None),
    ]


def test_each_sample_of_a_batch_keeps_its_own_columns(user):
    sent = [
        (NOON, HEART, RING, 70.0, 3600, 0, 0, None),
        (NOON, HEART + 1, RING, -1.5, -16200, 60, 3, TAGGED),
        (NOON + MINUTE, HEART, RING, 1e-9, 0, 86400, 2**31 - 1, {"note": '"\\'}),
    ]
    batch = SampleColumns(
        ts=[row[0] for row in sent],
        series=[row[1] for row in sent],
        value=[row[3] for row in sent],
        tz_offset=[row[4] for row in sent],
        duration=[row[5] for row in sent],
        origin=[row[6] for row in sent],
        extra={1: TAGGED, 2: {"note": '"\\'}},
    )

    for expected in (Written([0, 1, 2], []), Written([], [])):
        written = get_sample_store().write_batch(
            user_id=user.pk, feed=RING, columns=batch
        )
        assert written == expected

    assert read(user, series=(HEART, HEART + 1)) == sent


def test_of_one_key_the_latest_value_wins(user):
    write(user, (HEART, 0, 70), (HEART, 1, 71), (HEART, 2, 72))

    written = write(user, (HEART, 3, 80), (HEART, 1, 81), (HEART, 0, 70))

    assert written == Written(created=[0], updated=[1])
    assert values(user) == [70, 81, 72, 80]


def test_feeds_series_and_users_do_not_meet(user, alice_tenant):
    other = make_user(tenant=alice_tenant)
    write(user, (HEART, 0, 70))

    for written in (
        write(user, (HEART, 0, 71), feed=WATCH),
        write(user, (STEPS, 0, 72)),
        write(other, (HEART, 0, 73)),
    ):
        assert written == Written(created=[0], updated=[])

    assert values(user) == [70, 71]
    assert values(user, series=(STEPS,)) == [72]
    assert values(other) == [73]


@pytest.mark.parametrize(
    "changed",
    [{"tz_offset": -7200}, {"duration": 60}, {"origin": 4}, {"extra": {0: TAGGED}}],
    ids=lambda changed: next(iter(changed)),
)
def test_each_column_that_differs_makes_a_change(user, changed):
    write(user, (HEART, 0, 70), (HEART, 1, 71))

    written = write(user, (HEART, 0, 70), **changed)

    first, second = read(user)
    assert written == Written(created=[], updated=[0])
    assert first[4:] == (
        changed.get("tz_offset", 3600),
        changed.get("duration", 0),
        changed.get("origin", 0),
        TAGGED if "extra" in changed else None,
    )
    assert second == (NOON + MINUTE, HEART, RING, 71.0, 3600, 0, 0, None)


def test_a_batch_sent_again_writes_nothing(user, both_ways):
    batch = [(HEART, minute, 60 + minute) for minute in range(20)]
    write(user, *batch, extra={3: TAGGED})
    before = versions()

    written = write(user, *reversed(batch), extra={16: TAGGED})

    assert written == Written([], [])
    assert versions() == before
    assert len(before) == (21 if both_ways == "rows" else 2)


def test_an_extra_moves_with_its_sample(user):
    write(user, (HEART, 0, 70), (HEART, 1, 71), extra={1: TAGGED})

    written = write(user, (HEART, 1, 71), (HEART, 0, 70), extra={1: TAGGED})

    assert written == Written(created=[], updated=[0, 1])
    assert [row[-1] for row in read(user)] == [TAGGED, None]
    assert SampleExtra.objects.count() == 1


def test_a_range_has_its_start_and_not_its_end(user):
    write(user, *((HEART, minute, minute) for minute in range(5)))

    assert values(user, start=1, end=3) == [1, 2]
    assert values(user, start=3, end=3) == []
    assert values(user, series=()) == []


def test_pages_go_on_behind_the_last_sample(user):
    everything = [
        (series, minute, float(series + minute + feed))
        for series in (HEART, HEART + 1)
        for minute in range(4)
        for feed in (RING, WATCH)
    ]
    for feed in (RING, WATCH):
        write(user, *(s for s in everything if (s[2] - s[0] - s[1]) == feed), feed=feed)
    pages, after = [], None

    while page := read(user, series=(HEART, HEART + 1), limit=3, after=after):
        pages.append([row[:3] for row in page])
        after = page[-1][:3]

    assert [len(page) for page in pages] == [3, 3, 3, 3, 3, 1]
    assert [key for page in pages for key in page] == [
        (NOON + minute * MINUTE, series, feed)
        for minute in range(4)
        for series in (HEART, HEART + 1)
        for feed in (RING, WATCH)
    ]


def test_only_the_feeds_asked_for_are_read(user):
    for feed in (RING, WATCH):
        write(user, (HEART, 0, feed), feed=feed)

    assert values(user, feeds=[WATCH]) == [WATCH]
    assert values(user, feeds=[WATCH, 9, RING]) == [RING, WATCH]
    assert values(user, feeds=[]) == []


def test_samples_of_many_months_are_one_series(user):
    months = (-1_000_000, -43_200, 0, 43_200)

    write(user, *((HEART, minute, minute) for minute in months))

    assert values(user, start=-2_000_000, end=100_000, limit=3) == [*months[:3]]
    assert values(user, start=-2_000_000, end=-500_000) == [months[0]]


def test_a_month_that_is_not_there_is_made(user):
    far = NOON.replace(year=2031)

    written = get_sample_store().write_batch(
        user_id=user.pk,
        feed=RING,
        columns=SampleColumns([HEART], [far], [70], [0], [0], [0]),
    )

    assert written.created == [0]
    assert partitions.ensure_sample_partitions(far.date(), far.date()) == []


def test_an_unknown_user_gets_nothing(user):
    with pytest.raises(NotFound):
        get_sample_store().write_batch(
            user_id=user.pk + 1, feed=RING, columns=columns((HEART, 0, 70))
        )

    assert not Sample.objects.exists()
    assert not PackedDay.objects.exists()


def test_deleting_a_user_says_how_many_samples_went(user, alice_tenant):
    other = make_user(tenant=alice_tenant)
    write(user, (HEART, 0, 70), (HEART, -1_000_000, 71), extra={0: TAGGED})
    write(other, (HEART, 0, 70))

    removed = get_sample_store().delete_user(user_id=user.pk)

    assert removed == 2
    held = Sample.objects.values("user_id").union(PackedDay.objects.values("user_id"))
    assert list(held) == [{"user_id": other.pk}]
    assert SampleExtra.objects.count() == 0


def test_writing_and_reading_take_few_statements(user, both_ways, monkeypatch):
    monkeypatch.setattr(partitions, "_known", {NOON.date().replace(day=1)})
    batch = [(HEART, minute, 70) for minute in range(50)]

    with count_statements() as fresh:
        write(user, *batch)
    monkeypatch.undo()  # what is packed stays so
    monkeypatch.setattr(partitions, "_known", {NOON.date().replace(day=1)})
    with count_statements() as again:
        write(user, *batch)
    with count_statements() as reading:
        read(user)

    if both_ways == "rows":
        assert len(fresh) == 2
    assert [len(again), len(reading)] == [4, 3]


SAMPLES = st.dictionaries(
    st.tuples(st.sampled_from([HEART, STEPS]), st.integers(-3, 3)),
    st.tuples(st.integers(60, 62), st.sampled_from([None, {"a": 1}, {"a": 2}])),
    max_size=6,
)
QUIET = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def send(user, samples):
    """Samples by key, as a dictionary or as pairs, in their order."""
    pairs = list(dict(samples).items())
    return write(
        user,
        *((*key, value) for key, (value, _) in pairs),
        extra={i: extra for i, (_, (_, extra)) in enumerate(pairs) if extra},
    )


def table(user):
    rows = read(user, series=(HEART, STEPS), start=-10, end=10)
    return {(row[1], (row[0] - NOON) // MINUTE): (row[3], row[-1]) for row in rows}


@QUIET
@given(st.lists(SAMPLES, max_size=4))
def test_batches_leave_what_a_dictionary_would_hold(user, batches):
    get_sample_store().delete_user(user_id=user.pk)
    held = {}

    for batch in batches:
        written = send(user, batch)
        created = [i for i, key in enumerate(batch) if key not in held]
        updated = [i for i, k in enumerate(batch) if k in held and held[k] != batch[k]]
        assert written == Written(created, updated)
        held |= batch

    assert table(user) == held


@QUIET
@given(st.data(), SAMPLES)
def test_any_order_and_batching_of_the_same_samples_gives_the_same_table(
    user, data, samples
):
    get_sample_store().delete_user(user_id=user.pk)
    pairs = data.draw(st.permutations(list(samples.items())))
    again = data.draw(
        st.lists(st.sampled_from(pairs), max_size=4) if pairs else st.just([])
    )
    cut = data.draw(st.integers(0, len(pairs)))

    for part in (pairs[:cut], again, pairs[cut:], again):
        send(user, part)

    assert table(user) == samples


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_uploads_lose_nothing_a_hundred_times(alice_production):
    people = [make_user(tenant=alice_production) for _ in range(100)]
    together = Barrier(2)
    minutes = list(range(30))
    # They share ten minutes, which they send in opposite orders.
    parts = [(minutes[:20], 1.0), (minutes[:9:-1], 2.0)]

    def upload(part):
        own, value = part
        created = 0
        try:
            for user in people:
                together.wait(20)
                with transaction.atomic():
                    batch = [(HEART, minute, value) for minute in own]
                    created += len(write(user, *batch).created)
        finally:
            connection.close()
        return created

    with ThreadPoolExecutor(2) as pool:
        created = sum(pool.map(upload, parts))

    assert created == 100 * 30
    for user in people:
        found = values(user)
        assert [*found[:10], *found[20:]] == [1.0] * 10 + [2.0] * 10
        assert found[10:20] in ([1.0] * 10, [2.0] * 10)
