"""What row-level security costs each dashboard page: with and without it, in turns.

Run `python -m tests.bench.fence [--rounds N]`. Prints the medians of each page with the
demo data, in milliseconds, and the median of what the fence adds over all pages. In one
process and on one database, so that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time
from typing import TYPE_CHECKING, Any

from tests.bench.page_times import pages
from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Sequence


def set_fence(tables: Sequence[str], *, up: bool) -> None:
    from django.db import connection
    from psycopg import sql

    wanted = "ENABLE" if up else "DISABLE"
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(
                sql.SQL("ALTER TABLE {} {} ROW LEVEL SECURITY").format(
                    sql.Identifier(table), sql.SQL(wanted)
                )
            )


def call(client: Any, path: str, rounds: int) -> list[float]:
    """Milliseconds of each call, after one that is not counted: plans are made anew."""
    client.get(path)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        client.get(path)
        times.append((time.perf_counter() - start) * 1000)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=4)
    given = parser.parse_args()
    with database():
        from django.db import connection
        from django.test import Client
        from django.utils import timezone

        from portal.demo.data import load_demo_data
        from portal.ops.isolation.probing import list_tables_with_row_security
        from tests.factories.accounts import PASSWORD
        from tests.jobs import run_waiting

        connection.settings_dict["CONN_MAX_AGE"] = 0
        teams = load_demo_data()
        run_waiting()
        # Without these pages ask for them.
        teams.owner.set_password(PASSWORD)
        teams.owner.email_confirmed_at = timezone.now()
        teams.owner.save(update_fields=["password", "email_confirmed_at"])
        logging.disable(logging.WARNING)
        client = Client(SERVER_NAME="localhost")
        client.force_login(teams.owner)
        tables = list_tables_with_row_security()
        shown = [
            path
            for path in pages(teams.sandboxes[0])
            if client.get(path).status_code == 200
        ]
        times: dict[tuple[str, bool], list[float]] = {}
        for _ in range(given.turns):
            for up in (False, True):
                set_fence(tables, up=up)
                for path in shown:
                    times.setdefault((path, up), []).extend(
                        call(client, path, given.rounds)
                    )
        medians = {key: statistics.median(found) for key, found in times.items()}
        print(f"{'without':>8} {'with':>8} {'ratio':>6}  page, ms")
        for path in shown:
            without, fenced = medians[path, False], medians[path, True]
            print(f"{without:8.1f} {fenced:8.1f} {fenced / without:6.2f}  {path}")
        ratios = [medians[path, True] / medians[path, False] for path in shown]
        added = [medians[path, True] - medians[path, False] for path in shown]
        print(
            f"{len(shown)} pages, {len(tables)} tables: the fence adds"
            f" {statistics.median(added):.2f} ms, a ratio of"
            f" {statistics.median(ratios):.3f} (medians); most {max(added):.1f} ms"
        )


if __name__ == "__main__":
    main()
