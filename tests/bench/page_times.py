"""Server time of each dashboard page with the demo data, alone or in the scale set.

Run `python -m tests.bench.page_times [--part 1] [--rounds N] [--only TEXT]`. Prints the
median of each page in milliseconds, its CPU time, statements and size, and the slowest
of all; must (performance.md, dashboard pages): at most 80 ms each. Pages come from the
URL conf, lists are also sorted by each of their columns with an index and filtered;
jobs are run first, so that reports have values. `--part 1` puts the demo's people among
100 000 users with 200 000 orders, their results and a million deliveries. Files are
left out: they take as long as their data.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.bench.stage import backend_seconds, database

if TYPE_CHECKING:
    from collections.abc import Iterator

MUST_MS = 80.0
USERS, ORDERS, DELIVERIES = 100_000, 200_000, 1_000_000
# What members ask of the long lists; a search is posted.
ASKED = (
    *("orders/?sort=created_at", "orders/?sort=-status", "orders/?sort=user"),
    *("orders/?result=critical", "orders/?tab=attention", "orders/?q=S123"),
    *("users/?sort=client_user_id", "users/?sort=-last_data", "users/?sort=zone"),
    *("users/?source=oura", "users/?last_data=not_7_days", "users/?q=ab12"),
    *("users/?status=error", "reports/?tab=review", "audit/?view=all"),
)
FOUND = ("", "ab12", "20418", "S123", "ferritin", "nobody-at-all")


def pages(tenant: Any) -> Iterator[str]:
    """Every page below the team, each id filled with one of the demo data."""
    from accounts.models import Membership
    from accounts.queries import list_api_keys
    from labs.models import Order
    from portal.ops.isolation.endpoints import (
        fill_route_parameters,
        list_endpoints_with_path_parameters,
        list_route_parameters,
    )
    from reports.models import ParsingJob
    from users.models import User

    user = User.objects.for_tenant(tenant).get(client_user_id="mbr_20418")
    job = ParsingJob.objects.for_tenant(tenant).order_by("created_at").first()
    orders = Order.objects.for_tenant(tenant).filter(user=user)
    order = orders.exclude(interpretation="").order_by("created_at").first()
    key = list_api_keys(tenant).first()
    samples = {
        "team_slug": tenant.team.slug,
        "environment": tenant.environment,
        "user_id": user.uuid,
        "job_id": job.id,
        "order_id": order.pk,
        "member_id": Membership.objects.filter(team=tenant.team).last().member_id,
        "api_key_id": key.id if key else None,
    }
    known = {name: str(value) for name, value in samples.items() if value}
    for route in list_endpoints_with_path_parameters().pages:
        if list_route_parameters(route) <= known.keys():
            yield fill_route_parameters(route, known)
    place = f"/t/{tenant.team.slug}/{tenant.environment}/"
    yield from (f"{place}{asked}" for asked in ASKED)
    yield from (f"{place}search/#{text}" for text in FOUND)


def milliseconds(
    client: Any, path: str, rounds: int
) -> tuple[float, float, int, int] | None:
    """The medians of a page's time and CPU time, its statements and size in bytes.

    None where a GET shows no page: what only takes a POST, is not this member's, or
    is too long for a file. The CPU time is of this process and its database
    connection, which a busy machine does not lengthen as much.
    """
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    place, _, text = path.partition("#")

    def ask() -> Any:
        if "#" in path:
            return client.post(place, {"q": text}, headers={"HX-Request": "true"})
        return client.get(path)

    first = ask()
    if first.status_code in {302, 403, 405, 422}:
        return None
    assert first.status_code == 200, (path, first.status_code)
    if first.streaming:  # a file, as long as its data
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (server,) = cursor.fetchone()

    def worked() -> float:
        return time.process_time() + backend_seconds([server])

    times, cpus = [], []
    for _ in range(rounds):
        start, cpu = time.perf_counter(), worked()
        ask()
        times.append((time.perf_counter() - start) * 1000)
        cpus.append((worked() - cpu) * 1000)
    with CaptureQueriesContext(connection) as queries:
        ask()
    return (
        statistics.median(times),
        statistics.median(cpus),
        len(queries),
        len(first.content),
    )


def fill(tenant: Any, part: float) -> None:
    """The scale set around the demo's people, in their tenant."""
    from django.db import connection

    from accounts.webhooks.catalogue import load_event_types
    from tests.bench import scale
    from tests.bench.labs import order_list
    from tests.bench.users import user_list
    from tests.bench.webhooks import log
    from tests.factories.labs import make_lab_account, make_lab_test
    from tests.factories.webhooks import make_endpoint

    with connection.cursor() as cursor:  # that of the demo; the fill writes all
        cursor.execute("DELETE FROM users_usercount WHERE tenant_id = %s", [tenant.pk])
    user_list.fill(tenant, int(USERS * part))
    panels = [make_lab_test(tenant=tenant) for _ in range(2)]
    account = make_lab_account(tenant=tenant, lab=panels[0].lab)
    order_list.fill(
        tenant,
        int(ORDERS * part),
        panels,
        account,
        ORDERS // USERS,
        has_users=True,
    )
    scale.fill_results(tenant)
    types = [name for name in load_event_types() if name.startswith("daily.")]
    log.fill(make_endpoint(tenant=tenant), int(DELIVERIES * part), types)
    scale.settle()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--part", type=float, default=0, help="of the scale set")
    parser.add_argument(
        "--only", nargs="*", default=[""], help="pages whose path has any of these"
    )
    given = parser.parse_args()
    with database():
        from django.db import connection
        from django.test import Client
        from django.utils import timezone

        from portal.demo.data import load_demo_data
        from tests.factories.accounts import PASSWORD
        from tests.jobs import run_waiting

        # A job's thread that kept its connection would keep the database from going.
        connection.settings_dict["CONN_MAX_AGE"] = 0
        teams = load_demo_data()
        run_waiting()
        if given.part:
            fill(teams.sandboxes[0], given.part)
        teams.owner.is_staff = True
        # Without these pages ask for them.
        teams.owner.set_password(PASSWORD)
        teams.owner.email_confirmed_at = timezone.now()
        teams.owner.save()
        logging.disable(logging.WARNING)  # forms' targets refuse a GET, as they must
        client = Client(SERVER_NAME="localhost")
        client.force_login(teams.owner)
        medians = []
        print(
            f"{'ms':>7} {'cpu ms':>7} {'limit':>6} {'sql':>4} {'KB':>6}"
            f"  page, median of {given.rounds}"
        )
        for path in pages(teams.sandboxes[0]):
            if not any(part in path for part in given.only):
                continue
            if measured := milliseconds(client, path, given.rounds):
                median, worked, statements, size = measured
                medians.append(median)
                print(
                    f"{median:7.1f} {worked:7.1f} {MUST_MS:6.0f}"
                    f" {statements:4d} {size / 1000:6.1f}  {path}",
                    flush=True,
                )
        slowest = max(medians)
        print(f"slowest {slowest:.1f} ms, must be at most {MUST_MS:.0f} ms")
    return int(slowest > MUST_MS)


if __name__ == "__main__":
    sys.exit(main())
