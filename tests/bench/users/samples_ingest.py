"""Samples taken in over HTTP by two workers, against a bare driver in the same run.

Run `python -m tests.bench.users.samples_ingest [--samples N] [--rounds N]`. The limit
is psycopg: the same samples by binary COPY into a temporary table and one guarded
upsert into the same table, on as many connections as there are workers. Rounds take
turns; each ratio is a median over the rounds. Must (performance.md section 1), by CPU:
0.6 of the limit at 1 000 samples a call, 0.65 at 10 000; a re-sent upload 1.2 times as
fast as a fresh one, with no event. CPU is of the server and its database backends
(ours), of the driver's process and its (limit); it tells more than the clock on a busy
machine. The store is also measured alone, on one connection: there its CPU is what
compares. "Duties" is the limit that also reads the JSON that was sent, looks at each
kind and bound, locks the user, and leaves an event, an audit entry and an arrival: what
the contract asks of a push, by a script of this file that knows one resource.
"""

from __future__ import annotations

import argparse
import http.client
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import psycopg

from tests.bench.stage import backend_seconds, database, other_backends, served

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.bench.stage import Served

WORKERS = 2
MUST = {1_000: 0.6, 10_000: 0.65}
AGAIN_MUST = 1.2
START = datetime(2026, 6, 1, tzinfo=UTC)
STEP = timedelta(seconds=30)
_TEMPORARY = """
    CREATE TEMPORARY TABLE given (
        user_id bigint, series smallint, feed smallint, ts timestamptz,
        value float8, tz_offset integer, duration integer, origin integer
    ) ON COMMIT DROP
"""
_TYPES = ["int8", "int2", "int2", "timestamptz", "float8", "int4", "int4", "int4"]
_UPSERT = """
    INSERT INTO users_sample AS kept (
        user_id, series, feed, ts, value, tz_offset, duration, origin
    )
    SELECT * FROM given
    ON CONFLICT (user_id, series, feed, ts) DO UPDATE SET
        value = excluded.value, tz_offset = excluded.tz_offset,
        duration = excluded.duration, origin = excluded.origin
    WHERE (kept.value, kept.tz_offset, kept.duration, kept.origin)
        IS DISTINCT FROM
        (excluded.value, excluded.tz_offset, excluded.duration, excluded.origin)
"""
_LOCK = "SELECT 1 FROM users_user WHERE id = %s FOR UPDATE"
_ARRIVE = """
    INSERT INTO users_arrival (tenant_id, user_id, provider, resource, at, received,
        created, updated, dropped)
    VALUES (%s, %s, 'oura', 'bench', now(), %s, %s, 0, 0)
"""
_AUDIT = """
    INSERT INTO accounts_auditentry (tenant_id, at, verb, subject, subject_id,
        user_uuid, actor_kind, actor_key, actor_label, address, changes, request_id)
    VALUES (%s, now(), 'record_samples', 'bench', 'oura', %s, 'system', '', '', NULL,
        '{}', '')
"""
_EVENT = """
    INSERT INTO webhooks_event (tenant_id, message_id, event_type, user_uuid,
        client_user_id, body, created_at)
    VALUES (%s, gen_random_uuid(), 'bench', %s, '', %s, now())
"""
_EVENT_SAMPLES = 1_000


class Cost(NamedTuple):
    """Samples a second by the clock, and microseconds of CPU for one."""

    rate: float
    cpu: float


class Person(NamedTuple):
    """A user by its key and its id of the API."""

    pk: int
    uuid: str


def values(number: int, call: int) -> list[tuple[datetime, float]]:
    first = START + call * number * STEP
    return [
        (first + index * STEP, float(60 + (index * 7 + call) % 90))
        for index in range(number)
    ]


def body(number: int, call: int) -> bytes:
    samples = [
        {"timestamp": moment, "timezone_offset": 3600, "value": value}
        for moment, value in values(number, call)
    ]
    return orjson.dumps({"provider": "oura", "source_type": "ring", "data": samples})


def timed(
    jobs: Sequence[Callable[[], object]], number: int, cpu_seconds: Callable[[], float]
) -> Cost:
    """Run all jobs at once; `number` is of their samples together."""
    cpu, start = cpu_seconds(), time.perf_counter()
    with ThreadPoolExecutor(len(jobs)) as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result()
    taken = time.perf_counter() - start
    return Cost(number / taken, (cpu_seconds() - cpu) / number * 1e6)


def upload(port: int, key: str, person: Person, bodies: Sequence[bytes]) -> int:
    """Send bodies over one connection kept open; returns how many were new."""
    client = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"x-service-api-key": key, "Content-Type": "application/json"}
    created = 0
    for each in bodies:
        path = f"/v2/timeseries/{person.uuid}/heartrate"
        client.request("POST", path, each, headers)
        reply = client.getresponse()
        answer = orjson.loads(reply.read())
        assert reply.status == 200, answer
        assert answer["updated"] == answer["dropped"] == 0, answer
        created += answer["created"]
    client.close()
    return created


def copy(
    connection: psycopg.Connection[Any],
    person: Person,
    batches: Sequence[Sequence[tuple[datetime, float]]],
) -> None:
    for batch in batches:
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute(_TEMPORARY)
            with cursor.copy("COPY given FROM STDIN (FORMAT BINARY)") as writer:
                writer.set_types(_TYPES)
                for moment, value in batch:
                    writer.write_row((person.pk, 9_999, 1, moment, value, 3600, 0, 0))
            cursor.execute(_UPSERT)


def copy_with_duties(
    connection: psycopg.Connection[Any],
    tenant: int,
    person: Person,
    bodies: Sequence[bytes],
) -> None:
    """Do what a push has to, for this one resource."""
    for body in bodies:
        samples = orjson.loads(body)["data"]
        assert set(map(type, samples)) == {dict}
        texts = [sample["timestamp"] for sample in samples]
        numbers = [sample["value"] for sample in samples]
        offsets = [sample["timezone_offset"] for sample in samples]
        assert set(map(type, texts)) == {str}
        assert set(map(type, numbers)) <= {int, float}
        assert set(map(type, offsets)) == {int}
        assert -64_800 <= min(offsets) <= max(offsets) <= 64_800
        assert 0 <= min(numbers) <= max(numbers) <= 400
        moments = list(map(datetime.fromisoformat, texts))
        assert START <= min(moments) <= max(moments) <= START + timedelta(days=9_999)
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute(_LOCK, [person.pk])
            cursor.execute(_TEMPORARY)
            with cursor.copy("COPY given FROM STDIN (FORMAT BINARY)") as writer:
                writer.set_types(_TYPES)
                for row in zip(moments, numbers, offsets, strict=True):
                    writer.write_row((person.pk, 9_997, 1, *row, 0, 0))
            cursor.execute(_UPSERT)
            number = len(samples)
            cursor.execute(_ARRIVE, [tenant, person.pk, number, cursor.rowcount])
            cursor.execute(_AUDIT, [tenant, person.uuid])
            for first in range(0, number, _EVENT_SAMPLES):
                rows = slice(first, first + _EVENT_SAMPLES)
                data = [
                    {
                        "timestamp": moment,
                        "timezone_offset": offset,
                        "type": None,
                        "unit": "bpm",
                        "value": value,
                    }
                    for moment, offset, value in zip(
                        moments[rows], offsets[rows], numbers[rows], strict=True
                    )
                ]
                event = orjson.dumps({"event_type": "bench", "data": {"data": data}})
                cursor.execute(_EVENT, [tenant, person.uuid, event.decode()])


class Bench:
    """One server, as many bare connections as it has workers, and users to fill."""

    def __init__(self, server: Served, url: str) -> None:
        from tests.factories.accounts import make_api_key, make_tenant

        self.server = server
        self.tenant = make_tenant(environment="production")
        self.key = make_api_key(tenant=self.tenant)
        self.bare = [psycopg.connect(url, autocommit=True) for _ in range(WORKERS)]
        for each in self.bare:
            each.execute("SET assay.tenant = '*'")  # as the owner of the tables
        self.bare_pids = [each.info.backend_pid for each in self.bare]

    def people(self) -> list[Person]:
        from tests.factories.users import make_user

        made = [make_user(tenant=self.tenant) for _ in range(WORKERS)]
        return [Person(each.pk, str(each.uuid)) for each in made]

    def ours(self, people: Sequence[Person], bodies: Sequence[bytes], new: int) -> Cost:
        """Each of the people gets all bodies; `new` samples are new in each."""

        def job(person: Person) -> None:
            created = upload(self.server.port, self.key, person, bodies)
            assert created in (0, new), created

        return timed(
            [partial(job, person) for person in people],
            new * len(people),
            lambda: (
                self.server.cpu_seconds()
                + backend_seconds(other_backends(*self.bare_pids))
            ),
        )

    def limit(self, people: Sequence[Person], calls: int, number: int) -> Cost:
        batches = [values(number, call) for call in range(calls)]
        return timed(
            [
                partial(copy, connection, person, batches)
                for connection, person in zip(self.bare, people, strict=True)
            ],
            calls * number * len(people),
            lambda: time.process_time() + backend_seconds(self.bare_pids),
        )

    def duties(
        self, people: Sequence[Person], bodies: Sequence[bytes], number: int
    ) -> Cost:
        return timed(
            [
                partial(copy_with_duties, connection, self.tenant.pk, person, bodies)
                for connection, person in zip(self.bare, people, strict=True)
            ],
            number * len(people),
            lambda: time.process_time() + backend_seconds(self.bare_pids),
        )

    def store(self, people: Sequence[Person], calls: int, number: int) -> Cost:
        """The store alone, in this process and on one connection."""
        from django.db import transaction

        from portal.lib.database import rows
        from users.store.columns import SampleColumns
        from users.store.samples import get_sample_store

        batches = [
            SampleColumns(
                series=[9_998] * number,
                ts=[moment for moment, _ in values(number, call)],
                value=[value for _, value in values(number, call)],
                tz_offset=[3600] * number,
                duration=[0] * number,
                origin=[0] * number,
            )
            for call in range(calls)
        ]

        def write() -> None:
            for person in people:
                for columns in batches:
                    with transaction.atomic():
                        get_sample_store().write_batch(
                            user_id=person.pk, feed=1, columns=columns
                        )

        ((pid,),) = rows.fetch_rows("SELECT pg_backend_pid()")
        cpu, start = time.process_time() + backend_seconds([pid]), time.perf_counter()
        write()
        cpu = time.process_time() + backend_seconds([pid]) - cpu
        written = calls * number * len(people)
        return Cost(written / (time.perf_counter() - start), cpu / written * 1e6)


def count_events() -> int:
    from accounts.webhooks.models import Event

    return Event.unscoped.count()


def measure(*, samples: int, rounds: int) -> None:
    with (
        database() as url,
        served(url, workers=WORKERS) as server,
    ):
        bench = Bench(server, url)
        bodies = [body(1_000, call) for call in range(5)]
        for _ in range(2):  # every worker has served, and connected
            bench.ours(bench.people(), bodies, 5_000)
        print(
            f"{'a call':>8} {'':10} {'samples/s':>10} {'CPU us':>8}"
            f" {'of limit':>9} {'by CPU':>7}"
        )
        for number, must in MUST.items():
            compare(bench, number, max(1, samples // number), rounds, must)
        print(f"server memory {server.resident_megabytes():.0f} MB")
        for each in bench.bare:
            each.close()


def compare(bench: Bench, number: int, calls: int, rounds: int, must: float) -> None:
    bodies = [body(number, call) for call in range(calls)]
    new = number * calls
    costs: dict[str, list[Cost]] = {
        name: [] for name in ("limit", "duties", "store", "fresh", "re-sent")
    }
    for _ in range(rounds):
        people = bench.people()
        costs["limit"].append(bench.limit(people, calls, number))
        costs["duties"].append(bench.duties(people, bodies, new))
        costs["store"].append(bench.store(people, calls, number))
        costs["fresh"].append(bench.ours(people, bodies, new))
        before = count_events()
        costs["re-sent"].append(bench.ours(people, bodies, new))
        assert count_events() == before, "an equal sample made an event"
    for name, rows in costs.items():
        pairs = list(zip(rows, costs["limit"], strict=True))
        rate = statistics.median(row.rate / limit.rate for row, limit in pairs)
        cpu = statistics.median(limit.cpu / row.cpu for row, limit in pairs)
        print(
            f"{number:8} {name:10} {statistics.median(r.rate for r in rows):10.0f}"
            f" {statistics.median(r.cpu for r in rows):8.2f} {rate:9.2f} {cpu:7.2f}"
        )
    again = statistics.median(
        row.rate / fresh.rate
        for row, fresh in zip(costs["re-sent"], costs["fresh"], strict=True)
    )
    dutiful = statistics.median(
        limit.cpu / row.cpu
        for row, limit in zip(costs["fresh"], costs["duties"], strict=True)
    )
    print(f"{'':8} fresh is {dutiful:.2f} of duties by CPU")
    print(
        f"{'':8} must be at least {must} by CPU;"
        f" re-sent / fresh {again:.2f}, must {AGAIN_MUST}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    measure(samples=options.samples, rounds=options.rounds)


if __name__ == "__main__":
    main()
