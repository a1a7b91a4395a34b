"""What retention costs at a million old rows of each class: the preview, and each step.

Run `python -m tests.bench.retention [--rows N] [--steps N] [--only CLASS]`. Of each
class as many young rows as old ones lie between them. Prints what the preview takes,
then the median and the slowest of the first steps of the nightly deletion, which each
commit, and what all of it would take at that rate. Must: a step within 2 s.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Callable

MUST_SECONDS = 2.0
USERS = 2_000
RESULTS = 5
# Every other row is too old; keys are in no order of time.
AT = (
    "now() - CASE WHEN mod(n, 2) = 0 THEN interval '900 days' ELSE interval '1 day' END"
)

_SAMPLES = """
    INSERT INTO users_sample
        (ts, user_id, value, origin, tz_offset, duration, series, feed)
    SELECT %s::timestamptz + n * interval '1 second', person, 60, 0, 0, 0, 1, 1
    FROM unnest(%s::bigint[]) person, generate_series(1, %s) n
"""


def key(of: str) -> str:
    """An id of a uuid's form that rows of other tables can name too."""
    return f"md5('{of}' || n)::uuid"


def copies(row: Any, number: int, each: int = 1, **given: str) -> None:
    """Copy a row `number` times `each`; `given` are SQL of `n` and `m`, by column."""
    from django.db import connection, models

    fields = row._meta.concrete_fields
    columns = {
        field.column: given.get(field.column, f"source.{field.column}")
        for field in fields
        if not isinstance(field, models.AutoField) or field.column in given
    }
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {row._meta.db_table} ({', '.join(columns)})"  # noqa: S608 - ours
            f" SELECT {', '.join(columns.values())} FROM {row._meta.db_table} source,"
            " generate_series(1, %s) n, generate_series(1, %s) m"
            f" WHERE source.{row._meta.pk.column} = %s",
            [number, each, row.pk],
        )


def plant(user: Any, users: list[int]) -> dict[str, Callable[[int], None]]:
    """What fills each class with rows like those of a user, over all `users`."""
    from accounts.models import ApiCall
    from accounts.webhooks.models import Attempt, Delivery, Event
    from labs.models import (
        InboundMessage,
        InboundReport,
        Order,
        OrderEvent,
        OrderTransaction,
        Result,
        ResultVersion,
    )
    from reports.models import ParsingJob, ReportFile, ReportResult
    from tests.canaries import Planter
    from users.models import Summary

    planter = Planter(user, "bench")
    planter.plant_all()
    rows = planter.rows
    anybody = f"(ARRAY{users}::bigint[])[1 + mod(n, {USERS})]"
    far = "1000000 + n"

    def calls(number: int) -> None:
        copies(rows[ApiCall], number, at=AT)

    def events(number: int) -> None:
        log = {"status": "'delivered'", "created_at": AT}
        copies(rows[Event], number, id=far, message_id="'m' || n", created_at=AT)
        copies(rows[Delivery], number, id=far, event_id=far, **log)
        copies(rows[Attempt], number, delivery_id=far)

    def samples(number: int) -> None:
        from users.store.partitions import ensure_partitions_for_batch

        old = planter.user.created_on - timedelta(days=900)
        ensure_partitions_for_batch(old, old + timedelta(days=31))
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute(_SAMPLES, [old, users, number // USERS])

    def summaries(number: int) -> None:
        days = dict.fromkeys(("calendar_date", "last_date"), f"({AT})::date")
        copies(
            rows[Summary], number, id=key("s"), user_id=anybody, starts_at=AT, **days
        )

    def messages(number: int) -> None:
        of = {
            "id": key("m"),
            "received_at": AT,
            "status": "'taken'",
            "order_id": "NULL",
        }
        copies(rows[InboundMessage], number, digest="md5('' || n)", **of)
        copies(
            rows[InboundReport],
            number,
            id=key("r"),
            message_id=key("m"),
            status="'matched'",
        )

    def orders(number: int) -> None:
        done = "'completed.walk_in_test.completed'"
        mine = {"user_id": anybody, "created_at": AT}
        copies(rows[OrderTransaction], number, id=key("t"), **mine)
        copies(
            rows[Order],
            number,
            id=key("o"),
            transaction_id=key("t"),
            sample_id="'B' || n",
            status=done,
            updated_at=AT,
            **mine,
        )
        copies(rows[OrderEvent], number, 3, order_id=key("o"))
        copies(rows[ResultVersion], number, id=far, order_id=key("o"))
        copies(rows[Result], number, RESULTS, version_id=far, position="m")
        copies(
            rows[InboundMessage],
            number,
            id=key("p"),
            digest="md5('p' || n)",
            status="'taken'",
            order_id="NULL",
        )
        copies(
            rows[InboundReport],
            number,
            id=key("q"),
            message_id=key("p"),
            order_id=key("o"),
            status="'matched'",
        )

    def reports(number: int) -> None:
        ended = {"status": "'completed'", "finished_at": AT, "user_id": anybody}
        copies(rows[ParsingJob], number, id=key("j"), **ended)
        copies(rows[ReportFile], number, job_id=key("j"), stored_as="'bench/' || n")
        copies(
            rows[ReportResult],
            number,
            RESULTS,
            job_id=key("j"),
            version="0",
            position="m",
        )

    return {
        "api_calls": calls,
        "events": events,
        "samples": samples,
        "summaries": summaries,
        "lab_messages": messages,
        "orders": orders,
        "reports": reports,
    }


def steps_of(name: str, data_class: Any, tenant: Any, before: Any) -> Any:
    """The steps that remove a class; events go by their own job, whole."""
    if data_class.remove is not None:
        return data_class.remove(tenant, before)
    from accounts.webhooks.operations.retention import delete_events_past_retention

    assert name == "events"
    return iter([delete_events_past_retention()])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="old ones")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    slowest = 0.0
    with database():
        from django.db import connection
        from django.utils import timezone

        from accounts.declarations.data_classes import load_data_classes
        from tests.factories.accounts import make_tenant
        from tests.factories.users import make_user

        tenant = make_tenant(environment="production")
        user = make_user(tenant=tenant)
        copies(user, USERS, uuid="gen_random_uuid()", client_user_id="'u' || n")
        with connection.cursor() as cursor:
            cursor.execute("SELECT array_agg(id) FROM users_user")
            (users,) = cursor.fetchone()
        fills = plant(user, users)
        known = load_data_classes()
        before = timezone.now() - timedelta(days=400)
        print(f"{'fill s':>8} {'preview ms':>10} {'step ms':>8} {'slowest':>8}  class")
        for name, fill in fills.items():
            if given.only and name != given.only:
                continue
            start = time.perf_counter()
            fill(given.rows * (1 if name == "samples" else 2))
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE")
            filled = time.perf_counter() - start
            start = time.perf_counter()
            aged = known[name].count(tenant, before)
            preview = time.perf_counter() - start
            assert aged.number > 0, name
            times, removed = [], 0
            start = time.perf_counter()
            for number in steps_of(name, known[name], tenant, before):
                times.append(time.perf_counter() - start)
                removed += number
                if len(times) == given.steps:
                    break
                start = time.perf_counter()
            rate = removed / sum(times)
            slowest = max(slowest, *times) if name != "events" else slowest
            print(
                f"{filled:8.0f} {preview * 1000:10.0f}"
                f" {statistics.median(times) * 1000:8.0f} {max(times) * 1000:8.0f}"
                f"  {name}: {removed} in {len(times)} steps, {rate:.0f} a second,"
                f" {given.rows / rate / 60:.0f} min for all",
                flush=True,
            )
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return int(slowest > MUST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
