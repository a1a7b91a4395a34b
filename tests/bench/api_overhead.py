"""CPU of a small authenticated API view, against a bare Django view on one server.

Run `python -m tests.bench.api_overhead [--requests N] [--rounds N]`. Rounds take turns,
so that a busy machine slows all alike; each ratio is a median over the rounds. Must: at
most 4 (performance.md section 1), read audit and tenant setting included.
"""

from __future__ import annotations

import argparse
import http.client
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tests.bench.stage import database, served

if TYPE_CHECKING:
    from tests.bench.stage import Served

CONNECTIONS = 8
MUST, AIM = 4.0, 3.0


def make_user_and_key() -> tuple[str, str]:
    """A user with two sources, and the key of its tenant."""
    from tests.factories.accounts import ACTOR, make_api_key, make_tenant
    from tests.factories.users import make_user
    from users.operations.sources.sources import connect_source

    tenant = make_tenant(environment="production")
    user = make_user(tenant=tenant)
    for provider in ("oura", "fitbit"):
        connect_source(user=user, actor=ACTOR, provider=provider)
    return str(user.uuid), make_api_key(tenant=tenant)


def cost(server: Served, path: str, key: str, requests: int) -> tuple[float, float]:
    """Milliseconds of the server's CPU for one request, and between two answers."""
    cpu, start = server.cpu_seconds(), time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        calls = [
            pool.submit(call, server.port, path, key, requests // CONNECTIONS)
            for _ in range(CONNECTIONS)
        ]
        done = sum(each.result() for each in calls)
    waited = time.perf_counter() - start
    used = server.cpu_seconds() - cpu
    return used / done * 1000, waited / done * 1000


def call(port: int, path: str, key: str, times: int) -> int:
    """Read a path over one connection kept open."""
    client = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(times):
        client.request("GET", path, headers={"x-service-api-key": key})
        reply = client.getresponse()
        reply.read()
        assert reply.status == 200, (path, reply.status)
    client.close()
    return times


def measure(*, requests: int, rounds: int) -> None:
    with database() as url:
        user_id, key = make_user_and_key()
        paths = {
            "bare Django view": "/bare",
            "GET /v2/user/{user_id}": f"/v2/user/{user_id}",
            "GET /v2/user (1 user)": "/v2/user",
            "GET /v2/providers": "/v2/providers",
        }
        with served(url, application="tests.bench.bare:asgi") as server:
            for path in paths.values():
                cost(server, path, key, 100)
            costs: dict[str, list[tuple[float, float]]] = {name: [] for name in paths}
            for _ in range(rounds):
                for name, path in paths.items():
                    costs[name].append(cost(server, path, key, requests))
            memory = server.resident_megabytes()
    bare = [cpu for cpu, _ in costs["bare Django view"]]
    print(f"{'view':28} {'CPU ms':>8} {'wall ms':>8} {'ratio':>6}")
    for name, rows in costs.items():
        ratio = statistics.median(
            cpu / limit for (cpu, _), limit in zip(rows, bare, strict=True)
        )
        cpu = statistics.median(cpu for cpu, _ in rows)
        wall = statistics.median(wall for _, wall in rows)
        print(f"{name:28} {cpu:8.3f} {wall:8.3f} {ratio:6.2f}")
    print(f"must be at most {MUST}, aim {AIM}; server memory {memory:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    measure(requests=options.requests, rounds=options.rounds)


if __name__ == "__main__":
    main()
