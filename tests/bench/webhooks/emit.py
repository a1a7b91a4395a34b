"""What an event costs the transaction that emits it.

Run `python -m tests.bench.webhooks.emit [--events N]`. A transaction that inserts one
audit line is measured without and with `emit_event`, in turns, over teams with so many
endpoints as the table says. Times are by the clock, and by CPU of this process and its
database backend, which tells more on a busy machine. The bundled PostgreSQL's
disposable cluster does not wait for the disk. Must (issue "Webhooks"): under 2 ms more.
"""

from __future__ import annotations

import argparse
import statistics
import time

from tests.bench.stage import backend_seconds, database

MUST_MS = 2.0
ENDPOINTS = (0, 1, 3, 10)


def measure(*, events: int) -> None:
    with database():
        from django.db import connection, transaction

        from accounts.operations.audit.entries import record_change
        from accounts.webhooks.models import Delivery
        from portal.lib.database import rows
        from tests.factories.accounts import ACTOR, make_tenant
        from tests.factories.webhooks import make_endpoint, make_event

        data = {"text": "x" * 1_000}

        ((backend,),) = rows.fetch_rows("SELECT pg_backend_pid()")

        def change(*, emits: bool) -> tuple[float, float]:
            cpu = time.process_time() + backend_seconds([backend])
            began = time.perf_counter()
            with transaction.atomic():
                record_change(
                    tenant=tenant, actor=ACTOR, verb="x", subject="x", subject_id=1
                )
                if emits:
                    make_event(tenant=tenant, data=data)
            taken = time.perf_counter() - began
            cpu = time.process_time() + backend_seconds([backend]) - cpu
            return taken * 1000, cpu * 1000

        print(f"{'endpoints':>9} {'without ms':>11} {'more ms':>8} {'more CPU ms':>12}")
        for number in ENDPOINTS:
            tenant = make_tenant()
            for _ in range(number):
                make_endpoint(tenant=tenant)
            pairs = [
                (change(emits=False), change(emits=True)) for _ in range(events + 20)
            ][20:]
            more, more_cpu = (
                statistics.median(after[kind] - before[kind] for before, after in pairs)
                for kind in (0, 1)
            )
            without = statistics.median(before[0] for before, _ in pairs)
            print(f"{number:9} {without:11.2f} {more:8.2f} {more_cpu:12.2f}")
            made = Delivery.objects.for_tenant(tenant).count()
            assert made == number * (events + 20)
        connection.close()
    print(f"must be under {MUST_MS} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=500)
    measure(events=parser.parse_args().events)


if __name__ == "__main__":
    main()
