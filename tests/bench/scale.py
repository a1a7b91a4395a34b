"""Main pages and calls of one big team: p50 and p95 of whole requests, and disk use.

Run `python -m tests.bench.scale [--part 0.01] [--rounds N]`. All in one environment of
one team: 10 000 users, 100 million samples (heart rate every five minutes, arrived day
by day), 1 million deliveries, 200 000 orders with 800 000 results; `--part` scales all
of it, each has an option of its own too. The whole takes some 25 GB below the folder of
the bundled PostgreSQL, and half an hour to fill; a hundredth, seconds. Each round asks
about another user, order and day, in random order by a fixed seed, so that caches help
as little as in life. Must (issue "Run it for real"): the figures, for
docs/explanation/scale.md; at most 150 ms of CPU time each, of web process and database
together.
"""

from __future__ import annotations

import argparse
import gc
import logging
import random
import resource
import statistics
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.bench.labs import order_list
from tests.bench.stage import backend_seconds, database
from tests.bench.users import user_list
from tests.bench.webhooks import log as webhook_log

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES_PER_DAY = 24 * 60 // 5
END = datetime(2026, 11, 20, tzinfo=UTC)
MUST_MS = 150.0
RESULTS_PER_ORDER = 5
DRAWN = 500  # users, orders and deliveries that rounds choose from
_DAY = """
    INSERT INTO users_sample
        (ts, user_id, value, origin, tz_offset, duration, series, feed)
    SELECT minute, person.id, 50 + random() * 100, 0, 3600, 0, %s, %s
    FROM generate_series(%s::timestamptz, %s - interval '5 minutes',
            interval '5 minutes') minute, users_user person
    WHERE person.tenant_id = %s
"""
_SIZES = """
    SELECT coalesce(i.inhparent, c.oid)::regclass::text AS name,
        sum(pg_total_relation_size(c.oid))::float8 AS size,
        sum(greatest(c.reltuples, 0))::float8
    FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE c.relkind IN ('r', 'm') AND c.relnamespace = 'public'::regnamespace
    GROUP BY 1 ORDER BY size DESC LIMIT 10
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything; `days` of samples follow from it."""

    users: int
    samples: int
    deliveries: int
    orders: int

    @property
    def days(self) -> int:
        return -(-self.samples // (self.users * SAMPLES_PER_DAY))  # whole days, up


def report(what: str, began: float) -> None:
    print(f"{time.perf_counter() - began:8.0f} s  {what}", flush=True)


def fill_samples(tenant: Any, days: int) -> None:
    """Each user's heart rate, a statement for each day, as days come."""
    from django.db import connection, transaction

    from users.store.dictionaries import get_or_create_feed_number
    from users.store.partitions import ensure_sample_partitions
    from users.wearables.timeseries import TIMESERIES

    (series,) = TIMESERIES["heartrate"].series
    first = END - timedelta(days=days)
    ensure_sample_partitions(first.date(), END.date())
    with transaction.atomic():
        feed = get_or_create_feed_number(
            tenant=tenant, provider="oura", source_type="ring"
        )
    for number in range(days):
        day = first + timedelta(days=number)
        with connection.cursor() as cursor:
            cursor.execute(
                _DAY, [series, feed, day, day + timedelta(days=1), tenant.pk]
            )


def fill_results(tenant: Any) -> None:
    """A current version with results, for orders that are completed."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO labs_resultversion (tenant_id, order_id, number, is_current,"
            " status, is_correction, interpretation, has_new_critical, laboratory,"
            " clia_number, reported_at, created_at, actor_kind, actor_label)"
            " SELECT tenant_id, id, 1, true, 'final', false, interpretation, false,"
            " '', '', updated_at, updated_at, 'system', '' FROM labs_order"
            " WHERE tenant_id = %s AND interpretation <> '' AND NOT EXISTS ("
            "SELECT FROM labs_resultversion v WHERE v.order_id = labs_order.id)",
            [tenant.pk],
        )
        cursor.execute(
            "INSERT INTO labs_result (tenant_id, version_id, position, name, slug,"
            " type, result, value, unit, reported_at, is_preliminary, notes,"
            " reference_range, min_range_value, max_range_value, interpretation,"
            " source_interpretation, loinc, loinc_slug, provider_id, sub_id,"
            " performing_laboratory, source_sample_id, source_markers)"
            " SELECT tenant_id, id, n, 'Marker ' || n, 'marker-' || n, 'numeric',"
            " (60 + n)::text, 60 + n, 'mg/dL', reported_at, false, '', '65-99', 65,"
            " 99, 'normal', '', '2345-7', 'glucose', n::text, '', '', '', '[]'"
            " FROM labs_resultversion, generate_series(1, %s) n WHERE tenant_id = %s"
            " AND NOT EXISTS (SELECT FROM labs_result r"
            " WHERE r.version_id = labs_resultversion.id)",
            [RESULTS_PER_ORDER, tenant.pk],
        )


def settle() -> None:
    """What autovacuum does in its own time: index-only reads need it."""
    from django.db import connection

    user_list.settle()
    order_list.settle()
    with connection.cursor() as cursor:
        for table in ("labs_resultversion", "labs_result", "users_sample"):
            cursor.execute(f"VACUUM ANALYZE {table}")


def fill(size: Size) -> tuple[Any, Any]:
    """One team's production and its endpoint, filled."""
    from accounts.webhooks.catalogue import load_event_types
    from labs.operations.catalogue.reference_data import install_reference_data
    from tests.factories.accounts import make_team, make_tenant
    from tests.factories.labs import make_lab_account, make_lab_test
    from tests.factories.webhooks import make_endpoint

    began = time.perf_counter()
    tenant = make_tenant(team=make_team("Scale"), environment="production")
    user_list.fill(tenant, size.users)
    report(f"{size.users:,} users", began)
    fill_samples(tenant, size.days)
    total = size.days * size.users * SAMPLES_PER_DAY
    report(f"{total:,} samples, {size.days} days of each user", began)
    install_reference_data()
    panels = [make_lab_test(tenant=tenant) for _ in range(2)]
    account = make_lab_account(tenant=tenant, lab=panels[0].lab)
    order_list.fill(
        tenant,
        size.orders,
        panels,
        account,
        max(1, size.orders // size.users),
        has_users=True,
    )
    fill_results(tenant)
    report(f"{size.orders:,} orders, their results", began)
    endpoint = make_endpoint(tenant=tenant)
    types = [name for name in load_event_types() if name.startswith("daily.")]
    webhook_log.fill(endpoint, size.deliveries, types)
    report(f"{size.deliveries:,} deliveries", began)
    settle()
    report("vacuumed", began)
    return tenant, endpoint


class Asked:
    """The requests of a round, each about something drawn anew."""

    def __init__(self, tenant: Any, endpoint: Any, size: Size) -> None:
        from django.test import Client

        from labs.models import Order
        from tests.clients import ApiClient
        from tests.factories.accounts import make_api_key, make_member
        from users.models import User

        self.draw = random.Random(20261122)  # noqa: S311 - the same in each run
        self.web = Client(SERVER_NAME="localhost")
        self.web.force_login(make_member(team=tenant.team))
        self.api = ApiClient(make_api_key(tenant=tenant))
        self.place = f"/t/{tenant.team.slug}/{tenant.environment}/"
        self.log = f"webhooks/{endpoint.uuid}/"
        self.size = size
        users = User.objects.for_tenant(tenant).order_by("pk")
        self.users = [str(key) for key in self._some(users.values_list("uuid"))]
        orders = Order.objects.for_tenant(tenant).exclude(interpretation="")
        self.orders = self._some(orders.order_by("pk").values_list("pk"))
        self.pushed = 0

    def _some(self, keys: Any) -> list[Any]:
        held = [key for (key,) in keys]
        return self.draw.sample(held, min(DRAWN, len(held)))

    def user(self) -> str:
        return self.draw.choice(self.users)

    def order(self) -> Any:
        return self.draw.choice(self.orders)

    def days(self, number: int) -> str:
        """The query of so many days, somewhere in what there is."""
        back = self.draw.randrange(max(1, self.size.days - number + 1))
        last = END - timedelta(days=1 + back)
        first = max(last - timedelta(days=number - 1), END - timedelta(self.size.days))
        return f"start_date={first:%Y-%m-%d}&end_date={last:%Y-%m-%d}"

    def page(self, path: str) -> Callable[[], None]:
        def call() -> None:
            filled = path.format(user=self.user(), order=self.order())
            reply = self.web.get(self.place + filled)
            assert reply.status_code == 200, (filled, reply.status_code)

        return call

    def get(self, path: str, days: int = 0) -> Callable[[], None]:
        def call() -> None:
            filled = path.format(user=self.user(), order=self.order())
            reply = self.api.get(filled + (f"?{self.days(days)}" if days else ""))
            assert reply.status_code == 200, (filled, reply.content)

        return call

    def push(self) -> None:
        """An hour of a user's minutes, new each time."""
        self.pushed += 1
        start = END + timedelta(hours=self.pushed)
        data = [
            {"timestamp": (start + timedelta(minutes=n)).isoformat(), "value": 60 + n}
            for n in range(60)
        ]
        reply = self.api.post(
            f"/v2/timeseries/{self.user()}/heartrate",
            {"provider": "oura", "data": data},
        )
        assert reply.status_code == 200, reply.content

    def make_user(self) -> None:
        self.pushed += 1
        reply = self.api.post("/v2/user", {"client_user_id": f"new-{self.pushed}"})
        assert reply.status_code == 200, reply.content

    def calls(self) -> dict[str, Callable[[], None]]:
        """By what a reader would call it."""
        half = self.size.users // 2
        return {
            "page: overview": self.page(""),
            "page: users": self.page("users/"),
            "page: users, a search": self.page("users/?q=client-ab"),
            "page: a user": self.page("users/{user}/"),
            "page: explorer": self.page("users/{user}/explorer/"),
            "page: orders": self.page("orders/"),
            "page: orders, critical": self.page("orders/?result=critical"),
            "page: an order": self.page("orders/{order}/"),
            "page: its results": self.page("orders/{order}/results/"),
            "page: a user's orders": self.page("users/{user}/orders/"),
            "page: endpoints": self.page("webhooks/"),
            "page: log of an endpoint": self.page(self.log),
            "page: log, failed": self.page(f"{self.log}?outcome=failed"),
            "page: reports": self.page("reports/"),
            "GET users": self.get("/v2/user"),
            "GET users, half way": self.get(f"/v2/user?offset={half}"),
            "GET a user": self.get("/v2/user/{user}"),
            "GET a day of heart rate": self.get(
                "/v2/timeseries/{user}/heartrate/grouped", 1
            ),
            "GET a week of heart rate": self.get(
                "/v2/timeseries/{user}/heartrate/grouped", 7
            ),
            "GET sums of a month": self.get("/v2/aggregate/{user}/heartrate", 30),
            "GET orders": self.get("/v3/orders"),
            "GET an order": self.get("/v3/order/{order}"),
            "GET its results": self.get("/v3/order/{order}/result"),
            "GET events": self.get("/v2/events"),
            "POST an hour of samples": self.push,
            "POST a user": self.make_user,
        }


def measure(calls: dict[str, Callable[[], None]], rounds: int) -> bool:
    """Print each call's times; rounds take turns.

    The CPU time is this process's and that of its database connection, which a busy
    machine does not lengthen as much; the limit is held against its p50.
    """
    from django.db import connection

    with connection.cursor() as cursor:
        # What a parallel worker does would not be counted.
        cursor.execute("SET max_parallel_workers_per_gather = 0")
        cursor.execute("SELECT pg_backend_pid()")
        (server,) = cursor.fetchone()

    def worked() -> float:
        return (time.process_time() + backend_seconds([server])) * 1000

    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    gc.collect()
    gc.freeze()  # as a web process does
    for _ in range(rounds):
        for name, call in calls.items():
            start, cpu = time.perf_counter(), worked()
            call()
            taken = (time.perf_counter() - start) * 1000
            times[name].append((taken, worked() - cpu))
    print(f"\n{'p50 ms':>8} {'p95 ms':>8} {'cpu ms':>8}  request, of {rounds}")
    is_good = True
    for name, both in times.items():
        walls = [wall for wall, _ in both]
        p50, cpu = statistics.median(walls), statistics.median(c for _, c in both)
        p95 = statistics.quantiles(walls, n=20, method="inclusive")[-1]
        over = cpu > MUST_MS
        is_good &= not over
        print(f"{p50:8.1f} {p95:8.1f} {cpu:8.1f}  {name}{'  OVER' * over}", flush=True)
    return is_good


def print_disk() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        print(f"\ndatabase {cursor.fetchone()[0] / 1e9:.2f} GB, of which")
        cursor.execute(_SIZES)
        for name, size, number in cursor.fetchall():
            each = f"{size / number:6.0f} bytes a row" if number else ""
            print(f"{size / 1e9:8.3f} GB  {name:24} {number:14,.0f} rows {each}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=100_000_000)
    parser.add_argument("--deliveries", type=int, default=1_000_000)
    parser.add_argument("--orders", type=int, default=200_000)
    parser.add_argument("--part", type=float, default=1.0, help="of all of these")
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    names = ("users", "samples", "deliveries", "orders")
    size = Size(*(max(1, int(getattr(given, name) * given.part)) for name in names))
    with database():
        logging.disable(logging.WARNING)
        tenant, endpoint = fill(size)
        print_disk()
        is_good = measure(Asked(tenant, endpoint, size).calls(), given.rounds)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process {memory:.0f} MB")
    return int(not is_good)


if __name__ == "__main__":
    raise SystemExit(main())
