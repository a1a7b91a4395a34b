"""Deliveries a core makes, against bare aiohttp that posts the same signed bytes.

Run `python -m tests.bench.webhooks.delivery [--messages N] [--rounds N]`. The limit is
an aiohttp session in a process of its own that posts messages which were signed before,
64 in flight, and writes nothing down. Ours is a deliverer in a process of its own:
claims, opened secrets, signatures, the checked socket, verdicts and the log. Both post
to the same sink, in turns; the ratio is a median over the rounds, by CPU of the process
that posts, as the sink and PostgreSQL share the machine's cores. Must (performance.md
section 5; issue "Webhooks"): 0.6 of the limit, and more with a second worker.

A deliverer runs for weeks, so rounds are long: what a forked process pays once, for
each page of memory that it touches first, would otherwise count as sending.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import multiprocessing
import statistics
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from accounts.models import Tenant

MUST = 0.6
BODY_BYTES = 1_200
ENDPOINTS = 4
IN_FLIGHT = 64
_ANSWER = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"
# Forked, so that a process costs no start: what is measured is sending.
_fork = multiprocessing.get_context("fork")


class Cost(NamedTuple):
    """Deliveries a second by the clock, and microseconds of CPU for one."""

    rate: float
    cpu: float


class Sink(asyncio.Protocol):
    """Answers each POST with 204; knows as little of HTTP as will do."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.held = b""

    def data_received(self, data: bytes) -> None:
        self.held += data
        while True:
            head, found, rest = self.held.partition(b"\r\n\r\n")
            if not found:
                return
            length = int(head.lower().partition(b"content-length: ")[2].split()[0])
            if len(rest) < length:
                return
            self.held = rest[length:]
            self.take(head)

    def take(self, head: bytes) -> None:
        self.transport.write(_ANSWER)


def serve_sink(said: Any) -> None:
    async def serve() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Sink, "127.0.0.1", 0)
        said.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


def post_bare(
    begin: Callable[[], None],
    port: int,
    messages: Sequence[tuple[bytes, dict[str, str]]],
) -> None:
    async def post() -> None:
        import aiohttp

        waiting = iter(messages)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            begin()

            async def one_of_many() -> None:
                for body, headers in waiting:
                    url = f"http://127.0.0.1:{port}/in"
                    async with session.post(url, data=body, headers=headers) as answer:
                        await answer.read()

            await asyncio.gather(*(one_of_many() for _ in range(IN_FLIGHT)))

    asyncio.run(post())


def post_ours(begin: Callable[[], None]) -> None:
    """As the command does, which also sets gc as `measured` does for all."""
    from accounts.webhooks.delivery.sending import Sender
    from accounts.webhooks.delivery.worker import Deliverer
    from accounts.webhooks.management.commands.deliver_webhooks import connector

    async def post() -> None:
        async with Sender() as sender:
            deliverer = Deliverer(connect=connector(), sender=sender)
            begin()
            await deliverer.run(until_idle=True)

    asyncio.run(post())


def measured(
    job: Callable[..., None], *inputs: Any, number: int, processes: int = 1
) -> Cost:
    """Run a job in so many processes at once; `number` is of their posts together.

    CPU counts from when a job says that it is ready: certificates are loaded once.
    """

    def timed(said: Any) -> None:
        gc.freeze()  # a bare process would not have all this loaded
        gc.set_threshold(20_000)
        begun = []
        job(lambda: begun.append(time.process_time()), *inputs)
        said.send(time.process_time() - begun[0])

    pipes = [_fork.Pipe(duplex=False) for _ in range(processes)]
    began = time.perf_counter()
    running = [_fork.Process(target=timed, args=(said,)) for _, said in pipes]
    for each in running:
        each.start()
    cpu = sum(heard.recv() for heard, _ in pipes)
    taken = time.perf_counter() - began
    for each in running:
        each.join()
    return Cost(number / taken, cpu / number * 1e6)


def signed(number: int) -> list[tuple[bytes, dict[str, str]]]:
    from accounts.webhooks.models import new_message_id
    from accounts.webhooks.signing import (
        decode_signing_secret,
        generate_signing_secret,
        sign_webhook_message,
    )

    keys = (decode_signing_secret(generate_signing_secret()),)
    body, stamp = b"x" * BODY_BYTES, int(time.time())
    messages = []
    for _ in range(number):
        message_id = new_message_id()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "bare",
            "webhook-id": message_id,
            "webhook-timestamp": str(stamp),
            "webhook-signature": sign_webhook_message(keys, message_id, stamp, body),
        }
        messages.append((body, headers))
    return messages


def emit(tenant: Tenant, number: int) -> None:
    """Events for all endpoints together that make so many deliveries."""
    from uuid import uuid4

    from accounts.webhooks.operations import UserRef, emit_events

    user = UserRef(user_uuid=uuid4(), client_user_id="bench")
    data = {"text": "x" * (BODY_BYTES - 200)}
    kind = "lab_report.parsing_job.created"
    for _ in range(number // ENDPOINTS // 100):
        emit_events(tenant=tenant, user=user, messages=[(kind, data)] * 100)


def measure(*, messages: int, rounds: int) -> None:
    with database():
        from django.conf import settings
        from django.db import connection

        from accounts.webhooks.models import Attempt, Delivery
        from tests.factories.accounts import make_tenant
        from tests.factories.webhooks import make_endpoint

        settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]
        heard, said = _fork.Pipe(duplex=False)
        sink = _fork.Process(target=serve_sink, args=(said,), daemon=True)
        sink.start()
        port = heard.recv()
        tenant = make_tenant()
        for place in range(ENDPOINTS):
            url = f"http://127.0.0.1:{port}/{place}"
            make_endpoint(tenant=tenant, url=url)
        bare = signed(messages)
        costs: dict[str, list[Cost]] = {"bare": [], "ours": [], "two workers": []}
        post_bare(lambda: None, port, bare[:200])
        for _ in range(rounds):
            costs["bare"].append(measured(post_bare, port, bare, number=messages))
            for name, workers in (("ours", 1), ("two workers", 2)):
                emit(tenant, messages)
                costs[name].append(
                    measured(post_ours, number=messages, processes=workers)
                )
        delivered = Delivery.objects.for_tenant(tenant).filter(status="delivered")
        assert delivered.count() == 2 * rounds * messages
        assert Attempt.objects.for_tenant(tenant).count() == 2 * rounds * messages
        sink.kill()
        sink.join()
        connection.close()
    print(f"{'':12} {'a second':>9} {'CPU us':>8} {'of bare, by CPU':>16}")
    for name, rows in costs.items():
        ratio = statistics.median(
            limit.cpu / row.cpu for row, limit in zip(rows, costs["bare"], strict=True)
        )
        print(
            f"{name:12} {statistics.median(r.rate for r in rows):9.0f}"
            f" {statistics.median(r.cpu for r in rows):8.0f} {ratio:16.2f}"
        )
    growth = statistics.median(
        two.rate / one.rate
        for two, one in zip(costs["two workers"], costs["ours"], strict=True)
    )
    print(f"must be at least {MUST}; a second worker: {growth:.2f} times the rate")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=16_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    measure(messages=given.messages, rounds=given.rounds)


if __name__ == "__main__":
    main()
