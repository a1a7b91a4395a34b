"""What row-level security costs reads of samples: with and without it, in turns.

Run `python -m tests.bench.users.samples_fence [--rounds N]`. A day and a week of minute
heart rate are read over HTTP from a server that signs in as the web server's role, of
22 months and 20 users. CPU is of the server and its database backends; the ratio is a
median over rounds. Must: at most 1.05.
"""

from __future__ import annotations

import argparse
import http.client
import statistics
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
from django.test import override_settings
from psycopg import sql

from tests.bench.stage import (
    SERVED_SECRET_KEY,
    backend_seconds,
    database,
    other_backends,
    served,
)
from tests.bench.users.samples_read import START, fill

if TYPE_CHECKING:
    from tests.bench.stage import Served

TABLES = ("users_sample", "users_sampleextra", "users_packedday")
DAYS = (1, 7)
TIMES = 80  # calls in a round
MUST = 1.05


def set_fence(owner: psycopg.Connection[Any], *, up: bool) -> None:
    wanted = "ENABLE" if up else "DISABLE"
    for table in TABLES:
        owner.execute(
            sql.SQL("ALTER TABLE {} {} ROW LEVEL SECURITY").format(
                sql.Identifier(table), sql.SQL(wanted)
            )
        )


class Reader:
    """Reads of so many days, and the CPU that they take."""

    def __init__(self, server: Served, person: Any, key: str, owner_pid: int) -> None:
        self._client = http.client.HTTPConnection("127.0.0.1", server.port)
        self._path = f"/v2/timeseries/{person.uuid}/heartrate/grouped"
        self._headers = {"x-service-api-key": key}
        self._server, self._owner_pid = server, owner_pid

    def read(self, days: int) -> None:
        end: datetime = START + timedelta(days=days, seconds=-1)
        self._client.request(
            "GET",
            f"{self._path}?start_date={START:%Y-%m-%dT%H:%M:%SZ}"
            f"&end_date={end:%Y-%m-%dT%H:%M:%SZ}&limit=10080",
            headers=self._headers,
        )
        reply = self._client.getresponse()
        answer = reply.read()
        assert reply.status == 200, answer
        assert answer.count(b'"timestamp"') == days * 24 * 60

    def cost(self, days: int) -> float:
        """Return milliseconds of CPU for one read."""
        self.read(days)  # plans anew what has changed
        before = self._seconds()
        for _ in range(TIMES):
            self.read(days)
        return (self._seconds() - before) / TIMES * 1000

    def _seconds(self) -> float:
        backends = other_backends(self._owner_pid)
        return self._server.cpu_seconds() + backend_seconds(backends)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    given = parser.parse_args()
    with database() as url:
        from portal.lib.database.roles import (
            BUNDLED_WEB_ROLE,
            BUNDLED_WORK_ROLE,
            ServingRoles,
            grant_rights_to_serving_roles,
        )

        person, key, _ = fill()
        roles = ServingRoles(BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE)
        with override_settings(SECRET_KEY=SERVED_SECRET_KEY):  # whose tenants it signs
            grant_rights_to_serving_roles(roles)
        with (
            psycopg.connect(url, autocommit=True) as owner,
            served(url.replace("//assay@", f"//{BUNDLED_WEB_ROLE}@")) as server,
        ):
            reader = Reader(server, person, key, owner.info.backend_pid)
            costs: dict[tuple[int, bool], list[float]] = {}
            for number in range(given.rounds):
                for days in DAYS:
                    for up in (number % 2 == 0, number % 2 == 1):
                        set_fence(owner, up=up)
                        costs.setdefault((days, up), []).append(reader.cost(days))
    for days in DAYS:
        without, fenced = costs[days, False], costs[days, True]
        ratio = statistics.median(a / b for a, b in zip(fenced, without, strict=True))
        print(
            f"{days} days: {statistics.median(without):.2f} ms without,"
            f" {statistics.median(fenced):.2f} ms with it, a ratio of {ratio:.3f}"
        )
    print(f"must be at most {MUST}")


if __name__ == "__main__":
    main()
