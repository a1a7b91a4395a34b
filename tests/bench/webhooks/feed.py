"""Pages of the event feed, at its beginning, in its middle and at its end.

Run `python -m tests.bench.webhooks.feed [--events N]`. Must (performance 5): a page
costs the same wherever it is and however many events there are. Each line is the median
of `list_event_feed` for 500 events; `emit` is one event of that size with one endpoint.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 500
BODY_BYTES = 1_000
SMALL = 2_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    with database():
        run(asked.events, asked.rounds)


def run(events: int, rounds: int) -> None:
    """Fill two tenants, and measure."""
    from accounts.webhooks.feed import list_event_feed
    from tests.factories.accounts import make_tenant
    from tests.factories.webhooks import make_endpoint, make_event

    small, large = make_tenant(), make_tenant()
    for tenant, number in ((small, SMALL), (large, events)):
        fill(tenant, number)
    make_endpoint(tenant=large)
    base = median(rounds, lambda: list_event_feed(tenant=small, after=0, limit=LIMIT))
    print(f"small feed        {base:7.2f} ms")
    for name, share in (("beginning", 0.0), ("middle", 0.5), ("end", 1.0)):
        after = SMALL + int(share * (events - LIMIT))
        took = median(
            rounds,
            lambda after=after: list_event_feed(tenant=large, after=after, limit=LIMIT),
        )
        print(f"{name:10}        {took:7.2f} ms   {took / base:5.2f} of small")
    rare = ["provider.connection.created"]
    took = median(
        rounds, lambda: list_event_feed(tenant=large, after=0, limit=LIMIT, types=rare)
    )
    print(f"none of a type    {took:7.2f} ms")
    data = {"text": "x" * BODY_BYTES}
    took = median(rounds * 10, lambda: make_event(tenant=large, data=data))
    print(f"emit              {took:7.2f} ms   must be under 2")


def fill(tenant: Any, number: int) -> None:
    """Events of one type."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO webhooks_event (tenant_id, message_id, event_type, user_uuid,"
            " client_user_id, body, created_at) SELECT %s, 'msg_' || gen_random_uuid(),"
            " 'lab_report.parsing_job.created', %s, 'mbr_1', repeat('x', %s), now()"
            " FROM generate_series(1, %s)",
            [tenant.pk, uuid4(), BODY_BYTES, number],
        )
        cursor.execute("ANALYZE webhooks_event")


def median(rounds: int, work: Callable[[], object]) -> float:
    """Milliseconds."""
    work()
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


if __name__ == "__main__":
    main()
