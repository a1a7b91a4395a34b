"""Closed days are packed: moved without loss, changed in place, erased, guarded."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.ops.health.samples import check_packed_samples
from tests.factories.users import make_user
from tests.packed import EVER
from users.models import PackedDay, Sample
from users.store.columns import SampleColumns
from users.store.extents import (
    count_samples_by_series,
    find_days_with_samples,
    find_sample_extents,
)
from users.store.packed import packing
from users.store.packed.codec import (
    compute_checksum,
    decode_day,
)
from users.store.packed.damage import DayDamaged
from users.store.packed.packing import (
    Packed,
    PackingFailedError,
    pack_days_of_user,
)
from users.store.samples import Written, get_sample_store
from users.store.sums import (
    find_measurement_times,
    sum_instant_samples,
    sum_interval_samples,
)

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
HEART, STEPS = 100, 200
RING, WATCH = 1, 2


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def write(user, samples, feed=RING):
    """Samples as {(series, moment): (value, tz_offset, duration, origin, extra)}."""
    keys, rest = list(samples), list(samples.values())
    return get_sample_store().write_batch(
        user_id=user.pk,
        feed=feed,
        columns=SampleColumns(
            series=[series for series, _ in keys],
            ts=[moment for _, moment in keys],
            value=[each[0] for each in rest],
            tz_offset=[each[1] for each in rest],
            duration=[each[2] for each in rest],
            origin=[each[3] for each in rest],
            extra={n: each[4] for n, each in enumerate(rest) if each[4]},
        ),
    )


def beats(*hours, value=60.0):
    return {(HEART, NOON + hour * HOUR): (value, 0, 0, 0, None) for hour in hours}


def read(user, limit=1000, after=None, start=NOON - 90 * HOUR, end=NOON + 90 * HOUR):
    return get_sample_store().read_range(
        user_id=user.pk,
        series=[HEART, STEPS],
        start=start,
        end=end,
        feeds=None,
        after=after,
        limit=limit,
    )


def pack(user, before=EVER):
    return pack_days_of_user(user_id=user.pk, before=before)


MOMENTS = st.one_of(
    st.integers(-60, 60).map(lambda n: NOON + n * HOUR),
    st.integers(-(10**9), 10**9).map(lambda n: NOON + timedelta(microseconds=n)),
    st.sampled_from([NOON.replace(hour=0), NOON.replace(hour=0) + 24 * HOUR]),
)
VALUES = st.one_of(
    st.integers(0, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.sampled_from([0.1, 1e308, 5e-324, 2.0**31, -(2.0**31), 1e17]),
)
SAMPLES = st.dictionaries(
    st.tuples(st.sampled_from([HEART, STEPS]), MOMENTS),
    st.tuples(
        VALUES,
        st.sampled_from([0, 0, -16200]),
        st.sampled_from([0, 0, 60, 86_400]),
        st.sampled_from([0, 0, 2**31 - 1]),
        st.sampled_from([None, None, {"a": 1}]),
    ),
    max_size=8,
)
STEPS_OF_LIFE = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from([RING, WATCH]), SAMPLES),
        st.tuples(st.just("again"), st.sampled_from([RING, WATCH]), st.just(None)),
        st.tuples(st.just("pack"), st.sampled_from([-24, 0, 24]), st.just(None)),
        st.tuples(st.just("delete"), st.sampled_from([RING, WATCH]), st.integers(0, 9)),
        st.tuples(st.just("erase"), st.integers(0, 9), st.just(None)),
    ),
    min_size=2,
    max_size=7,
)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(STEPS_OF_LIFE, st.integers(1, 7))
def test_any_life_of_samples_leaves_what_a_dictionary_would_hold(user, life, limit):
    get_sample_store().delete_user(user_id=user.pk)
    held = {RING: {}, WATCH: {}}
    for what, which, given_ in life:
        if what in {"write", "again"}:
            mine = held[which]
            batch = dict(mine) if what == "again" else given_
            written = write(user, batch, which)
            assert written == Written(
                [n for n, key in enumerate(batch) if key not in mine],
                [n for n, k in enumerate(batch) if k in mine and mine[k] != batch[k]],
            )
            mine |= batch
        elif what == "pack":
            pack(user, NOON.replace(hour=0) + which * HOUR)
        elif what == "delete":
            mine = held[which]
            gone = sorted(mine)[:given_]
            number = get_sample_store().delete_samples(
                user_id=user.pk, feed=which, keys=gone
            )
            assert number == len(gone)
            for key in gone:
                del mine[key]
        elif which == 0:
            number = get_sample_store().delete_user(user_id=user.pk)
            assert number == sum(map(len, held.values()))
            held = {RING: {}, WATCH: {}}
    expected = sorted(
        (
            (moment, series, feed, *rest)
            for feed, mine in held.items()
            for (series, moment), rest in mine.items()
        ),
        key=lambda row: row[:3],
    )
    pages, after = [], None
    while page := read(user, limit, after):
        pages.extend(page)
        after = page[-1][:3]

    assert pages == expected
    _check_beside(user, expected)


def _check_beside(user, expected):
    """Extents, sums and times of measuring agree with the samples themselves."""
    branches = {(row[1], row[2]) for row in expected}
    found = find_sample_extents(user_id=user.pk)
    assert {each[:2] for each in found} == branches
    for each in found:
        mine = [row for row in expected if (row[1], row[2]) == each[:2]]
        assert (each.first, each.last, each.tz_offset) == (
            mine[0][0],
            mine[-1][0],
            mine[-1][4],
        )
    edges = [NOON + hour * HOUR for hour in (-50, -13, -12, 0, 11, 12, 50)]
    within = [row for row in expected if edges[0] <= row[0] < edges[-1]]
    cells = {}
    for row in within:
        cell = max(n for n, edge in enumerate(edges) if edge <= row[0])
        cells.setdefault((row[1], row[2], cell), []).append(row[3])
    summed = sum_instant_samples(
        user_id=user.pk, series=[HEART, STEPS], edges=edges, feeds=None
    )
    assert [(*each[:4], each.low, each.high) for each in summed] == [
        (*key, len(cells[key]), min(cells[key]), max(cells[key]))
        for key in sorted(cells)
    ]
    for cell_sum in summed:
        expected_sum = pytest.approx(sum(cells[cell_sum[:3]]), rel=1e-9, abs=1e295)
        assert cell_sum.total == expected_sum
    days = find_days_with_samples(user_id=user.pk, extents=found, edges=edges)
    assert {(*key, n) for key, numbers in days.items() for n in numbers} == set(cells)
    counted = count_samples_by_series(
        user_id=user.pk, extents=found, start=edges[1], end=edges[4], most=3
    )
    for key in branches:
        mine = [r for r in within if r[1:3] == key and edges[1] <= r[0] < edges[4]]
        assert counted[key] == min(3, len(mine))
    touching = [
        row
        for row in expected
        if row[0] < edges[-1]
        and (row[0] >= edges[0] or row[0] + timedelta(seconds=row[5]) > edges[0])
    ]
    spans = sum_interval_samples(
        user_id=user.pk, series=[HEART, STEPS], edges=edges, feeds=None
    )
    assert sum(each.samples for each in spans) == len(touching)
    reaching = {(each.series, each.feed, each.reaching) for each in spans}
    for row in touching:
        after = next(edge for edge in edges if edge > row[0])
        if row[0] + timedelta(seconds=row[5]) > after:
            assert (row[1], row[2], row[0]) in reaching
    measured = find_measurement_times(
        user_id=user.pk,
        series=[HEART, STEPS],
        start=edges[0],
        end=edges[-1],
        feeds=None,
    )
    assert sorted(measured) == measured
    for row in touching:
        until = row[0] + timedelta(seconds=row[5])
        assert any(
            each[:2] == row[1:3] and each.start <= row[0] and until <= each.end
            for each in measured
        )
    ends = [(each[:2], each.start, each.end) for each in measured]
    for (key, _, end), (other, start, _) in pairwise(ends):
        assert key != other or end < start


def test_a_packed_day_is_one_row_and_late_samples_join_it_next_time(user):
    write(user, beats(0, 1))
    first = pack(user)
    written = write(user, beats(1, 2))
    between = (Sample.objects.count(), PackedDay.objects.get().count)
    second, third = pack(user), pack(user)

    assert first == Packed(1, 2)
    assert written == Written([1], [])
    assert between == (1, 2)
    assert (second, third) == (Packed(1, 1), Packed())
    assert (Sample.objects.count(), PackedDay.objects.get().count) == (0, 3)
    assert [row[0] for row in read(user)] == [NOON + n * HOUR for n in range(3)]


def test_the_script_of_the_documentation_reads_a_packed_day(user, monkeypatch, capsys):
    """What docs/explanation/packed-days.md promises to read forever."""
    moments = [NOON, NOON + timedelta(microseconds=7), NOON + HOUR]
    values = [(0.1, 0, 0, 1, None), (-0.0, -16200, 60, 1, None), (1e17, 0, 0, 1, None)]
    write(user, {(HEART, m): v for m, v in zip(moments, values, strict=True)})
    write(user, beats(24, 25))
    pack(user)
    text = Path("docs/explanation/packed-days.md").read_text()
    script = text.partition("```python\n")[2].partition("```")[0]
    columns = ("day", "count", "checksum", "payload")
    days = PackedDay.objects.order_by("day").values_list(*columns)
    asked = SimpleNamespace(execute=lambda _query, _values: list(days))
    monkeypatch.setattr("psycopg.connect", lambda _address: asked)
    monkeypatch.setattr("sys.argv", ["script", "postgresql://", str(user.pk)])

    exec(script, {})  # noqa: S102 - the documentation's

    noon = 12 * 3600 * 1_000_000
    assert capsys.readouterr().out.splitlines() == [
        f"2026-03-01 {noon} 0.1 0 0 1",
        f"2026-03-01 {noon + 7} -0.0 -16200 60 1",
        f"2026-03-01 {noon + 3600 * 1_000_000} 1e+17 0 0 1",
        f"2026-03-02 {noon} 60.0 0 0 0",
        f"2026-03-02 {noon + 3600 * 1_000_000} 60.0 0 0 0",
    ]


# Written by version 1 with pcodec 1.1.0: later ones must read it.
FROZEN = (
    "731d00000070636f2103004201040101040000001000000000004000003d7ab7f40070440000"
    "0070636f2103004201040106040000001000f8ffffffffffdfff01020100000000404680cecc"
    "cccccc4c468034333333333346809d7500883ce43bbe0000000000000000007108000000100e"
    "000000000000701c00000070636f210300420104010304000000100000000000340000c00300"
    "0071080000000000000000000000"
)


def test_a_day_that_was_packed_long_ago_is_still_read():
    day = decode_day(
        bytes.fromhex(FROZEN),
        day=date(2026, 3, 1),
        count=5,
        codec=1,
        checksum=compute_checksum(bytes.fromhex(FROZEN)),
    )

    start = (date(2026, 3, 1) - date(2000, 1, 1)).days * 86_400_000_000
    assert (day.ts - start).tolist() == [n * 61_000_000 for n in range(5)]
    assert day.value.tolist() == [36.5, 36.6, 36.4, 1e300, -2.5]
    assert day.tz_offset.tolist() == [3600] * 5
    assert day.duration.tolist() == [0, 0, 60, 0, 0]
    assert day.origin.tolist() == [0] * 5


def test_what_reads_back_otherwise_stays_rows(user, monkeypatch):
    write(user, beats(0, 1))
    real = packing.fetch_packed_days

    def misread(**given):
        found = real(**given)
        for day in found.values():
            day.value[0] += 1
        return found

    monkeypatch.setattr(packing, "fetch_packed_days", misread)
    with pytest.raises(PackingFailedError):
        pack(user)

    assert (Sample.objects.count(), PackedDay.objects.count()) == (2, 0)


def test_steps_go_on_where_the_last_ended_and_full_days_stay_rows(user, monkeypatch):
    monkeypatch.setattr(packing, "STEP_ROWS", 3)
    small = beats(-48, -47, 24, 48, 49)
    write(user, small | beats(0, 1, 2, 3))

    packed = pack(user)

    assert packed == Packed(3, 5)
    assert Sample.objects.count() == 4
    assert len(read(user)) == 9


def test_a_corrupt_day_is_reported_and_nothing_is_made_of_it(user):
    write(user, beats(0, 1, 24))
    pack(user)
    write(user, beats(2, 25))
    day = PackedDay.objects.get(day=NOON.date())
    spoiled = bytes(day.payload)[:-1] + b"\xff"
    PackedDay.objects.filter(day=day.day).update(payload=spoiled)

    for ask in (
        lambda: read(user),
        lambda: write(user, beats(0, value=61.0)),
        lambda: get_sample_store().delete_samples(
            user_id=user.pk, feed=RING, keys=[(HEART, NOON)]
        ),
    ):
        with pytest.raises(DayDamaged):
            ask()
    with pytest.raises(CommandError):
        call_command("pack_samples", check=True)
    finding = check_packed_samples()
    packed = pack(user)

    assert finding.state == "fail"
    assert f"user {user.pk}, series 100, feed 1, day 2026-03-01" in finding.sentence
    # The late sample of the corrupt day waits; the other day's joins.
    assert packed == Packed(1, 1)
    assert Sample.objects.get().ts == NOON + 2 * HOUR
    assert len(read(user, start=NOON + 12 * HOUR)) == 2
    PackedDay.objects.filter(day=day.day).update(payload=bytes(day.payload))
    assert len(read(user)) == 5
    assert check_packed_samples().state == "ok"


def test_columns_beside_the_payload_are_checked_too(user):
    write(user, beats(0, 1))
    pack(user)
    PackedDay.objects.update(total=7)
    assert check_packed_samples().state == "fail"
    PackedDay.objects.update(total=120, codec=2)
    assert check_packed_samples().state == "fail"
    assert compute_checksum(bytes(PackedDay.objects.get().payload)) < 2**31


@pytest.mark.django_db(transaction=True)
def test_batches_and_erasure_wait_for_packing_and_find_what_it_left(alice_tenant):
    """Both wait for the lock that packing holds, and see its packed day after it."""
    user = make_user(tenant=alice_tenant)
    write(user, beats(0, 1))
    started, done = Event(), []

    def go_on(what):
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_backend_pid()")
                    done.append(cursor.fetchone()[0])
                started.set()
                return what()
        finally:
            connection.close()

    def again():
        return write(user, beats(0, 1, 2))

    def erase():
        packing.lock_samples_of_user(user.pk)
        return get_sample_store().delete_user(user_id=user.pk)

    for what, expected in ((again, Written([2], [])), (erase, 3)):
        started.clear()
        with ThreadPoolExecutor(1) as pool:
            with transaction.atomic():
                pack(user)
                waiting = pool.submit(go_on, what)
                started.wait(20)
                _wait_until_blocked(done[-1])
            assert waiting.result(20) == expected
    assert pack(user) == Packed()
    assert not Sample.objects.exists()
    assert not PackedDay.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", [1, 2])
def test_killed_in_mid_packing_nothing_is_lost_or_doubled(
    alice_tenant, monkeypatch, step
):
    """A real process dies after it wrote packed days and before it deleted rows."""
    user = make_user(tenant=alice_tenant)
    samples = beats(*range(0, 88, 4))
    write(user, samples)
    monkeypatch.setattr(packing, "STEP_ROWS", 8)
    reached, reach = os.pipe()
    connection.close()  # a process of its own has a connection of its own
    child = os.fork()
    if not child:
        steps, save = count(1), packing.save_packed_days

        def save_and_hang(**given):
            save(**given)
            if next(steps) == step:
                os.write(reach, b"x")
                signal.pause()

        packing.save_packed_days = save_and_hang
        try:
            pack(user)
        finally:
            os._exit(1)
    os.close(reach)
    try:
        assert os.read(reached, 1) == b"x"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reached)

    assert [row[0] for row in read(user)] == [moment for _, moment in samples]
    assert (PackedDay.objects.count() > 0) == (step == 2)
    pack(user)
    assert not Sample.objects.exists()
    assert [row[0] for row in read(user)] == [moment for _, moment in samples]
    assert write(user, samples) == Written([], [])


def _wait_until_blocked(pid):
    with connection.cursor() as cursor:
        for _ in range(100_000):
            cursor.execute("SELECT cardinality(pg_blocking_pids(%s))", [pid])
            if cursor.fetchone()[0]:
                return
    raise AssertionError("it did not wait")


@pytest.mark.django_db(transaction=True)
def test_who_reads_while_days_are_packed_sees_each_sample_once(alice_tenant):
    user = make_user(tenant=alice_tenant)
    samples = beats(*range(-80, 80))
    write(user, samples)
    is_packed = Event()

    def look():
        seen = set()
        try:
            while True:
                is_last = is_packed.is_set()
                seen.add(tuple(row[0] for row in read(user)))
                found = find_sample_extents(user_id=user.pk)
                counted = count_samples_by_series(
                    user_id=user.pk,
                    extents=found,
                    start=NOON - 90 * HOUR,
                    end=NOON + 90 * HOUR,
                    most=1000,
                )
                assert list(counted.values()) == [160]
                if is_last:
                    return seen
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(look) for _ in range(2)]
        for day in range(-4, 5):
            pack(user, NOON.replace(hour=0) + timedelta(days=day))
        is_packed.set()
        seen = set.union(*(reader.result(60) for reader in readers))

    assert seen == {tuple(moment for _, moment in samples)}
    assert not Sample.objects.exists()
