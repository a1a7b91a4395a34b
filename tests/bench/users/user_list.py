"""The user list at a million users: against 500 users, and far into it.

Run `python -m tests.bench.users.user_list [--users N] [--rounds N]`. Rounds take turns;
each ratio is of medians. Must (performance.md section 1): a page with `total` at 1 000
000 users at most 1.3 times that at 500; offset 100 000 at most 8 times offset 0; the
dashboard's list and user page within 150 ms of server time.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from typing import TYPE_CHECKING, Any

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL = 500
FAR = 100_000
LIMIT = 100
TOTAL_MUST, OFFSET_MUST, PAGE_MUST_MS = 1.3, 5.0, 150.0


def fill(tenant: Any, number: int) -> None:
    """Users by one statement, a fifth with a source that sent, and the counter."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO users_user (tenant_id, uuid, client_user_id, created_on,"
            " fallback_time_zone, fallback_time_zone_source,"
            " fallback_birth_date_source)"
            " SELECT %s, gen_random_uuid(), 'client-' || md5(n::text),"
            " timestamptz '2024-01-01' + n * interval '1 second', '', '', ''"
            " FROM generate_series(1, %s) n",
            [tenant.pk, number],
        )
        cursor.execute(
            "INSERT INTO users_connection (tenant_id, user_id, provider, status,"
            " created_on, external_user_id, error_type, error_message,"
            " resource_availability, is_demo, pause_cause)"
            " SELECT tenant_id, id, 'oura', CASE WHEN id %% 100 = 0 THEN 'error'"
            " ELSE 'connected' END, created_on, '', '', '', '{}', false, ''"
            " FROM users_user WHERE tenant_id = %s AND id %% 5 = 0",
            [tenant.pk],
        )
        cursor.execute(
            "INSERT INTO users_arrival (tenant_id, user_id, provider, resource, at,"
            " received, created, updated, dropped)"
            " SELECT tenant_id, id, 'oura', 'sleep_cycle',"
            " now() - id %% 62 * interval '1 day', 1, 1, 0, 0"
            " FROM users_user WHERE tenant_id = %s AND id %% 5 = 0",
            [tenant.pk],
        )
        cursor.execute(
            "INSERT INTO users_usercount (tenant_id, live) VALUES (%s, %s)",
            [tenant.pk, number],
        )


def settle() -> None:
    """What autovacuum does in its own time: index-only reads need it."""
    from django.db import connection

    with connection.cursor() as cursor:
        for table in ("user", "connection", "arrival", "usercount"):
            cursor.execute(f"VACUUM ANALYZE users_{table}")


def milliseconds(call: Callable[[], Any], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times * 1000


def compare(
    calls: dict[str, Callable[[], Any]], *, rounds: int, times: int
) -> dict[str, float]:
    """The median milliseconds of each call."""
    for call in calls.values():
        call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            found[name].append(milliseconds(call, times))
    return {name: statistics.median(times) for name, times in found.items()}


def api_list(tenant: Any, offset: int) -> Callable[[], Any]:
    """A page as the API answers it, without the HTTP around it."""
    from portal.lib.api.json import dump_json
    from users.api.v2.outputs import build_user_list_response
    from users.queries import list_users_page

    def call() -> bytes:
        page = list_users_page(tenant=tenant, offset=offset, limit=LIMIT)
        return dump_json(
            build_user_list_response(tenant, page, offset=offset, limit=LIMIT)
        )

    return call


def measure(*, users: int, rounds: int) -> None:
    with database():
        from tests.factories.accounts import make_tenant
        from users.models import User
        from users.queries import search_users, user_overview

        small, large = (make_tenant(environment="production") for _ in range(2))
        fill(small, SMALL)
        start = time.perf_counter()
        fill(large, users)
        settle()
        print(f"{users} users made in {time.perf_counter() - start:.0f} s")
        someone = User.objects.for_tenant(large).all()[users // 2]
        far = min(FAR, users - LIMIT)
        part = someone.client_user_id[7:15]
        times = compare(
            {
                f"page of {LIMIT}, {SMALL} users": api_list(small, 0),
                f"page of {LIMIT}, {users} users": api_list(large, 0),
                f"page of {LIMIT}, offset {far}": api_list(large, far),
                f"page of {LIMIT}, last": api_list(large, users - LIMIT),
                "dashboard list": lambda: search_users(tenant=large),
                "dashboard list, by id": lambda: search_users(
                    tenant=large, sort="client_user_id"
                ),
                "dashboard search, rare": lambda: search_users(tenant=large, text=part),
                "dashboard search, all": lambda: search_users(
                    tenant=large, text="client"
                ),
                "dashboard search, 2 letters": lambda: search_users(
                    tenant=large, text="7f"
                ),
                "dashboard search, none": lambda: search_users(
                    tenant=large, text="nobody-at-all"
                ),
                "dashboard filter, provider": lambda: search_users(
                    tenant=large, provider="oura"
                ),
                "dashboard filter, error": lambda: search_users(
                    tenant=large, provider="oura", status="error"
                ),
                "dashboard filter, nothing": lambda: search_users(
                    tenant=large, provider="fitbit"
                ),
                "dashboard filter, silent": lambda: search_users(
                    tenant=large, last_data="not_7_days"
                ),
                "dashboard filter, silent source": lambda: search_users(
                    tenant=large, last_data="not_7_days", provider="oura"
                ),
                "dashboard list, by last data": lambda: search_users(
                    tenant=large, sort="-last_data"
                ),
                "user page": lambda: user_overview(tenant=large, user_id=someone.uuid),
            },
            rounds=rounds,
            times=5,
        )
    ours = list(times.values())
    for name, taken in times.items():
        over = taken > PAGE_MUST_MS and name.startswith(("dashboard", "user page"))
        print(f"{name:32} {taken:9.2f} ms{'  OVER' if over else ''}")
    print(f"total at {users} / at {SMALL}: {ours[1] / ours[0]:.2f} (must {TOTAL_MUST})")
    print(f"offset {far} / offset 0: {ours[2] / ours[1]:.2f} (must {OFFSET_MUST})")
    print(f"dashboard pages: must {PAGE_MUST_MS:.0f} ms")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process {memory:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    measure(users=options.users, rounds=options.rounds)


if __name__ == "__main__":
    main()
