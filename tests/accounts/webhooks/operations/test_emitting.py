from __future__ import annotations

from uuid import uuid4

import orjson
import pytest
from django.db import transaction

from accounts.webhooks.models import Delivery, Event
from accounts.webhooks.operations import UserRef, emit_event, emit_events
from accounts.webhooks.operations.endpoints import change_endpoint, delete_endpoint
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import KIND, make_endpoint, make_event

pytestmark = pytest.mark.django_db

USER = UserRef(user_uuid=uuid4(), client_user_id="mbr_9")


def deliveries(tenant):
    return list(Delivery.objects.for_tenant(tenant).order_by("id"))


def test_an_event_is_the_envelope_as_it_is_sent(alice_tenant):
    event = emit_event(
        tenant=alice_tenant, user=USER, event_type=KIND, data={"id": "7"}
    )

    stored = Event.objects.for_tenant(alice_tenant).get()
    assert (stored.pk, stored.message_id) == (event.pk, event.message_id)
    assert orjson.loads(stored.body) == {
        "event_type": KIND,
        "data": {"id": "7"},
        "team_id": str(alice_tenant.team_id),
        "user_id": str(USER.user_uuid),
        "client_user_id": "mbr_9",
    }


def test_each_endpoint_that_wants_it_gets_a_delivery(
    alice_tenant, alice_production, charlie_tenant
):
    everything = make_endpoint(tenant=alice_tenant)
    exact = make_endpoint(tenant=alice_tenant, filter_types=[KIND])
    prefix = make_endpoint(tenant=alice_tenant, filter_types=["lab_report."])
    make_endpoint(tenant=alice_tenant, filter_types=["provider."])
    make_endpoint(tenant=alice_production)
    make_endpoint(tenant=charlie_tenant)
    gone = make_endpoint(tenant=alice_tenant)
    delete_endpoint(endpoint=gone, actor=ACTOR)

    event = make_event(tenant=alice_tenant)

    made = deliveries(alice_tenant)
    assert [d.endpoint_id for d in made] == [everything.pk, exact.pk, prefix.pk]
    assert {(d.event_id, d.event_type, d.user_uuid, d.status) for d in made} == {
        (event.pk, KIND, event.user_uuid, "pending")
    }
    assert deliveries(alice_production) == deliveries(charlie_tenant) == []


def test_a_disabled_endpoint_keeps_what_it_misses(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    make_event(tenant=alice_tenant)
    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=True)

    make_event(tenant=alice_tenant)

    assert [d.status for d in deliveries(alice_tenant)] == ["held", "held"]


def test_nothing_is_left_of_a_change_that_is_rolled_back(alice_tenant):
    make_endpoint(tenant=alice_tenant)

    with transaction.atomic():
        make_event(tenant=alice_tenant)
        transaction.set_rollback(True)

    assert Event.objects.for_tenant(alice_tenant).count() == 0
    assert deliveries(alice_tenant) == []


def test_many_events_keep_their_order(alice_tenant):
    make_endpoint(tenant=alice_tenant)
    make_endpoint(tenant=alice_tenant)
    messages = [(KIND, {"id": str(number)}) for number in range(30)]

    events = emit_events(tenant=alice_tenant, user=USER, messages=messages)

    stored = Event.objects.for_tenant(alice_tenant).order_by("id")
    assert [orjson.loads(e.body)["data"]["id"] for e in stored] == [
        str(number) for number in range(30)
    ]
    assert [e.pk for e in events] == [e.pk for e in stored]
    assert len(deliveries(alice_tenant)) == 60


def test_no_messages_are_no_events(alice_tenant):
    assert emit_events(tenant=alice_tenant, user=USER, messages=[]) == []


def test_an_unknown_type_writes_nothing(alice_tenant):
    with pytest.raises(KeyError):
        make_event(tenant=alice_tenant, event_type="lab_report.unheard_of")

    assert Event.objects.for_tenant(alice_tenant).count() == 0
