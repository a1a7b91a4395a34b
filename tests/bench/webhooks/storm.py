"""Ten thousand events, workers killed ten times, a restarted database: nothing lost.

Run `python -m tests.bench.webhooks.storm [--events N] [--kills N]`. The receiver fails
every fourth POST at random: 500, 503, redirect, reset, garbage, and 10 MB answers now
and then. Two `manage.py deliver_webhooks` run beside it; again and again one of them is
killed with -9 while POSTs are on their way, and once the private PostgreSQL is killed
and started anew. Leases of the dead end in their own time; only the ladder of
retries is hastened, or the run would take a day. At the end every event must have been
accepted, every signature have been right, and each attempt of the log be one that the
receiver counted.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.accounts.webhooks.delivery.storms import Agreement, StormReceiver, compare
from tests.bench.stage import private_database

if TYPE_CHECKING:
    from accounts.models import Tenant

WORKERS = 2
USERS = 100
SIGNING_SECRET = "whsec_" + "c3Rvcm0g" * 5
# More than a lease, a reconnect and the rest of the ladder's first step.
PATIENCE_S = 240


def start_worker() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "manage.py", "deliver_webhooks"])


def emit(tenant: Tenant, number: int) -> None:
    from uuid import uuid4

    from django.db import transaction

    from accounts.webhooks.operations import UserRef, emit_events

    kind = "lab_report.parsing_job.created"
    for user in range(USERS):
        messages = [(kind, {"id": str(place)}) for place in range(user, number, USERS)]
        with transaction.atomic():
            emit_events(
                tenant=tenant,
                user=UserRef(user_uuid=uuid4(), client_user_id=f"user-{user}"),
                messages=messages,
            )


def shorten_timers(tenant: Tenant) -> int:
    """Make due what waits on the ladder; returns how much still waits in all."""
    from django.utils import timezone

    from accounts.webhooks.models import Delivery

    waiting = Delivery.objects.for_tenant(tenant).filter(status="pending")
    now = timezone.now()
    waiting.filter(due_at__gt=now, leased_until=None).update(due_at=now)
    return int(waiting.count())


def run(*, events: int, kills: int) -> None:
    jitter = random.Random(10)  # noqa: S311 - no secret
    with (
        private_database() as database,
        StormReceiver(SIGNING_SECRET, seed=10) as receiver,
    ):
        from django.db import connection

        from accounts.webhooks.models import Attempt, Delivery, Event
        from tests.factories.accounts import make_tenant
        from tests.factories.webhooks import make_endpoint

        tenant = make_tenant()
        url = f"http://127.0.0.1:{receiver.port}/in"
        make_endpoint(tenant=tenant, url=url, secret=SIGNING_SECRET)
        emit(tenant, events)
        began = time.monotonic()
        workers = [start_worker() for _ in range(WORKERS)]
        try:
            for kill in range(kills):
                seen = receiver.receipts.total()
                shorten_timers(tenant)
                enough = seen + events // (kills + 2)
                arrived = receiver.wait_for_receipts(enough, timeout_s=PATIENCE_S)
                receiver.hold_answers()
                time.sleep(0.1)
                place = jitter.randrange(WORKERS)
                workers[place].kill()
                workers[place].wait()
                receiver.answer_again()
                print(
                    f"kill {kill + 1:2} after {receiver.receipts.total():6} POSTs"
                    f" in {time.monotonic() - began:5.0f} s{'' if arrived else ' late'}"
                )
                workers[place] = start_worker()
                if kill == kills // 2:
                    connection.close()
                    database.restart()
                    print("the database was killed and started again")
            limit = time.monotonic() + PATIENCE_S
            while (waiting := shorten_timers(tenant)) and time.monotonic() < limit:
                time.sleep(0.5)
            taken = time.monotonic() - began
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.wait(30)
        log = Delivery.objects.for_tenant(tenant)
        attempts = Attempt.objects.for_tenant(tenant)
        agreement = compare(
            receiver,
            messages=Event.objects.for_tenant(tenant).values_list(
                "message_id", flat=True
            ),
            delivered=log.filter(status="delivered").values_list(
                "event__message_id", flat=True
            ),
            logged=attempts.values_list("delivery__event__message_id", "signature"),
        )
        print(
            f"\n{events} events in {taken:.0f} s, {waiting} waiting;"
            f" {receiver.receipts.total()} POSTs, {receiver.forged} forged;"
            f" accepted {len(receiver.accepted)} messages"
            f" {receiver.accepted.total()} times; log: {attempts.count()} attempts"
        )
        print(agreement)
        lost = agreement._replace(unlogged=0) != Agreement(0, 0, 0, 0)
        if lost or receiver.forged or len(receiver.accepted) != events:
            sys.exit("FAILED")
        print("every event arrived, every signature holds, the log agrees")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=10)
    given = parser.parse_args()
    run(events=given.events, kills=given.kills)


if __name__ == "__main__":
    main()
