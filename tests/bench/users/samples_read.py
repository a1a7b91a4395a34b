"""A week of minute heart rate read over HTTP, against a bare driver in the same run.

Run `python -m tests.bench.users.samples_read [--rounds N]`. The limit is psycopg's
rows, binary, made dictionaries and then JSON by orjson. CPU is of the server and its
database backend (ours), of this process and its (limit); rounds take turns and the
ratio is a median over them. Must (performance.md section 1): one call for all at most
1.4, in pages of 1 000 at most 2.5. The samples arrived as a trickle: each minute of all
users together.
"""

from __future__ import annotations

import argparse
import http.client
import statistics
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
import psycopg

from tests.bench.stage import backend_seconds, database, other_backends, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.stage import Served

MUST, PAGES_MUST, AIM = 1.4, 2.5, 1.1
SAMPLES = 7 * 24 * 60
PAGE = 1000
TIMES = 5  # calls in a round
NEIGHBOURS = 20
START = datetime(2026, 6, 1, tzinfo=UTC)
END = START + timedelta(minutes=SAMPLES)
_TRICKLE = """
    INSERT INTO users_sample
        (ts, user_id, value, origin, tz_offset, duration, series, feed)
    SELECT minute, person, 50 + random() * 100, 0, 3600, 0, %s, %s
    FROM generate_series(%s::timestamptz, %s, interval '1 minute') minute,
        unnest(%s::bigint[]) person
"""
_LIMIT = """
    SELECT ts, value, tz_offset FROM users_sample
    WHERE user_id = %s AND series = %s AND feed = %s AND ts >= %s AND ts < %s
    ORDER BY ts
"""


def fill() -> tuple[Any, str, int]:
    """Users with a week and a day each; the one to read, its key, its series."""
    from django.db import connection, transaction

    from tests.factories.accounts import make_api_key, make_tenant
    from tests.factories.users import make_user
    from users.store.dictionaries import get_or_create_feed_number
    from users.wearables.timeseries import TIMESERIES

    tenant = make_tenant(environment="production")
    people = [make_user(tenant=tenant) for _ in range(NEIGHBOURS)]
    (series,) = TIMESERIES["heartrate"].series
    with transaction.atomic(), connection.cursor() as cursor:
        feed = get_or_create_feed_number(
            tenant=tenant, provider="oura", source_type="ring"
        )
        assert feed == 1
        keys = [person.pk for person in people]
        last = END + timedelta(days=1)
        cursor.execute(_TRICKLE, [series, feed, START, last, keys])
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE users_sample")  # as autovacuum in its own time
    return people[NEIGHBOURS // 2], make_api_key(tenant=tenant), series


def over_http(server: Served, person: Any, key: str, page: int) -> Callable[[], int]:
    client = http.client.HTTPConnection("127.0.0.1", server.port)
    end = (END - timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = (
        f"/v2/timeseries/{person.uuid}/heartrate/grouped"
        f"?start_date={START:%Y-%m-%dT%H:%M:%SZ}&end_date={end}&limit={page}"
    )

    def read() -> int:
        cursor, number = None, 0
        while True:
            further = f"&next_cursor={cursor}" if cursor else ""
            client.request("GET", path + further, headers={"x-service-api-key": key})
            reply = client.getresponse()
            answer = reply.read()
            assert reply.status == 200, answer
            number += answer.count(b'"timestamp"')
            # Parsing all of it would cost this machine what is to be measured.
            cursor = orjson.loads(answer)["next_cursor"] if page < SAMPLES else None
            if cursor is None:
                return number

    return read


def bare(connection: psycopg.Connection[Any], person: Any, series: int) -> int:
    with connection.cursor(binary=True) as cursor:
        cursor.execute(_LIMIT, [person.pk, series, 1, START, END])
        samples = [
            {
                "timestamp": ts,
                "timezone_offset": tz_offset,
                "type": None,
                "unit": "bpm",
                "value": value,
            }
            for ts, value, tz_offset in cursor.fetchall()
        ]
    orjson.dumps(samples)
    return len(samples)


def cost(read: Callable[[], int], cpu_seconds: Callable[[], float]) -> float:
    """Milliseconds of CPU for one read of all samples."""
    before = cpu_seconds()
    for _ in range(TIMES):
        assert read() == SAMPLES
    return (cpu_seconds() - before) / TIMES * 1000


def measure(*, rounds: int) -> None:
    with database() as url:
        person, key, series = fill()
        with (
            psycopg.connect(url, autocommit=True) as limit,
            served(url) as server,
        ):
            limit.execute("SET TIME ZONE 'UTC'")
            limit.execute("SET assay.tenant = '*'")  # as the owner of the tables
            pid = limit.info.backend_pid

            def ours_seconds() -> float:
                return server.cpu_seconds() + backend_seconds(other_backends(pid))

            def limit_seconds() -> float:
                return time.process_time() + backend_seconds([pid])

            reads = {
                "psycopg rows and orjson": (
                    lambda: bare(limit, person, series),
                    limit_seconds,
                ),
                "one call": (over_http(server, person, key, SAMPLES), ours_seconds),
                f"pages of {PAGE}": (
                    over_http(server, person, key, PAGE),
                    ours_seconds,
                ),
            }
            for read, seconds in reads.values():
                cost(read, seconds)
            costs: dict[str, list[float]] = {name: [] for name in reads}
            for _ in range(rounds):
                for name, (read, seconds) in reads.items():
                    costs[name].append(cost(read, seconds))
            memory = server.resident_megabytes()
    floor = costs["psycopg rows and orjson"]
    print(f"{SAMPLES} samples {'CPU ms':>16} {'ratio':>6}")
    for name, rows in costs.items():
        ratio = statistics.median(a / b for a, b in zip(rows, floor, strict=True))
        print(f"{name:24} {statistics.median(rows):7.2f} {ratio:6.2f}")
    print(f"must be at most {MUST}, in pages {PAGES_MUST}, aim {AIM}")
    print(f"server memory {memory:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    measure(rounds=options.rounds)


if __name__ == "__main__":
    main()
