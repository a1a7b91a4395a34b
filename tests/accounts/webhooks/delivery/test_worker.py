"""Deliveries by a real worker to a real receiver, over the loopback."""

from __future__ import annotations

import asyncio
import socket
from datetime import timedelta

import orjson
import psycopg
import pytest
from aiohttp import web
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from accounts.models import Team
from accounts.webhooks.delivery import leases, sending, worker
from accounts.webhooks.management.commands.deliver_webhooks import connector
from accounts.webhooks.models import Attempt, Delivery, Endpoint, Event
from accounts.webhooks.operations.endpoints import (
    replace_custom_headers,
    reveal_signing_secret,
)
from tests.accounts.webhooks.delivery.receivers import Receiver, deliver
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import make_endpoint, make_event, make_events

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def port(settings, monkeypatch):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]
    monkeypatch.setattr(worker, "POLL_S", 0.01)
    monkeypatch.setattr(worker, "FLUSH_S", 0.001)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def endpoint_at(port, tenant, name="in", **wanted):
    return make_endpoint(tenant=tenant, url=f"http://127.0.0.1:{port}/{name}", **wanted)


def deliveries(tenant):
    return list(Delivery.objects.for_tenant(tenant).order_by("id"))


def attempts(tenant):
    return list(Attempt.objects.for_tenant(tenant).order_by("id"))


def make_due(tenant):
    Delivery.objects.for_tenant(tenant).update(due_at=timezone.now())


def answering(status, **headers):
    return lambda _request: web.Response(
        status=status,
        text="said",
        headers={k.replace("_", "-"): v for k, v in headers.items()},
    )


def test_a_message_arrives_signed_and_the_log_agrees(alice_tenant, port):
    endpoint = endpoint_at(port, alice_tenant)
    replace_custom_headers(endpoint=endpoint, actor=ACTOR, headers={"X-Team": "north"})
    event = make_event(tenant=alice_tenant, data={"name": "Müller"})
    receiver = Receiver(answering(200))

    deliver(port, **{"in": receiver})

    [(headers, body)] = receiver.got
    assert body.decode() == event.body
    assert headers["webhook-id"] == event.message_id
    assert (headers["Content-Type"], headers["X-Team"]) == ("application/json", "north")
    secret = reveal_signing_secret(endpoint=endpoint, actor=ACTOR)
    Webhook(secret).verify(body, {k.lower(): v for k, v in headers.items()})
    [delivery], [attempt] = deliveries(alice_tenant), attempts(alice_tenant)
    assert (delivery.status, delivery.attempts, delivery.last_code) == (
        "delivered",
        1,
        200,
    )
    assert delivery.finished_at is not None
    assert (attempt.number, attempt.code, attempt.fault, bytes(attempt.body)) == (
        1,
        200,
        "",
        b"said",
    )
    assert attempt.signature == headers["webhook-signature"]
    assert attempt.address == "127.0.0.1"
    assert Endpoint.objects.for_tenant(alice_tenant).get().last_success_at is not None


def test_a_failure_is_tried_again_after_five_seconds(alice_tenant, port):
    endpoint_at(port, alice_tenant)
    make_event(tenant=alice_tenant)
    receiver = Receiver(answering(500), answering(200))

    deliver(port, **{"in": receiver})
    [failed] = deliveries(alice_tenant)
    deliver(port, **{"in": receiver})
    early = len(receiver.got)
    make_due(alice_tenant)
    deliver(port, **{"in": receiver})

    assert (failed.status, failed.step, failed.last_fault) == ("pending", 1, "status")
    wait = failed.due_at - attempts(alice_tenant)[0].started_at
    assert timedelta(seconds=5) <= wait < timedelta(seconds=9)
    assert early == 1
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    [done] = deliveries(alice_tenant)
    assert (done.status, done.attempts) == ("delivered", 2)


def test_the_eighth_failure_gives_up_and_says_so_once(alice_tenant, port):
    endpoint = endpoint_at(port, alice_tenant)
    event = make_event(tenant=alice_tenant)
    log = Delivery.objects.for_tenant(alice_tenant)
    receiver = Receiver(answering(503))

    for failures in (6, 7, 7, 7):  # its last two, the last of what tells of it, none
        waiting = log.filter(status="pending")
        waiting.update(step=failures, attempts=failures, due_at=timezone.now())
        deliver(port, **{"in": receiver})

    rows = Event.objects.for_tenant(alice_tenant).exclude(pk=event.pk).get()
    data = orjson.loads(rows.body)
    assert rows.event_type == "message.attempt.exhausted"
    assert data["user_id"] == str(event.user_uuid)
    assert data["data"]["endpoint_id"] == str(endpoint.uuid)
    assert data["data"]["msg_id"] == event.message_id
    last = data["data"]["last_attempt"]
    assert (last["number"], last["response_status_code"], last["fault"]) == (
        8,
        503,
        "status",
    )
    assert [(d.status, d.attempts) for d in deliveries(alice_tenant)] == [
        ("failed", 8),
        ("failed", 8),
    ]


def test_410_ends_it_at_once_and_holds_the_rest(alice_tenant, port):
    endpoint_at(port, alice_tenant)
    make_event(tenant=alice_tenant)
    receiver = Receiver(answering(410))

    deliver(port, **{"in": receiver})
    make_event(tenant=alice_tenant)
    deliver(port, **{"in": receiver})

    endpoint = Endpoint.objects.for_tenant(alice_tenant).get()
    assert (endpoint.disabled_by, endpoint.disabled_at is None) == ("gone", False)
    assert len(receiver.got) == 1
    kinds = [(d.event_type, d.status) for d in deliveries(alice_tenant)]
    assert kinds == [
        ("lab_report.parsing_job.created", "failed"),
        ("message.attempt.exhausted", "held"),
        ("lab_report.parsing_job.created", "held"),
    ]


async def _reset(request):
    request.transport.abort()
    return web.Response()


async def _garbage(request):
    request.transport.write(b"\x00\xff no http at all\r\n\r\n")
    request.transport.close()
    return web.Response()


async def _huge(request):
    answer = web.StreamResponse(headers={"Content-Length": str(10 * 2**20)})
    await answer.prepare(request)
    for _ in range(160):
        await answer.write(b"x" * 2**16)
    return answer


@pytest.mark.parametrize(
    ("answer", "status", "code", "fault"),
    [
        (answering(302, Location="/in"), "pending", 302, "redirect"),
        (answering(404), "pending", 404, "status"),
        (_reset, "pending", None, "reset"),
        (_garbage, "pending", None, "garbage"),
        (_huge, "delivered", 200, ""),
    ],
    ids=["redirect", "missing", "reset", "garbage", "huge"],
)
def test_what_a_receiver_may_do_is_told_apart(
    alice_tenant, port, answer, status, code, fault
):
    endpoint_at(port, alice_tenant)
    make_event(tenant=alice_tenant)
    receiver = Receiver(answer)

    deliver(port, **{"in": receiver})

    [delivery], [attempt] = deliveries(alice_tenant), attempts(alice_tenant)
    assert (delivery.status, attempt.code, attempt.fault) == (status, code, fault)
    assert len(receiver.got) == 1
    assert len(attempt.body) <= 16 * 1024
    assert attempt.body_is_cut == (answer is _huge)


def test_a_closed_port_and_an_unknown_name_are_told_apart(alice_tenant, port, settings):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1", "nowhere.invalid"]
    endpoint_at(port, alice_tenant)
    make_endpoint(tenant=alice_tenant, url="http://nowhere.invalid/in")
    make_event(tenant=alice_tenant)

    asyncio.run(_deliver_alone())

    assert sorted(a.fault for a in attempts(alice_tenant)) == ["dns", "refused"]


async def _deliver_alone():
    async with sending.Sender() as sender:
        await worker.Deliverer(connect=connector(), sender=sender).run(until_idle=True)


def test_a_name_that_turns_private_is_refused_at_the_connect(
    alice_tenant, port, monkeypatch
):
    rebound = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_asked: [rebound])
    make_endpoint(tenant=alice_tenant, url=f"https://hooks.customer.example:{port}/in")
    make_event(tenant=alice_tenant)
    receiver = Receiver()

    deliver(port, **{"in": receiver})

    assert receiver.got == []
    assert [a.fault for a in attempts(alice_tenant)] == ["blocked"]


def test_an_address_that_was_stored_before_a_rule_is_refused_too(alice_tenant, port):
    endpoint_at(port, alice_tenant)
    Endpoint.objects.for_tenant(alice_tenant).update(url=f"http://127.0.0.2:{port}/in")
    make_event(tenant=alice_tenant)
    receiver = Receiver()

    deliver(port, **{"in": receiver})

    assert [a.fault for a in attempts(alice_tenant)] == ["blocked"]


def test_no_answer_in_time_is_a_failure(alice_tenant, port, monkeypatch):
    monkeypatch.setattr(sending, "TIMEOUT_S", 0.05)
    endpoint_at(port, alice_tenant)
    make_event(tenant=alice_tenant)

    async def never(_request):
        await asyncio.Event().wait()

    deliver(port, **{"in": Receiver(never)})

    assert [a.fault for a in attempts(alice_tenant)] == ["timeout"]


def test_two_workers_never_send_one_message_twice(alice_tenant, port):
    endpoint_at(port, alice_tenant)
    make_events(120, tenant=alice_tenant)
    receiver = Receiver()

    deliver(port, workers=2, **{"in": receiver})

    ids = [headers["webhook-id"] for headers, _ in receiver.got]
    assert len(ids) == len(set(ids)) == 120
    assert {d.status for d in deliveries(alice_tenant)} == {"delivered"}
    assert len(attempts(alice_tenant)) == 120


def test_an_endpoint_that_hangs_holds_up_no_other(alice_tenant, port, monkeypatch):
    endpoint_at(port, alice_tenant, "hangs")
    make_events(150, tenant=alice_tenant)
    endpoint_at(port, alice_tenant, "well")
    make_event(tenant=alice_tenant)
    hung, released = asyncio.Semaphore(0), asyncio.Event()

    async def hang(_request):
        hung.release()
        await released.wait()
        return web.Response()

    async def release(_request):
        # The two endpoints' first messages are on their way at the same time.
        for _ in range(32):
            await hung.acquire()
        released.set()
        return web.Response()

    hanging, well = Receiver(hang), Receiver(release)

    deliver(port, hangs=hanging, well=well)

    assert len(well.got) == 1
    assert hanging.most_at_once == 32
    assert {d.status for d in deliveries(alice_tenant)} == {"delivered"}


def test_a_dead_workers_claim_is_sent_again_under_the_same_id(alice_tenant, port):
    endpoint_at(port, alice_tenant)
    event = make_event(tenant=alice_tenant)
    held = timezone.now() + timedelta(seconds=leases.LEASE_S)
    Delivery.objects.for_tenant(alice_tenant).update(lease=1, leased_until=held)
    receiver = Receiver()

    deliver(port, **{"in": receiver})
    while_held = len(receiver.got)
    Delivery.objects.for_tenant(alice_tenant).update(
        leased_until=timezone.now() - timedelta(seconds=1)
    )
    deliver(port, **{"in": receiver})

    assert while_held == 0
    assert [headers["webhook-id"] for headers, _ in receiver.got] == [event.message_id]


def test_what_a_deleted_team_has_waiting_is_sent_once_it_is_back(alice_tenant, port):
    endpoint_at(port, alice_tenant)
    make_event(tenant=alice_tenant)
    receiver = Receiver()
    team = Team.objects.filter(pk=alice_tenant.team_id)

    team.update(deleted_at=timezone.now())
    deliver(port, **{"in": receiver})
    while_deleted = len(receiver.got), [d.status for d in deliveries(alice_tenant)]
    team.update(deleted_at=None)
    deliver(port, **{"in": receiver})

    assert while_deleted == (0, ["pending"])
    assert len(receiver.got) == 1


def test_a_claim_writes_next_to_no_index(alice_tenant):
    make_endpoint(tenant=alice_tenant)
    make_events(40, tenant=alice_tenant)

    async def claim():
        async with await connector()() as opened, opened.transaction():
            await leases.lease_due_deliveries(
                opened, limit=100, per_endpoint=100, busy={}
            )
            found = await opened.execute(
                "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables"
                " WHERE relname = 'webhooks_delivery'"
            )
            return await found.fetchone()

    updated, without_index = asyncio.run(claim())

    # The last row of a page may not fit twice.
    assert updated == 40
    assert without_index >= 36


def test_a_rate_limit_is_never_passed(alice_tenant, port):
    endpoint_at(port, alice_tenant, rate_limit=3)
    make_events(9, tenant=alice_tenant)
    counts = []

    async def claim_twice():
        async with await connector()() as opened:
            for _ in range(3):
                found = await leases.lease_due_deliveries(
                    opened, limit=100, per_endpoint=100, busy={}
                )
                counts.append(len(found))

    asyncio.run(claim_twice())

    assert counts[0] == 3
    assert sum(counts) <= 6


def test_a_lost_database_is_waited_for(alice_tenant, port, monkeypatch):
    monkeypatch.setattr(worker, "RECONNECT_S", 0.01)
    endpoint_at(port, alice_tenant)
    make_event(tenant=alice_tenant)

    async def cut(_request):
        async with await connector()() as other:
            await other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'assay deliver_webhooks'"
                " AND datname = current_database() AND pid <> pg_backend_pid()"
            )
        return web.Response()

    receiver = Receiver(cut)
    deliver(port, **{"in": receiver})

    assert len(receiver.got) == 1
    assert [d.status for d in deliveries(alice_tenant)] == ["delivered"]
    assert len(attempts(alice_tenant)) == 1


@pytest.mark.parametrize(("code", "status"), [(204, "delivered"), (500, "pending")])
def test_an_outcome_whose_commit_was_not_confirmed_is_logged_once(
    alice_tenant, port, monkeypatch, code, status
):
    monkeypatch.setattr(worker, "RECONNECT_S", 0.01)
    endpoint_at(port, alice_tenant)
    make_event(tenant=alice_tenant)
    write, lost = worker.record_delivery_outcomes, []

    async def write_and_lose(opened, told):
        await write(opened, told)
        if not lost:
            lost.append(told)
            raise psycopg.OperationalError

    monkeypatch.setattr(worker, "record_delivery_outcomes", write_and_lose)
    receiver = Receiver(answering(code))

    deliver(port, **{"in": receiver})

    assert len(lost) == len(receiver.got) == 1
    (delivery,) = deliveries(alice_tenant)
    assert (delivery.status, delivery.attempts, delivery.step) == (status, 1, 1)
    assert [attempt.number for attempt in attempts(alice_tenant)] == [1]
