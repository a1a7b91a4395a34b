from __future__ import annotations

import orjson
import pytest

from accounts.models import AuditEntry
from accounts.webhooks.feed import list_event_feed
from accounts.webhooks.models import Delivery, Event
from accounts.webhooks.operations.endpoints import change_endpoint
from accounts.webhooks.operations.testing import send_test_event
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import make_endpoint

pytestmark = pytest.mark.django_db

KIND = "daily.data.sleep.created"


def nothing_was_sent(tenant):
    verb = "send_test_event"
    return not (
        Event.objects.for_tenant(tenant).exists()
        or Delivery.objects.for_tenant(tenant).exists()
        or AuditEntry.objects.for_tenant(tenant).filter(verb=verb).exists()
    )


def test_an_example_waits_for_this_endpoint_alone(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant, filter_types=["labtest."])
    make_endpoint(tenant=alice_tenant)

    delivery = send_test_event(endpoint=endpoint, actor=ACTOR, event_type=KIND)

    stored = Delivery.objects.for_tenant(alice_tenant).get()
    body = orjson.loads(stored.event.body)
    assert (stored, stored.endpoint, stored.status) == (delivery, endpoint, "pending")
    assert stored.event.is_test
    assert (body["event_type"], body["team_id"]) == (KIND, str(alice_tenant.team_id))
    assert body["user_id"] == str(stored.user_uuid)


def test_tests_are_not_in_the_feed(alice_tenant):
    send_test_event(endpoint=make_endpoint(tenant=alice_tenant), actor=ACTOR)

    page = list_event_feed(tenant=alice_tenant, after=0, limit=10)

    assert page.events == []


@pytest.mark.parametrize(
    ("filter_types", "kind"),
    [(["labtest."], "labtest.order.created"), ([KIND], KIND)],
)
def test_without_a_type_it_is_one_that_the_endpoint_takes(
    alice_tenant, filter_types, kind
):
    endpoint = make_endpoint(tenant=alice_tenant, filter_types=filter_types)

    assert send_test_event(endpoint=endpoint, actor=ACTOR).event_type == kind


def test_an_unknown_type_is_refused(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)

    with pytest.raises(DomainError) as refused:
        send_test_event(endpoint=endpoint, actor=ACTOR, event_type="labtest.")

    assert refused.value.code == "event_type_unknown"
    assert nothing_was_sent(alice_tenant)


def test_a_disabled_endpoint_is_refused(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=True)

    with pytest.raises(DomainError) as refused:
        send_test_event(endpoint=endpoint, actor=ACTOR)

    assert refused.value.code == "endpoint_disabled"
    assert nothing_was_sent(alice_tenant)
