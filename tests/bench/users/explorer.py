"""Server time of the explorer's pages among ten million samples, and the first chart.

Run `python -m tests.bench.users.explorer [--samples N] [--rounds N]`. A team's users
have N samples by the minute over 90 days; one of them is looked at. Prints the median
of each page in milliseconds (must: 200) and, where a chromium is on the path, how long
a browser takes from asking for 90 days of minutes until the chart is drawn (must: 700).
"""

from __future__ import annotations

import argparse
import logging
import shutil
import statistics
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.bench.stage import SERVED_SECRET_KEY, backend_seconds, database, served

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE_MUST_MS = 200.0
CHART_MUST_MS = 700.0
DAYS = 90
SERIES = ("heartrate", "hrv", "steps", "glucose", "respiratory_rate")
_INSERT = """
    INSERT INTO users_sample
        (ts, user_id, value, origin, tz_offset, duration, series, feed)
    SELECT %(until)s - n * interval '1 minute', %(user)s,
        60 + 20 * sin(n / 200.0) + n %% 7, 0, 3600, %(seconds)s, %(series)s, %(feed)s
    FROM generate_series(1, %(minutes)s) n
"""


def fill(tenant: Any, samples: int) -> Any:
    """Users until there are so many samples; returns the first."""
    from django.db import transaction

    from portal.lib.database import rows
    from tests.factories.users import make_user
    from users.store.dictionaries import get_or_create_feed_number
    from users.store.partitions import ensure_upcoming_sample_partitions
    from users.wearables.timeseries import TIMESERIES

    ensure_upcoming_sample_partitions()
    with transaction.atomic():
        feed = get_or_create_feed_number(
            tenant=tenant, provider="oura", source_type="ring"
        )
    minutes = DAYS * 24 * 60
    until = datetime.now(UTC).replace(second=0, microsecond=0)
    first = None
    while samples > 0:
        user = make_user(tenant=tenant)
        first = first or user
        for slug in SERIES:
            resource = TIMESERIES[slug]
            with rows.open_database_cursor() as cursor:
                cursor.execute(
                    _INSERT,
                    {
                        "until": until,
                        "user": user.pk,
                        "series": next(iter(resource.series)),
                        "seconds": 60 if resource.is_interval else 0,
                        "feed": feed,
                        "minutes": minutes,
                    },
                )
            samples -= minutes
    with rows.open_database_cursor() as cursor:
        cursor.execute("VACUUM ANALYZE users_sample")
    return first


def pages(user: Any) -> Iterator[str]:
    """What people look at."""
    slug, environment = user.tenant.team.slug, user.tenant.environment
    start = f"/t/{slug}/{environment}/users/{user.uuid}"
    day = (datetime.now(UTC) - timedelta(days=1)).date()
    for query in (
        "",
        "?series=heartrate&days=1",
        "?series=heartrate&days=7",
        "?series=heartrate&days=90",
        "?series=heartrate&series=steps&series=sleep_cycle&days=30",
        "?series=heartrate&view=table&resolution=raw&days=90",
        "?series=heartrate&view=json&days=90",
        "?series=heartrate&view=events&days=90",
        "?series=heartrate&view=curl&days=90",
    ):
        yield f"{start}/explorer/{query}"
    yield f"{start}/ledger/?series=steps&day={day}"


def measure(client: Any, path: str, rounds: int) -> tuple[float, float, int]:
    """Medians of a page's time and of the CPU's at work for it (ms), and its bytes.

    CPU time is ours and the database's; a busy machine does not lengthen it as much.
    """
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = [cursor.fetchone()[0]]
    first = client.get(path)
    assert first.status_code == 200, (path, first.status_code)
    times, worked = [], []
    for _ in range(rounds):
        start, cpu = time.perf_counter(), time.process_time() + backend_seconds(backend)
        client.get(path)
        times.append((time.perf_counter() - start) * 1000)
        cpu_now = time.process_time() + backend_seconds(backend)
        worked.append((cpu_now - cpu) * 1000)
    return statistics.median(times), statistics.median(worked), len(first.content)


def first_chart(url: str, session: str, rounds: int) -> list[float]:
    """How long a browser takes from asking until it has painted the chart, in ms."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, FLAGS

    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context()
        context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        page = context.new_page()
        for _ in range(rounds + 1):
            start = time.perf_counter()
            page.goto(url, wait_until="commit")
            page.locator(".sr-line").first.wait_for(state="attached")
            page.evaluate("new Promise(go => requestAnimationFrame(() => go()))")
            times.append((time.perf_counter() - start) * 1000)
        browser.close()
    return times[1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=10)
    asked = parser.parse_args()
    with database() as url:
        from django.conf import settings
        from django.db import connection
        from django.test import Client

        from tests.factories.accounts import make_member, make_team, make_tenant

        connection.settings_dict["CONN_MAX_AGE"] = 0
        settings.SECRET_KEY = SERVED_SECRET_KEY  # one session for both
        team = make_team("Bench")
        tenant = make_tenant(team=team)
        member = make_member(team=team)
        user = fill(tenant, asked.samples)
        logging.disable(logging.WARNING)
        client = Client(SERVER_NAME="localhost")
        client.force_login(member)
        medians, chart = [], 0.0
        for path in pages(user):
            median, worked, size = measure(client, path, asked.rounds)
            medians.append(median)
            print(
                f"{median:7.1f} ms, {worked:6.1f} ms of CPU, {size / 1000:6.1f} KB "
                f" {path.rpartition('/users/')[2][36:]}"
            )
        print(f"slowest {max(medians):.1f} ms, must be at most {PAGE_MUST_MS:.0f}")
        if shutil.which("chromium"):
            with served(url) as server:
                place = f"http://127.0.0.1:{server.port}"
                path = next(each for each in pages(user) if "days=90" in each)
                session = client.cookies["sessionid"].value
                times = first_chart(f"{place}{path}", session, asked.rounds)
            chart = statistics.median(times)
            print(
                f"first chart of {DAYS} days: median {chart:.0f} ms, longest"
                f" {max(times):.0f}, must be at most {CHART_MUST_MS:.0f}"
            )
    return int(max(medians) > PAGE_MUST_MS or chart > CHART_MUST_MS)


if __name__ == "__main__":
    sys.exit(main())
