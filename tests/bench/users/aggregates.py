"""Aggregates of a year of minutes from two sources, against the bare GROUP BY.

Run `python -m tests.bench.users.aggregates [--rounds N]`. Ours is the query function
that API and charts call; the limit is one statement of psycopg over the same samples,
which knows neither zones' hours nor whose word counts. Times are wall, median over the
rounds, which take turns. Streams: bytes a value on disk, and times of one hour at 1 Hz.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import statistics
import time
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Callable

    from users.models import User

LAST = date(2026, 1, 31)
YEAR = 366
SEED = 20260131
_FILL = """
    INSERT INTO users_sample
        (ts, user_id, value, origin, tz_offset, duration, series, feed)
    SELECT ts, %s, (extract(epoch FROM ts)::bigint / 60 * 7919) %% 120, 0, 0, %s, %s, %s
    FROM generate_series(%s::timestamptz, %s::timestamptz, '1 minute') AS ts
"""
_LIMIT = """
    SELECT date_trunc('day', ts, 'Europe/Berlin') AS day, feed,
        count(*), sum(value), min(value), max(value)
    FROM users_sample
    WHERE user_id = %s AND series = %s AND ts >= %s AND ts < %s GROUP BY day, feed
"""


def fill() -> User:
    """A user with a year of minutes: steps of watch and phone, heart rates."""
    from django.db import transaction

    from portal.lib.database import rows
    from tests.factories.accounts import make_tenant
    from tests.factories.users import make_user
    from users.store.dictionaries import get_or_create_feed_number
    from users.store.partitions import ensure_sample_partitions
    from users.wearables.timeseries import TIMESERIES

    user = make_user(tenant=make_tenant(environment="production"))
    start = datetime.combine(LAST - timedelta(days=YEAR + 1), datetime.min.time(), UTC)
    end = datetime.combine(LAST + timedelta(days=2), datetime.min.time(), UTC)
    ensure_sample_partitions(start.date(), end.date())
    for slug, seconds, kind in (
        ("steps", 60, "watch"),
        ("steps", 60, "phone"),
        ("heartrate", 0, "watch"),
    ):
        with transaction.atomic():
            feed = get_or_create_feed_number(
                tenant=user.tenant, provider="oura", source_type=kind
            )
        (series,) = TIMESERIES[slug].series
        with rows.open_database_cursor() as cursor:
            cursor.execute(_FILL, [user.pk, seconds, series, feed, start, end])
    with rows.open_database_cursor() as cursor:
        cursor.execute("VACUUM ANALYZE users_sample")
    return user


def ask(user: User, slug: str, days: int, period: str, rule: str) -> int:
    from users.analysis.aggregates import AggregateRequest, aggregate_samples
    from users.analysis.buckets import Period
    from users.analysis.source_priority import Rule
    from users.wearables.timeseries import TIMESERIES

    request = AggregateRequest(
        resource=TIMESERIES[slug],
        start=LAST - timedelta(days=days - 1),
        end=LAST,
        period=Period(period),
        zone=ZoneInfo("Europe/Berlin"),
        rule=Rule(rule),
    )
    return len(aggregate_samples(user=user, request=request))


def limit(user: User, slug: str, days: int) -> int:
    from portal.lib.database import rows
    from users.wearables.timeseries import TIMESERIES

    (series,) = TIMESERIES[slug].series
    zone = ZoneInfo("Europe/Berlin")
    start = datetime.combine(LAST - timedelta(days=days - 1), datetime.min.time(), zone)
    end = datetime.combine(LAST + timedelta(days=1), datetime.min.time(), zone)
    return len(rows.fetch_rows(_LIMIT, [user.pk, series, start, end]))


def timed(work: Callable[..., object], *inputs: Any) -> float:
    start = time.perf_counter()
    work(*inputs)
    return (time.perf_counter() - start) * 1000


def measure_aggregates(user: User, rounds: int) -> None:
    cases = [
        ("heartrate", 90, "day", "priority"),
        ("heartrate", 366, "day", "priority"),
        ("steps", 31, "hour", "priority"),
        ("steps", 90, "day", "max"),
        ("steps", 366, "day", "max"),
        ("steps", 92, "day", "merge"),
    ]
    print(f"{'what':36} {'ours ms':>8} {'limit ms':>9} {'ratio':>6}")
    for case in cases:
        slug, days, _, _ = case
        pairs = [
            (timed(ask, user, *case), timed(limit, user, slug, days))
            for _ in range(rounds)
        ]
        ours, least = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(mine / bare for mine, bare in pairs)
        name = "{} {} days by {}, {}".format(*case)
        print(f"{name:36} {ours:8.1f} {least:9.1f} {ratio:6.2f}")


def measure_streams(rounds: int) -> None:
    from users.wearables.streams import parse_workout_stream

    body = ride(3600)
    now = datetime.fromtimestamp(body["time"][-1], UTC)
    taken = statistics.median(
        timed(lambda: parse_workout_stream(body, now=now)) for _ in range(rounds)
    )
    stream = parse_workout_stream(body, now=now)
    values = sum(map(len, body.values()))
    back = timed(gzip.decompress, stream.content)
    print(
        f"stream of an hour at 1 Hz, {len(body)} channels: {len(stream.content)} B,"
        f" {len(stream.content) / values:.2f} B a value; read in {taken:.1f} ms,"
        f" unpacked in {back:.1f} ms"
    )


def ride(seconds: int) -> dict[str, list[Any]]:
    """A made-up ride, with the digits that sensors give."""
    dice = Random(SEED)  # noqa: S311 - made-up data, no secret
    now = int(datetime(2026, 1, 31, 8, tzinfo=UTC).timestamp())
    rate, speed, height, power, far, lat, lng = 120, 7.0, 200.0, 200.0, 0.0, 47.1, 8.2
    points = []
    for second in range(seconds):
        rate = min(190, max(80, rate + dice.choice((-1, 0, 0, 0, 1))))
        speed = max(0.0, speed + dice.gauss(0, 0.2))
        height += dice.gauss(0, 0.3)
        power = max(0.0, power + dice.gauss(0, 20))
        far += speed
        lat, lng = lat + dice.gauss(3e-5, 1e-5), lng + dice.gauss(3e-5, 1e-5)
        points.append(
            (
                *(now + second, rate, dice.randint(80, 95), round(height, 1)),
                *(round(speed, 2), round(lat, 6), round(lng, 6), round(far, 1)),
                *(int(power), 21),
            )
        )
    names = "time heartrate cadence altitude velocity_smooth lat lng distance".split()
    names += ["power", "temperature"]
    return dict(zip(names, map(list, zip(*points, strict=True)), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with database():
        measure_aggregates(fill(), options.rounds)
        measure_streams(options.rounds)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {used:.0f} MB")


if __name__ == "__main__":
    main()
