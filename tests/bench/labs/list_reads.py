"""Lists of the API at 200 000 orders of 40 000 users, against a bare driver.

Run `python -m tests.bench.labs.list_reads [--orders N] [--rounds N]`. The limit is
psycopg's binary rows of the list's own table, for the IDs that were answered, and the
answer encoded by orjson: no key, no audit, no total, no related row. CPU is of this
process and its database connection; rounds take turns. Must (performance.md section 1):
`GET /v3/orders` 10 ms of CPU. A hundredth of the users are deleted.
"""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import orjson

from tests.bench.labs.order_list import fill, settle
from tests.bench.stage import backend_seconds, database

if TYPE_CHECKING:
    from collections.abc import Callable

MUST_MS = 10.0
# What a list is called, its path, its table with the key that an answer's rows name.
LISTS = {
    "orders": ("/v3/orders", "orders", "labs_order", "id"),
    "orders, page 100": ("/v3/orders?page=100", "orders", "labs_order", "id"),
    "orders, completed": (
        *("/v3/orders?status=completed", "orders", "labs_order", "id"),
    ),
    "users": ("/v2/user?limit=50", "users", "users_user", "uuid"),
}


def bare(answer: Any, name: str, table: str, key: str) -> Callable[[], None]:
    """What a driver and an encoder need for the same rows."""
    from portal.lib.database.rows import fetch_rows

    query = f"SELECT * FROM {table} WHERE {key} = ANY(%s::uuid[])"  # noqa: S608 - ours
    kept = [row.get("id", row.get("user_id")) for row in answer[name]]

    def call() -> None:
        assert len(fetch_rows(query, [kept])) == len(kept)
        orjson.dumps(answer)

    return call


def measure(*, orders: int, rounds: int) -> float:
    with database():
        from django.db import connection

        from labs.operations.catalogue.reference_data import install_reference_data
        from tests.clients import ApiClient
        from tests.factories.accounts import make_api_key, make_team, make_tenant
        from tests.factories.labs import make_lab_account, make_lab_test

        install_reference_data()
        tenant = make_tenant(team=make_team("Lists"))
        panels = [make_lab_test(tenant=tenant) for _ in range(2)]
        account = make_lab_account(tenant=tenant, lab=panels[0].lab)
        fill(tenant, orders, panels, account)
        settle()
        with connection.cursor() as cursor:
            # What a parallel worker does would not be counted.
            cursor.execute("SET max_parallel_workers_per_gather = 0")
            cursor.execute("SELECT pg_backend_pid()")
            (server,) = cursor.fetchone()

        def spent(call: Callable[[], object]) -> float:
            before = time.process_time() + backend_seconds([server])
            call()
            return (time.process_time() + backend_seconds([server]) - before) * 1000

        api, calls = ApiClient(make_api_key(tenant=tenant)), {}
        for name, (path, *place) in LISTS.items():
            reply = api.get(path)
            assert reply.status_code == 200, reply.content

            def ours(path: str = path) -> None:
                assert api.get(path).status_code == 200

            calls[name] = (ours, bare(orjson.loads(reply.content), *place))
        costs: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
        for _ in range(10):  # as many as make PostgreSQL keep a plan
            for both in calls.values():
                for call in both:
                    call()
        gc.collect()
        gc.freeze()  # as a web process does
        for _ in range(rounds):
            for name, (ours, limit) in calls.items():
                costs[name].append((spent(ours), spent(limit)))
    print(f"{'ours ms':>8} {'least':>6} {'limit ms':>8} {'ratio':>6}  CPU of a list")
    for name, rows in costs.items():
        own, limits = zip(*rows, strict=True)
        ratio = statistics.median(one / limit for one, limit in rows)
        print(
            f"{statistics.median(own):8.2f} {min(own):6.2f}"
            f" {statistics.median(limits):8.2f} {ratio:6.1f}  {name}"
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process {memory:.0f} MB")
    return statistics.median(one for one, _ in costs["orders"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    taken = measure(orders=options.orders, rounds=options.rounds)
    print(f"GET /v3/orders {taken:.2f} ms of CPU, must be at most {MUST_MS:.0f} ms")
    return int(taken > MUST_MS)


if __name__ == "__main__":
    sys.exit(main())
