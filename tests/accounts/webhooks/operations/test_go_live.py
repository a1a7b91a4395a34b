from __future__ import annotations

import pytest
from django.utils import timezone

from accounts.declarations.go_live import GoLiveResult
from accounts.webhooks.models import Delivery, Endpoint
from accounts.webhooks.operations import go_live
from accounts.webhooks.operations.go_live import read_webhooks, send_go_live_test_events
from tests.factories.accounts import ACTOR, make_tenant
from tests.factories.webhooks import make_endpoint

pytestmark = pytest.mark.django_db

FIRST = "https://one.customer.example/a-secret-path?token=very-secret"
SECOND = "https://two.customer.example/hook"


@pytest.fixture
def endpoint(alice_production):
    return make_endpoint(tenant=alice_production, url=FIRST)


def change(endpoint, **fields):
    rows = Endpoint.objects.for_tenant(endpoint.tenant).filter(pk=endpoint.pk)
    rows.update(**fields)


def test_without_an_endpoint_it_is_missing(alice_production, charlie_team):
    make_endpoint(tenant=make_tenant(team=charlie_team, environment="production"))

    assert read_webhooks(alice_production) == GoLiveResult("missing")


def test_a_deleted_endpoint_is_none(alice_production, endpoint):
    change(endpoint, deleted_at=timezone.now())

    assert read_webhooks(alice_production) == GoLiveResult("missing")


def test_the_worst_endpoint_decides_and_only_its_host_is_named(
    alice_production, endpoint
):
    unused = read_webhooks(alice_production)
    change(endpoint, last_success_at=timezone.now())
    accepted = read_webhooks(alice_production)
    second = make_endpoint(tenant=alice_production, url=SECOND)
    half = read_webhooks(alice_production)
    change(endpoint, first_failed_at=timezone.now())
    failing = read_webhooks(alice_production)
    for each in (endpoint, second):
        change(each, disabled_at=timezone.now())

    one, two = {"hosts": "one.customer.example"}, {"hosts": "two.customer.example"}
    assert unused == GoLiveResult("unused", one)
    assert accepted == GoLiveResult("accepted", one)
    assert half == GoLiveResult("unused", two)
    assert failing == GoLiveResult("failing", one)
    assert read_webhooks(alice_production) == GoLiveResult("disabled")


def test_a_test_event_goes_to_enabled_endpoints_up_to_a_limit(
    alice_production, endpoint, monkeypatch
):
    disabled = make_endpoint(tenant=alice_production, url=SECOND)
    change(disabled, disabled_at=timezone.now())
    make_endpoint(tenant=alice_production, url=SECOND)
    monkeypatch.setattr(go_live, "TRIED_ENDPOINTS", 1)

    send_go_live_test_events(alice_production, ACTOR)

    deliveries = Delivery.objects.for_tenant(alice_production)
    assert [each.endpoint_id for each in deliveries] == [endpoint.pk]
