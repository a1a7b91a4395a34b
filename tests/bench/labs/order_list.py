"""The orders list at 200 000 orders: pages, tabs, filters, search, and the overview.

Run `python -m tests.bench.labs.order_list [--orders N] [--rounds N]`. Must (issue "Lab
orders"): the list with filters within 150 ms of server time. Each line is the median of
a whole request of the dashboard, or of the API where it says so; the limit is held
against CPU time, of web process and database together.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Callable

MUST_MS = 150.0
SMALL = 200
ORDERS_PER_USER = 5
# Of a hundred orders; the last is one that the lab sent and we do not know.
STATUSES = {
    "completed.walk_in_test.completed": 50,
    "completed.testkit.completed": 28,
    "cancelled.walk_in_test.cancelled": 5,
    "failed.testkit.lost": 2,
    "received.walk_in_test.requisition_created": 5,
    "collecting_sample.testkit.transit_customer": 4,
    "collecting_sample.testkit.problem_in_transit_customer": 1,
    "collecting_sample.walk_in_test.appointment_pending": 2,
    "sample_with_lab.walk_in_test.partial_results": 2,
    "received.walk_in_test.beamed_up": 1,
}


def fill(
    tenant: Any,
    number: int,
    panels: list[Any],
    account: Any,
    per_user: int = ORDERS_PER_USER,
    *,
    has_users: bool = False,
) -> None:
    """Users, orders and their events; a hundredth of the users are deleted."""
    from django.db import connection

    from tests.factories.labs import ADDRESS, PATIENT

    statuses = [status for status, share in STATUSES.items() for _ in range(share)]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO users_user (tenant_id, uuid, client_user_id, created_on,"
            " fallback_time_zone, fallback_time_zone_source,"
            " fallback_birth_date_source, deleted_at)"
            " SELECT %s, gen_random_uuid(), 'mbr_' || n,"
            " timestamptz '2024-01-01' + n * interval '1 second', '', '', '',"
            " CASE WHEN n %% 100 = 0 THEN now() END FROM generate_series(1, %s) n",
            [tenant.pk, 0 if has_users else max(1, number // per_user)],
        )
        cursor.execute(
            "CREATE TEMP TABLE filled AS SELECT row_number() OVER ()::int AS n, id,"
            " gen_random_uuid() AS key FROM users_user, generate_series(1, %s)"
            " WHERE tenant_id = %s",
            [per_user, tenant.pk],
        )
        cursor.execute(
            "INSERT INTO labs_ordertransaction (id, tenant_id, user_id, created_at)"
            " SELECT key, %s, id, now() FROM filled",
            [tenant.pk],
        )
        cursor.execute(
            "INSERT INTO labs_order (id, tenant_id, user_id, transaction_id, origin,"
            " update_reason, lab_id, lab_test_id, lab_account_id, account_reason,"
            " method, status, is_registrable, patient_details, patient_address,"
            " patient_name, patient_dob, recipient_name, consents, aoe_answers,"
            " comments, passthrough, priority, billing_type, icd_codes, sample_id,"
            " interpretation, created_at, updated_at)"
            " SELECT key, %(tenant)s, id, key, 'initial', '',"
            " (%(labs)s::int[])[1 + n %% 2], (%(panels)s::uuid[])[1 + n %% 2],"
            " CASE WHEN n %% 3 = 0 THEN %(account)s::uuid END, 'only_active',"
            " split_part(status, '.', 2), status, false, %(patient)s, %(address)s,"
            " 'Person ' || n, '1990-01-01', '', '[]', '[]', '', '', false,"
            " 'client_bill', '{}', 'S' || n, CASE WHEN status NOT LIKE 'completed%%'"
            " THEN '' WHEN n %% 50 = 0 THEN 'critical' WHEN n %% 5 = 0 THEN 'abnormal'"
            " ELSE 'normal' END, at, at FROM (SELECT *,"
            " (%(statuses)s::text[])[1 + (n * 7919 %% 100)] AS status,"
            " now() - (%(number)s - n) * interval '1 minute' AS at FROM filled) made"
            " ORDER BY at",
            {
                "tenant": tenant.pk,
                "labs": [panel.lab_id for panel in panels],
                "panels": [panel.pk for panel in panels],
                "account": account.pk,
                "patient": json.dumps(PATIENT),
                "address": json.dumps(ADDRESS),
                "statuses": statuses,
                "number": max(number, per_user),
            },
        )
        cursor.execute(
            "INSERT INTO labs_orderevent (tenant_id, order_id, status, status_detail,"
            " created_at, actor_kind, actor_label, why)"
            " SELECT tenant_id, id, status, '', created_at, 'system', '', ''"
            " FROM labs_order WHERE tenant_id = %s",
            [tenant.pk],
        )
        cursor.execute("DROP TABLE filled")


def settle() -> None:
    """What autovacuum does in its own time: index-only reads need it."""
    from django.db import connection

    with connection.cursor() as cursor:
        for table in (
            *("users_user", "users_recordnumber", "labs_order", "labs_orderevent"),
        ):
            cursor.execute(f"VACUUM ANALYZE {table}")


def medians(
    calls: dict[str, Callable[[], Any]], rounds: int
) -> dict[str, tuple[float, float]]:
    """The median milliseconds of each call, and of its CPU time; rounds take turns.

    The CPU time is this process's and that of its database connection, which a busy
    machine does not lengthen as much.
    """
    from django.db import connection

    with connection.cursor() as cursor:
        # What a parallel worker does would not be counted.
        cursor.execute("SET max_parallel_workers_per_gather = 0")
        cursor.execute("SELECT pg_backend_pid()")
        server = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")

    def worked() -> float:
        nanoseconds = int(server.read_text().split()[0])
        return time.process_time() * 1000 + nanoseconds / 1e6

    for call in calls.values():
        call()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start, cpu = time.perf_counter(), worked()
            call()
            taken = (time.perf_counter() - start) * 1000
            found[name].append((taken, worked() - cpu))
    return {
        name: (
            statistics.median(taken for taken, _ in times),
            statistics.median(cpu for _, cpu in times),
        )
        for name, times in found.items()
    }


def queries(panel: Any, account: Any, order: Any, empty_lab: Any) -> dict[str, str]:
    """What the list is asked, by what a reader would call it."""
    return {
        "all": "view=all",
        "page 150": "offset=7450",
        "in progress": "tab=in_progress",
        "needs attention": "tab=attention",
        "results in": "tab=results",
        "cancelled or failed": "tab=closed",
        "oldest first": "sort=created_at",
        "lab": f"lab={panel.lab.slug}",
        "lab without orders": f"lab={empty_lab.slug}",
        "account": f"account={account.pk}",
        "test kits in progress": "tab=in_progress&method=testkit",
        "one status": "status=requisition_created&method=walk_in_test",
        "stage and lab": f"stage=collecting&lab={panel.lab.slug}",
        "critical": "result=critical",
        "critical, account, 30 days": (
            f"result=critical&account={account.pk}&created=30d"
        ),
        "nothing fits": f"tab=in_progress&result=critical&lab={panel.lab.slug}",
        "search: order id": f"q={order.pk}",
        "search: its middle": f"q={str(order.pk)[11:21]}",
        "search: sample id": f"q={order.sample_id}",
        "search: client_user_id": "q=mbr_77",
        "search: all users": "q=mbr_",
        "search: nothing": "q=nobody-at-all",
    }


def measure(*, orders: int, rounds: int) -> float:
    with database():
        from django.core.cache import cache
        from django.test import Client

        from labs.models import Order
        from labs.operations.catalogue.reference_data import install_reference_data
        from tests.clients import ApiClient
        from tests.factories.accounts import (
            make_api_key,
            make_member,
            make_team,
            make_tenant,
        )
        from tests.factories.labs import make_lab, make_lab_account, make_lab_test

        install_reference_data()
        times = {}
        for number in (SMALL, orders):
            team = make_team(f"Bench {number}")
            tenant = make_tenant(team=team)
            panels = [make_lab_test(tenant=tenant) for _ in range(2)]
            account = make_lab_account(tenant=tenant, lab=panels[0].lab)
            start = time.perf_counter()
            fill(tenant, number, panels, account)
            settle()
            print(f"{number} orders made in {time.perf_counter() - start:.0f} s")
            order = Order.objects.for_tenant(tenant).filter(status__startswith="c")[1]
            client = Client(SERVER_NAME="localhost")
            client.force_login(make_member(team=team))
            api = ApiClient(make_api_key(tenant=tenant))
            place = f"/t/{team.slug}/{tenant.environment}/"
            fields = {
                name: f"{place}orders/?{query}"
                for name, query in queries(
                    panels[0], account, order, make_lab()
                ).items()
            }
            fields["overview"] = place
            fields["orders of a user"] = f"{place}users/{order.user.uuid}/orders/"

            def get(path: str, client: Any = client) -> Callable[[], Any]:
                def call() -> None:
                    assert client.get(path).status_code == 200, path

                return call

            calls = {name: get(path) for name, path in fields.items()}
            calls["API, status and method"] = get(
                "/v3/orders?status=requisition_created&order_type=walk_in_test", api
            )
            for name, query in {
                "patient, one": f"patient_name=son {number // 2}",
                "patient, all": "patient_name=PERSON",
                "patient, nobody": "patient_name=nobody of that name",
                "sorted by patient": "order_key=patient_name",
                "search: part of a name": "search_input=son 77",
                "search: birth date": "search_input=1985-01-02",
                "search: order id": f"search_input={order.pk}",
                "search: user id": f"search_input={order.user.uuid}",
            }.items():
                calls[f"API, {name}"] = get(f"/v3/orders?{query}", api)

            def find(text: str, client: Any = client, place: str = place) -> Any:
                def call() -> None:
                    reply = client.post(
                        f"{place}search/", {"q": text}, headers={"HX-Request": "true"}
                    )
                    assert reply.status_code == 200, text

                return call

            for name, text in {
                "what was opened": "",
                "middle of an order id": str(order.pk)[11:21],
                "middle of a user id": str(order.user.uuid)[11:21],
                "part of a client_user_id": "br_77",
                "part of all of them": "mbr",
                "part of a sample id": order.sample_id[-4:],
                "first letter of all sample ids and a digit": "S12",
                "marker": "ferritin",
                "nothing": "nobody-at-all",
            }.items():
                calls[f"palette: {name}"] = find(text)
            cache.clear()
            times[number] = medians(calls, rounds)
    print(
        f"{'ms':>8} {'cpu ms':>8} {'limit':>6} {'ratio':>6} {f'cpu at {SMALL}':>10}"
        "  request; ratio is of cpu ms"
    )
    for name, (taken, cpu) in times[orders].items():
        print(
            f"{taken:8.1f} {cpu:8.1f} {MUST_MS:6.0f} {cpu / MUST_MS:6.2f}"
            f" {times[SMALL][name][1]:10.1f}  {name}{'  OVER' * (cpu > MUST_MS)}"
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process {memory:.0f} MB")
    return max(cpu for _, cpu in times[orders].values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    slowest = measure(orders=options.orders, rounds=options.rounds)
    print(f"slowest {slowest:.1f} ms of CPU time, must be at most {MUST_MS:.0f} ms")
    return int(slowest > MUST_MS)


if __name__ == "__main__":
    sys.exit(main())
