from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from accounts.states import Role
from accounts.webhooks.operations.endpoints import change_endpoint
from tests.accounts.webhooks.web.test_deliveries import page
from tests.factories.accounts import ACTOR, make_member
from tests.factories.users import make_user
from tests.factories.webhooks import (
    make_attempted_delivery,
    make_delivery,
    make_endpoint,
)

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox/"


@pytest.fixture
def failing(alice_tenant):
    make_user(tenant=alice_tenant)  # without one there is no overview
    endpoint = make_endpoint(tenant=alice_tenant, description="Warehouse")
    make_attempted_delivery(make_delivery(endpoint=endpoint))
    endpoint.first_failed_at = timezone.now()
    endpoint.save()
    return endpoint


def attention(reply):
    return [item.url for item in reply.context["overview"].attention]


def test_a_failing_endpoint_asks_for_attention(alice_web, failing):
    reply = alice_web.get(PLACE)

    assert page(failing) in attention(reply)
    assert "Warehouse (hooks.customer.example), 1 event not delivered" in reply.text
    assert reply.context["shell"].nav_counts["webhooks"].number == 1


def test_a_paused_endpoint_and_one_that_does_well_do_not(alice_web, failing):
    change_endpoint(endpoint=failing, actor=ACTOR, disabled=True)
    make_endpoint(tenant=failing.tenant)

    reply = alice_web.get(PLACE)

    assert page(failing) not in attention(reply)
    assert "webhooks" not in reply.context["shell"].nav_counts


def test_who_reads_no_webhooks_is_not_told(alice_team, failing):
    client = Client()
    client.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))

    assert page(failing) not in attention(client.get(PLACE))


def test_the_palette_finds_endpoints_and_messages(alice_web, failing):
    delivery = make_delivery(endpoint=failing)
    message_id = delivery.event.message_id

    by_name = alice_web.post(f"{PLACE}search/", {"q": "ware"})
    by_message = alice_web.post(f"{PLACE}search/", {"q": message_id})

    assert page(failing) in by_name.text
    found = by_message.headers.get("Location", "") + by_message.text
    assert f"{page(failing)}deliveries/{message_id}/" in found
