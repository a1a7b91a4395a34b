from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from accounts.webhooks.models import Event
from accounts.webhooks.queries import recent_event_types

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

    found = recent_event_types(tenant=alice_tenant, among=4)

    assert found == [
        ("b", 2, NOON + timedelta(minutes=4)),
        ("a", 2, NOON + timedelta(minutes=3)),
    ]


def test_no_events_give_no_types(alice_tenant):
    assert recent_event_types(tenant=alice_tenant, among=4) == []
