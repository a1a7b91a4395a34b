from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from accounts.webhooks.models import Event
from accounts.webhooks.operations import emit_event
from accounts.webhooks.queries import (
    count_recent_event_types,
    list_endpoints_by_message,
    list_events_about_object,
    list_user_events_with_bodies,
)
from tests.factories.users import make_user
from tests.factories.webhooks import KIND, make_delivery, make_endpoint, make_event

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def emit(tenant, event_type, minutes):
    Event(
        tenant=tenant,
        event_type=event_type,
        user_uuid=uuid4(),
        client_user_id="mbr_1",
        body="{}",
        created_at=NOON + timedelta(minutes=minutes),
    ).save(force_insert=True)


def test_types_come_with_their_number_and_last_time_the_latest_first(
    alice_tenant, charlie_tenant
):
    for minutes, event_type in enumerate(("a", "b", "a", "a", "b")):
        emit(alice_tenant, event_type, minutes)
    emit(charlie_tenant, "c", 9)

    found = count_recent_event_types(tenant=alice_tenant, among=4)

    assert found == [
        ("b", 2, NOON + timedelta(minutes=4)),
        ("a", 2, NOON + timedelta(minutes=3)),
    ]


def test_the_endpoints_told_of_a_message_are_named_without_their_paths(
    alice_tenant, charlie_tenant, django_assert_num_queries
):
    delivery = make_delivery(
        endpoint=make_endpoint(
            tenant=alice_tenant, url="https://hooks.example/secret-path"
        )
    )
    message_id = delivery.event.message_id

    with django_assert_num_queries(2):
        told = list_endpoints_by_message(tenant=alice_tenant, message_ids=[message_id])

    assert told == {
        message_id: [(delivery.endpoint.uuid, "hooks.example", delivery.status)]
    }
    assert (
        list_endpoints_by_message(tenant=charlie_tenant, message_ids=[message_id]) == {}
    )


def test_no_events_give_no_types(alice_tenant):
    assert count_recent_event_types(tenant=alice_tenant, among=4) == []


def test_events_about_one_thing_come_the_latest_first_with_what_they_say(
    alice_tenant, charlie_tenant
):
    order_id, other_id = uuid4(), uuid4()
    mine = make_user(tenant=alice_tenant)
    for tenant, user, kind, data_id, low in (
        (alice_tenant, mine, "created", order_id, "ordered"),
        (alice_tenant, mine, "updated", order_id, "cancelled"),
        (alice_tenant, mine, "updated", other_id, "completed"),
        (alice_tenant, make_user(tenant=alice_tenant), "updated", order_id, "lost"),
        (charlie_tenant, make_user(tenant=charlie_tenant), "updated", order_id, "lost"),
    ):
        emit_event(
            tenant=tenant,
            user=user.ref,
            event_type=f"labtest.order.{kind}",
            data={"id": data_id, "last_event": {"status": low}},
        )

    found = list_events_about_object(
        tenant=alice_tenant,
        user_uuid=mine.uuid,
        event_types=("labtest.order.created", "labtest.order.updated"),
        data_id=order_id,
        says="last_event__status",
    )

    assert [(event.event_type, event.says) for event in found] == [
        ("labtest.order.updated", "cancelled"),
        ("labtest.order.created", "ordered"),
    ]
    assert {event.message_id for event in found} == {
        event.message_id
        for event in Event.objects.for_tenant(alice_tenant).order_by("id")[:2]
    }


def test_carrying_events_come_with_their_bodies_and_deliveries(alice_tenant):
    user = make_user(tenant=alice_tenant)
    endpoint = make_endpoint(tenant=alice_tenant)
    wanted = make_event(tenant=alice_tenant, user=user.ref, event_type=KIND)
    make_event(tenant=alice_tenant, event_type=KIND)  # of somebody else

    (found,) = list_user_events_with_bodies(
        tenant=alice_tenant, user_uuid=user.uuid, event_types=[KIND], limit=5
    )
    none = list_user_events_with_bodies(
        tenant=alice_tenant, user_uuid=user.uuid, event_types=["a"], limit=5
    )

    assert (found.message_id, found.body) == (wanted.message_id, wanted.body)
    assert found.deliveries == [(endpoint.uuid, "pending")]
    assert none == []
