"""The log of one endpoint at 1 000 000 deliveries: pages, filters, health, a replay.

Run `python -m tests.bench.webhooks.log [--deliveries N] [--rounds N]`. Must (issue
"Webhooks"): the list under 300 ms. Each line is the median of a whole request of the
dashboard; the limit is held against CPU time, of web process and database together.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.bench.labs.order_list import medians
from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Callable

MUST_MS = 300.0
USERS = 10_000
DAYS = 30
TYPES = 40
RARE_TYPE = "provider.connection.created"
BODY = '{"event_type":"x","data":{"id":"1"},"team_id":"t","user_id":"u"}'


def fill(endpoint: Any, number: int, types: list[str]) -> None:
    """Events evenly over DAYS; 1 % failed, 1 % wait for a retry, 1 % were retried."""
    from django.db import connection

    inputs = {
        "tenant": endpoint.tenant_id,
        "endpoint": endpoint.pk,
        "number": number,
        "users": USERS,
        "types": types,
        "rare": RARE_TYPE,
        "body": BODY,
        "step": DAYS * 86_400 / number,
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO webhooks_event (tenant_id, message_id, event_type, user_uuid,"
            " client_user_id, body, created_at)"
            " SELECT %(tenant)s, 'msg_' || %(tenant)s || '_' || n,"
            " CASE WHEN n %% 20000 = 0 THEN %(rare)s"
            " ELSE (%(types)s::text[])"
            "[1 + n::bigint * 7919 %% cardinality(%(types)s::text[])]"
            " END, md5((n %% %(users)s)::text)::uuid, 'mbr_' || (n %% %(users)s),"
            " %(body)s, now() - (%(number)s - n) * %(step)s * interval '1 second'"
            " FROM generate_series(1, %(number)s) n",
            inputs,
        )
        cursor.execute(
            "INSERT INTO webhooks_delivery (tenant_id, endpoint_id, event_id,"
            " event_type, user_uuid, status, lane, attempts, step, due_at, last_code,"
            " last_fault, created_at, finished_at)"
            " SELECT tenant_id, %(endpoint)s, id, event_type, user_uuid,"
            " CASE WHEN id %% 100 = 1 THEN 'failed' WHEN id %% 100 = 2 THEN 'pending'"
            " ELSE 'delivered' END, 0, CASE WHEN id %% 100 < 4 THEN 3 ELSE 1 END, 1,"
            " now() + interval '1 hour', CASE WHEN id %% 100 = 1 THEN 500"
            " WHEN id %% 100 = 2 THEN NULL ELSE 200 END,"
            " CASE WHEN id %% 100 = 2 THEN 'timeout' ELSE '' END,"
            " created_at, created_at"
            " FROM webhooks_event WHERE tenant_id = %(tenant)s ORDER BY id",
            inputs,
        )
        cursor.execute(
            "INSERT INTO webhooks_attempt (tenant_id, delivery_id, endpoint_id, number,"
            " is_manual, succeeded, started_at, sent_timestamp, signature, code, fault,"
            " address, headers, body, body_is_cut, total_ms)"
            " SELECT tenant_id, id, endpoint_id, 1, false, status = 'delivered',"
            " created_at, 0, 'v1,x', last_code, last_fault, '', '[]', '', false,"
            " 50 + id %% 200 FROM webhooks_delivery WHERE endpoint_id = %(endpoint)s",
            inputs,
        )
        for table in ("event", "delivery", "attempt"):
            cursor.execute(f"VACUUM ANALYZE webhooks_{table}")


def queries() -> dict[str, str]:
    """What the log is asked, by what a reader would call it."""
    return {
        "all": "",
        "failed": "?outcome=failed",
        "missed": "?outcome=missed",
        "delivered": "?outcome=delivered",
        "held, of which there are none": "?outcome=held",
        "one type": "?type=daily.data.sleep.created",
        "a rare type": f"?type={RARE_TYPE}",
        "a prefix of types": "?type=daily.data.sleep.",
        "a user's own id": "?user=mbr_77",
        "nobody": "?user=nobody",
        "answered 5xx": "?answer=5xx",
        "answered 4xx, none": "?answer=4xx",
        "no answer": "?answer=none",
        "two or more attempts": "?tries=2",
        "five or more, none": "?tries=5",
        "last hour": "?period=1h",
        "a day three weeks ago": "?since=DAY0T00:00&until=DAY1T00:00",
        "failed, one type, that day": (
            "?outcome=failed&type=daily.data.sleep.created"
            "&since=DAY0T00:00&until=DAY1T00:00"
        ),
        "count for a replay of missed": "replay/?outcome=missed",
        "count for a replay of all": "replay/?outcome=delivered",
    }


def measure(*, deliveries: int, rounds: int) -> bool:
    with database():
        from datetime import timedelta

        from django.test import Client
        from django.utils import timezone

        from accounts.webhooks.catalogue import load_event_types
        from tests.factories.accounts import make_member, make_team, make_tenant
        from tests.factories.webhooks import make_endpoint

        team = make_team("Bench")
        tenant = make_tenant(team=team)
        endpoint = make_endpoint(tenant=tenant)
        types = [name for name in load_event_types() if name.startswith("daily.")][
            :TYPES
        ]
        types.append("daily.data.sleep.created")
        start = time.perf_counter()
        fill(endpoint, deliveries, types)
        print(f"{deliveries} deliveries made in {time.perf_counter() - start:.0f} s")
        client = Client(SERVER_NAME="localhost")
        client.force_login(make_member(team=team))
        place = f"/t/{team.slug}/{tenant.environment}/"
        day = timezone.now().date() - timedelta(days=21)
        days = {"DAY0": day.isoformat(), "DAY1": (day + timedelta(days=1)).isoformat()}

        def get(path: str) -> Callable[[], Any]:
            def call() -> None:
                assert client.get(path).status_code == 200, path

            return call

        calls = {"list of endpoints": get(f"{place}webhooks/")}
        calls["overview"] = get(place)
        for name, query in queries().items():
            for word, value in days.items():
                query = query.replace(word, value)
            calls[name] = get(f"{place}webhooks/{endpoint.uuid}/{query}")
        found = medians(calls, rounds)
        is_good = True
        for name, (taken, cpu) in found.items():
            is_list = not name.startswith("count")
            verdict = "" if cpu <= MUST_MS or not is_list else "  OVER"
            is_good &= not verdict
            print(f"{name:32} {taken:8.0f} ms  CPU {cpu:7.0f} ms{verdict}", flush=True)
        print(f"limit {MUST_MS:.0f} ms: {'kept' if is_good else 'missed'}")
        return is_good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deliveries", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if not measure(deliveries=given.deliveries, rounds=given.rounds):
        sys.exit(1)


if __name__ == "__main__":
    main()
