from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.models import Team
from accounts.webhooks.delivery import leases, outcomes
from accounts.webhooks.delivery.sending import SendOutcome
from accounts.webhooks.management.commands.deliver_webhooks import connector
from accounts.webhooks.models import Attempt, Delivery, Endpoint, Event, Replay
from accounts.webhooks.operations import UserRef, delete_user_events, retention
from accounts.webhooks.operations.endpoints import delete_endpoint
from accounts.webhooks.operations.retention import delete_events_past_retention
from accounts.webhooks.states import DeliveryFault
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import make_endpoint, make_event
from tests.statements import count_statements

pytestmark = pytest.mark.django_db

USER = UserRef(user_uuid=uuid4(), client_user_id="mbr_9")


def age(event, *, days):
    Event.objects.for_tenant(event.tenant).filter(pk=event.pk).update(
        created_at=timezone.now() - timedelta(days=days)
    )


def settle(event, status="delivered"):
    """End the deliveries of an event, each with an attempt in the log."""
    sent = Delivery.objects.for_tenant(event.tenant).filter(event=event)
    sent.update(status=status)
    for delivery in sent:
        Attempt(
            tenant=event.tenant,
            delivery=delivery,
            endpoint=delivery.endpoint,
            number=1,
            succeeded=True,
            started_at=event.created_at,
            sent_timestamp=1,
            signature="v1,",
            total_ms=1.0,
        ).save(force_insert=True)


def kept(tenant):
    return (
        list(Event.objects.for_tenant(tenant).order_by("id")),
        Delivery.objects.for_tenant(tenant).count(),
        Attempt.objects.for_tenant(tenant).count(),
    )


def test_an_event_goes_with_its_log_when_the_team_s_days_are_over(
    alice_tenant, charlie_tenant
):
    Team.objects.filter(pk=charlie_tenant.team_id).update(event_retention_days=10)
    made = {}
    for tenant in (alice_tenant, charlie_tenant):
        make_endpoint(tenant=tenant)
        for days in (31, 29, 11, 9):
            made[tenant, days] = event = make_event(tenant=tenant)
            settle(event)
            age(event, days=days)

    pruned = delete_events_past_retention()

    assert pruned == 4
    assert kept(alice_tenant) == ([made[alice_tenant, n] for n in (29, 11, 9)], 3, 3)
    assert kept(charlie_tenant) == ([made[charlie_tenant, 9]], 1, 1)


def test_what_still_waits_for_an_endpoint_stays_whole(alice_tenant):
    make_endpoint(tenant=alice_tenant)
    make_endpoint(tenant=alice_tenant)
    waiting, held = make_event(tenant=alice_tenant), make_event(tenant=alice_tenant)
    settle(held, "held")
    settle(waiting)
    Delivery.objects.for_tenant(alice_tenant).filter(
        pk=Delivery.objects.for_tenant(alice_tenant).filter(event=waiting).first().pk
    ).update(status="pending")
    age(waiting, days=400)
    age(held, days=400)

    delete_events_past_retention()

    assert kept(alice_tenant) == ([waiting], 2, 2)


def test_batches_go_on_past_what_stays(alice_tenant, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 2)
    waiting = []
    for number in range(7):
        event = make_event(tenant=alice_tenant)
        if number in (0, 3):
            Delivery(
                tenant=alice_tenant,
                endpoint=make_endpoint(tenant=alice_tenant),
                event=event,
                event_type=event.event_type,
                user_uuid=event.user_uuid,
            ).save(force_insert=True)
            waiting.append(event)
        # The endpoints made above took what came after them.
        Delivery.objects.for_tenant(alice_tenant).exclude(event__in=waiting).delete()
        age(event, days=31)
    young = make_event(tenant=alice_tenant)

    pruned = delete_events_past_retention()

    assert pruned == 5
    assert kept(alice_tenant)[0] == [*waiting, young]


def test_a_deleted_endpoint_goes_with_the_last_of_its_log(alice_tenant):
    live = make_endpoint(tenant=alice_tenant)
    ended = make_endpoint(tenant=alice_tenant)
    event = make_event(tenant=alice_tenant)
    settle(event)
    delete_endpoint(endpoint=ended, actor=ACTOR)
    Endpoint.objects.for_tenant(alice_tenant).filter(pk=ended.pk).update(
        deleted_at=timezone.now() - timedelta(days=31)
    )

    delete_events_past_retention()
    with_log = Endpoint.objects.for_tenant(alice_tenant).count()
    age(event, days=31)
    delete_events_past_retention()

    assert with_log == 2
    assert Endpoint.objects.for_tenant(alice_tenant).get() == live


def test_a_prune_of_nothing_asks_little_of_a_tenant(alice_tenant):
    for _ in range(3):
        make_event(tenant=alice_tenant)

    # Of each of two tenants a page of events, ended replays and ended endpoints.
    with count_statements() as sent:
        pruned = delete_events_past_retention()

    assert pruned == 0
    assert len(sent) == 2 * 3


def test_a_purge_removes_what_was_sent_about_a_user_and_nothing_else(
    alice_tenant, charlie_tenant, monkeypatch
):
    monkeypatch.setattr(retention, "BATCH", 2)
    make_endpoint(tenant=alice_tenant)
    for _ in range(5):
        settle(make_event(tenant=alice_tenant, user=USER))
    waiting = make_event(tenant=alice_tenant, user=USER)
    other = make_event(tenant=alice_tenant)
    settle(other)
    elsewhere = make_event(tenant=charlie_tenant, user=USER)

    delete_user_events(tenant_pk=alice_tenant.pk, user_uuid=USER.user_uuid)

    assert waiting.pk is not None
    assert kept(alice_tenant) == ([other], 1, 1)
    assert Delivery.objects.for_tenant(alice_tenant).get().event_id == other.pk
    assert kept(charlie_tenant)[0] == [elsewhere]


def test_a_replay_that_was_about_an_erased_user_names_the_uuid_alone(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    make_event(tenant=alice_tenant, user=USER)
    for user in (USER.client_user_id, "mbr_1"):
        Replay(
            tenant=alice_tenant,
            endpoint=endpoint,
            started_by="alice@assay.example",
            scope={"user": user},
            until=timezone.now(),
            status="done",
            total=1,
            rate=1,
        ).save(force_insert=True)

    delete_user_events(tenant_pk=alice_tenant.pk, user_uuid=USER.user_uuid)

    scopes = Replay.objects.for_tenant(alice_tenant).order_by("pk")
    assert [replay.scope["user"] for replay in scopes] == [
        str(USER.user_uuid),
        "mbr_1",
    ]


@pytest.mark.django_db(transaction=True)
def test_the_verdict_of_an_erased_message_leaves_nothing(alice_tenant):
    make_endpoint(tenant=alice_tenant)
    make_event(tenant=alice_tenant, user=USER)

    async def lease_and_record(between):
        async with await connector()() as opened:
            [lease] = await leases.lease_due_deliveries(
                opened, limit=1, per_endpoint=1, busy={}
            )
            await asyncio.to_thread(between)
            outcome = SendOutcome(1.0, 1, "v1,", fault=DeliveryFault.RESET)
            await outcomes.record_delivery_outcomes(
                opened, [outcomes.AttemptOutcome(lease, outcome, None)]
            )

    def erase():
        from django.db import connection

        delete_user_events(tenant_pk=alice_tenant.pk, user_uuid=USER.user_uuid)
        connection.close()

    asyncio.run(lease_and_record(erase))

    assert kept(alice_tenant) == ([], 0, 0)
