"""Reads and writes of a web node while its database is killed and started again.

Run `python -m tests.bench.outage [--rounds N] [--readers N] [--away SECONDS]`. Must
(issue "Hardening now"): no status but 200 and 503, and no answer that takes longer than
a connection may take to be made. Each reader keeps its connection to the web node. It
prints how often each status was seen, the longest answer, and how long after the
database's return the first 200 came, by round.
"""

from __future__ import annotations

import argparse
import http.client
import sys
import threading
import time
from collections import Counter
from typing import Any

from tests.bench.stage import database

MUST_S = 5.0
ALLOWED = {200, 503}
USER = b'{"client_user_id": "%d-%d"}'


class Reader(threading.Thread):
    """Asks and asks: every tenth time it creates a user."""

    def __init__(self, number: int, port: int, key: str) -> None:
        super().__init__()
        self.number, self.port = number, port
        self.headers = {"x-service-api-key": key, "content-type": "application/json"}
        self.answers: list[tuple[float, float, int]] = []  # began, ended, status
        self.cut = 0
        self.ending = threading.Event()

    def run(self) -> None:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        asked = 0
        while not self.ending.is_set():
            asked += 1
            began = time.monotonic()
            try:
                if asked % 10:
                    client.request("GET", "/v2/user", headers=self.headers)
                else:
                    body = USER % (self.number, asked)
                    client.request("POST", "/v2/user", body, self.headers)
                reply = client.getresponse()
                reply.read()
            except (OSError, http.client.HTTPException):
                # A server may end the connection after an answer to a POST that it
                # has not read; the next request opens another.
                client.close()
                self.cut += 1
                continue
            self.answers.append((began, time.monotonic(), reply.status))


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--readers", type=int, default=4)
    asked.add_argument("--away", type=float, default=2.0)
    options = asked.parse_args()
    with database():
        return measure(options)


def measure(options: Any) -> int:
    from accounts.states import Environment
    from tests.factories.accounts import make_api_key, make_tenant
    from tests.portal.lib.worker_process import wait_until
    from tests.portal.outages.nodes import WebNode
    from tests.private_server import entered, make_private_server

    server = make_private_server()
    readers: list[Reader] = []
    try:
        with entered(server):
            key = make_api_key(tenant=make_tenant(environment=Environment.PRODUCTION))
            node = WebNode("bench-outage", CONN_MAX_AGE="")
            try:
                wait_until(node.answers)
                readers += [
                    Reader(number, node.port, key) for number in range(options.readers)
                ]
                for reader in readers:
                    reader.start()
                time.sleep(options.away)
                returns = []
                for _ in range(options.rounds):
                    server.kill()
                    time.sleep(options.away)
                    server.start()
                    returns.append(time.monotonic())
                    time.sleep(options.away)
            finally:
                for reader in readers:
                    reader.ending.set()
                for reader in readers:
                    reader.join()
                node.kill()
    finally:
        server.remove()
    print("connections that the web server ended:", sum(each.cut for each in readers))
    return report([each for reader in readers for each in reader.answers], returns)


def report(answers: list[tuple[float, float, int]], returns: list[float]) -> int:
    statuses = Counter(status for *_, status in answers)
    longest = max(ended - began for began, ended, _ in answers)
    # The server answers a little before it is seen to: a 200 may come just before.
    print("statuses:", dict(sorted(statuses.items())))
    print(f"longest answer: {longest * 1000:.0f} ms")
    first = [
        min(ended for _, ended, status in answers if status == 200 and ended > back)
        - back
        for back in returns
    ]
    shown = ", ".join(f"{seconds * 1000:.0f}" for seconds in first)
    print(f"first 200 after the return: {shown} ms")
    return 0 if set(statuses) <= ALLOWED and longest < MUST_S else 1


if __name__ == "__main__":
    sys.exit(main())
