"""Workers killed with -9 in mid-delivery, a receiver that fails at random.

The full run is tests/bench/webhooks/storm.py.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal

import pytest
from django.utils import timezone

from accounts.webhooks.delivery import worker as delivering
from accounts.webhooks.management.commands.deliver_webhooks import deliver
from accounts.webhooks.models import Attempt, Delivery, Event
from accounts.webhooks.signing import generate_signing_secret
from tests.accounts.webhooks.delivery.storms import Agreement, StormReceiver, compare
from tests.factories.webhooks import make_endpoint, make_events

EVENTS = 150
KILLS = 3
WAIT_S = 30


def work() -> None:
    """What manage.py deliver_webhooks does, until killed."""
    asyncio.run(deliver(until_idle=False))


@pytest.mark.django_db(transaction=True)
def test_every_event_arrives_though_workers_are_killed(
    alice_tenant, settings, monkeypatch
):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]
    monkeypatch.setattr(delivering, "POLL_S", 0.01)
    monkeypatch.setattr(delivering, "FLUSH_S", 0.01)
    secret = generate_signing_secret()
    log = Delivery.objects.for_tenant(alice_tenant)
    with StormReceiver(secret, seed=6) as receiver:
        make_endpoint(
            tenant=alice_tenant,
            url=f"http://127.0.0.1:{receiver.port}/in",
            secret=secret,
        )
        make_events(EVENTS, tenant=alice_tenant)

        for kill in range(KILLS):
            worker = multiprocessing.get_context("fork").Process(target=work)
            worker.start()
            seen = receiver.receipts.total()
            assert receiver.wait_for_receipts(seen + 20, timeout_s=WAIT_S)
            receiver.hold_answers()
            assert receiver.wait_for_receipts(seen + 25, timeout_s=WAIT_S)
            os.kill(worker.pid, signal.SIGKILL)
            worker.join()
            receiver.answer_again()
            assert worker.exitcode == -signal.SIGKILL, kill
            expire(log)
        while log.filter(status="pending").exists():
            expire(log)
            asyncio.run(deliver(until_idle=True))

    agreement = compare(
        receiver,
        messages=Event.objects.for_tenant(alice_tenant).values_list(
            "message_id", flat=True
        ),
        delivered=log.filter(status="delivered").values_list(
            "event__message_id", flat=True
        ),
        logged=Attempt.objects.for_tenant(alice_tenant).values_list(
            "delivery__event__message_id", "signature"
        ),
    )
    assert agreement._replace(unlogged=0) == Agreement(0, 0, 0, 0)
    # Each kill met POSTs on their way, which the next worker sent again.
    assert KILLS <= agreement.unlogged <= KILLS * delivering.CLAIMED_PER_ENDPOINT
    assert len(receiver.accepted) == EVENTS
    assert receiver.forged == 0
    assert Event.objects.for_tenant(alice_tenant).count() == EVENTS


def expire(log) -> None:
    """Let time pass: leases of the dead end, and what waits on the ladder is due."""
    log.filter(status="pending").update(due_at=timezone.now(), leased_until=None)
