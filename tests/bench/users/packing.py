"""Packed days beside rows: bytes, packing rate, reads, a late sample, erasure.

Run `python -m tests.bench.users.packing [--users N] [--days N] [--rounds N]`. Each
user has heart rate by the minute with gaps of 8 % (a walk), steps by the minute of
day-time, and a temperature by five minutes, in whole days that are all closed. Must
(performance.md section 1): 3 bytes a sample with every column, key and index; a day to
JSON 6 ms, a week 30 ms, a month's sums 20 ms at p95; a million samples a second and
core packed; a user erased in 2 s. CPU is of this process and its database connection.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from tests.bench.stage import backend_seconds, database

if TYPE_CHECKING:
    from collections.abc import Callable

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HEART, STEPS, TEMPERATURE = 2600, 4200, 900
CODES = {
    "heart": HEART,
    "steps": STEPS,
    "temperature": TEMPERATURE,
    "feed": 1,
    "origin": 1,
}
# Values are whole for beats and steps, with one decimal for temperatures.
_FILL = """
    INSERT INTO users_sample
        (ts, user_id, value, origin, tz_offset, duration, series, feed)
    SELECT ts, person, value, {origin}, 3600, duration, series, {feed} FROM (
        SELECT person, ts, {heart}::smallint AS series, 0 AS duration,
            (70 + 25 * sin(extract(epoch FROM ts) / 5000 + person)
                + 4 * random())::integer::float8 AS value
        FROM generate_series(%(start)s::timestamptz, %(end)s - interval '1 minute',
            interval '1 minute') ts, unnest(%(users)s::bigint[]) person
        WHERE random() > 0.08
        UNION ALL
        SELECT person, ts, {steps}::smallint, 60, (random() * 120)::integer
        FROM generate_series(%(start)s::timestamptz, %(end)s - interval '1 minute',
            interval '1 minute') ts, unnest(%(users)s::bigint[]) person
        WHERE extract(hour FROM ts AT TIME ZONE 'UTC') BETWEEN 7 AND 21
            AND random() > 0.6
        UNION ALL
        SELECT person, ts, {temperature}::smallint, 0,
            round((36.5 + 0.4 * sin(extract(epoch FROM ts) / 14000)
                + random() / 10)::numeric, 1)::float8
        FROM generate_series(%(start)s::timestamptz, %(end)s - interval '5 minutes',
            interval '5 minutes') ts, unnest(%(users)s::bigint[]) person
    ) sample ORDER BY person, series, ts
"""
_SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relkind = 'r' AND relname LIKE %s
"""


def ask(query: str, given: Any = None) -> Any:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query, given)
        return cursor.fetchone()[0] if cursor.description else None


class Clock:
    """CPU of this process and its connection, and the wall."""

    def __init__(self) -> None:
        self.server = ask("SELECT pg_backend_pid()")

    def now(self) -> tuple[float, float]:
        used = time.process_time() + backend_seconds([self.server])
        return time.perf_counter(), used

    def times(self, what: Callable[[], Any], rounds: int) -> tuple[float, float, float]:
        """Milliseconds: p50 and p95 by the wall, mean of CPU."""
        what()
        walls = []
        _, before = self.now()
        for _ in range(rounds):
            start = time.perf_counter()
            what()
            walls.append((time.perf_counter() - start) * 1000)
        _, after = self.now()
        p95 = statistics.quantiles(walls, n=20, method="inclusive")[-1]
        return statistics.median(walls), p95, (after - before) * 1000 / rounds


def reads(
    users: list[int], days: int, rounds: int, clock: Clock, first: datetime = START
) -> None:
    """Days, weeks and, of a month or more, months, `days` from `first`."""
    from users.store.samples import get_sample_store
    from users.store.sums import sum_instant_samples

    draw = random.Random(20261126)  # noqa: S311 - the same in each run
    store = get_sample_store()

    def rows(number: int, limit: int = 20_000) -> list[Any]:
        start = first + DAY * draw.randrange(max(1, days - number))
        return store.read_range(
            user_id=draw.choice(users),
            series=[HEART],
            start=start,
            end=start + number * DAY,
            feeds=None,
            after=None,
            limit=limit,
        )

    def to_json(number: int) -> None:
        orjson.dumps(
            [
                {"timestamp": row[0], "value": row[3], "timezone_offset": row[4]}
                for row in rows(number)
            ]
        )

    def sums(offset: int) -> None:
        start = first + timedelta(hours=offset)
        start += DAY * draw.randrange(max(1, days - 31))
        sum_instant_samples(
            user_id=draw.choice(users),
            series=[HEART],
            edges=[start + n * DAY for n in range(min(days, 30) + 1)],
            feeds=None,
        )

    days_and_weeks: dict[str, Callable[[], Any]] = {
        "day to JSON": lambda: to_json(1),
        "week to JSON": lambda: to_json(7),
    }
    months: dict[str, Callable[[], Any]] = {
        "page of 1,000 of a month": lambda: rows(30, 1000),
        "month's sums, UTC days": lambda: sums(0),
        "month's sums, days 5 h off": lambda: sums(5),
    }
    for name, what in (days_and_weeks | (months if days >= 30 else {})).items():
        p50, p95, cpu = clock.times(what, rounds)
        print(f"  {p50:8.2f} p50 {p95:8.2f} p95 {cpu:8.2f} cpu ms  {name}", flush=True)


def writes(user: int, days: int, rounds: int, clock: Clock) -> None:
    """An hour of minutes: a fresh day, sent again, one late into a closed day."""
    from django.db import transaction

    from users.store.columns import SampleColumns
    from users.store.samples import get_sample_store

    store = get_sample_store()
    hour = [0]

    def send(start: datetime, number: int = 60, value: float = 61.0) -> None:
        with transaction.atomic():
            store.write_batch(
                user_id=user,
                feed=1,
                columns=SampleColumns(
                    [HEART] * number,
                    [start + timedelta(minutes=n) for n in range(number)],
                    [value] * number,
                    [3600] * number,
                    [0] * number,
                    [1] * number,
                ),
            )

    def fresh() -> None:
        hour[0] += 1
        send(START + days * DAY + timedelta(hours=hour[0]))

    def change() -> None:
        hour[0] += 1
        send(START + timedelta(hours=3), 1, float(hour[0]))

    send(START, 1440)
    for name, what in {
        "an hour of minutes, fresh": fresh,
        "a day sent again": lambda: send(START, 1440),
        "one changed of a past day": change,
    }.items():
        p50, p95, cpu = clock.times(what, rounds)
        print(f"  {p50:8.2f} p50 {p95:8.2f} p95 {cpu:8.2f} cpu ms  {name}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    with database():
        run(given.users, given.days, given.rounds)


def run(number: int, days: int, rounds: int) -> None:
    from django.db import transaction

    from tests.bench.users import user_list
    from tests.factories.accounts import make_team, make_tenant
    from users.models import User
    from users.store.packed.packing import pack_days_of_user
    from users.store.partitions import (
        drop_space_of_empty_partitions,
        ensure_sample_partitions,
    )
    from users.store.samples import get_sample_store

    tenant = make_tenant(team=make_team("Packing"), environment="production")
    user_list.fill(tenant, number)
    people = User.objects.for_tenant(tenant).order_by("pk")
    users = list(people.values_list("pk", flat=True))
    ensure_sample_partitions(START.date(), (START + (days + 9) * DAY).date())
    fill = _FILL.format(**CODES)
    for day in range(0, days, 30):
        until = START + min(days, day + 30) * DAY
        ask(fill, {"start": START + day * DAY, "end": until, "users": users})
    ask("VACUUM ANALYZE users_sample")
    samples = ask("SELECT count(*) FROM users_sample")
    size = ask(_SIZE, ["users_sample%"])
    print(f"{samples:,} samples of {number} users, {days} days")
    print(f"rows: {size / samples:.1f} bytes a sample")
    clock = Clock()
    reads(users, days, rounds, clock)
    writes(users[-1], days, rounds, clock)

    wall, cpu = clock.now()
    moved = packed_days = 0
    for user in users:
        packed = pack_days_of_user(user_id=user, before=START + days * DAY)
        moved += packed.samples
        packed_days += packed.days
    ended, used = clock.now()
    wall, cpu = ended - wall, used - cpu
    print(f"packed {moved:,} samples into {packed_days:,} days in {wall:.1f} s:")
    print(f"  {moved / wall:,.0f} samples/s, {moved / cpu:,.0f} a second of CPU")
    ask("VACUUM ANALYZE users_sample")
    ask("VACUUM ANALYZE users_packedday")
    cleared = drop_space_of_empty_partitions()
    size = ask(_SIZE, ["users_packedday"])
    left = ask(_SIZE, ["users_sample%"])
    payload = ask("SELECT sum(length(payload)) FROM users_packedday")
    print(f"packed: {size / moved:.2f} bytes a sample, {payload / moved:.2f} payload;")
    print(f"  {left / 1e6:.1f} MB are left of rows, {len(cleared)} months cleared")
    reads(users, days, rounds, clock)
    writes(users[-1], days, rounds, clock)
    began = time.perf_counter()
    with transaction.atomic():
        gone = get_sample_store().delete_user(user_id=users[0])
    print(f"erased {gone:,} samples in {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
