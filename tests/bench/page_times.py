"""Server time of each dashboard page with the demo data.

Run `python -m tests.bench.page_times [--rounds N]`. Prints the median of each page in
milliseconds, its statements and size, and the slowest of all; must (issue "The
shell"): at most 150 ms each. Pages come from the URL conf; jobs are run first, so that
reports have values. Files are left out: they take as long as their data.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Iterator

MUST_MS = 150.0


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

    user = User.objects.for_tenant(tenant).order_by("id").first()
    job = ParsingJob.objects.for_tenant(tenant).order_by("created_at").first()
    order = Order.objects.for_tenant(tenant).order_by("created_at").first()
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


def milliseconds(
    client: Any, path: str, rounds: int
) -> tuple[float, float, int, int] | None:
    """The medians of a page's time and CPU time, its statements and size in bytes.

    None where a GET shows no page. The CPU time is this process's alone, which a busy
    machine does not lengthen as much.
    """
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    first = client.get(path)
    if first.status_code in {302, 405}:
        return None
    assert first.status_code == 200, (path, first.status_code)
    if first.streaming:  # a file, as long as its data
        return None
    times, worked = [], []
    for _ in range(rounds):
        start, cpu = time.perf_counter(), time.process_time()
        client.get(path)
        times.append((time.perf_counter() - start) * 1000)
        worked.append((time.process_time() - cpu) * 1000)
    with CaptureQueriesContext(connection) as queries:
        client.get(path)
    return (
        statistics.median(times),
        statistics.median(worked),
        len(queries),
        len(first.content),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
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
            f"  page, median of {rounds}"
        )
        for path in pages(teams.sandboxes[0]):
            if measured := milliseconds(client, path, rounds):
                median, worked, statements, size = measured
                medians.append(median)
                print(
                    f"{median:7.1f} {worked:7.1f} {MUST_MS:6.0f}"
                    f" {statements:4d} {size / 1000:6.1f}  {path}"
                )
        slowest = max(medians)
        print(f"slowest {slowest:.1f} ms, must be at most {MUST_MS:.0f} ms")
    return int(slowest > MUST_MS)


if __name__ == "__main__":
    sys.exit(main())
