from __future__ import annotations

import socket

import pytest

from accounts.webhooks.models import Endpoint
from accounts.webhooks.operations import endpoints as operations
from accounts.webhooks.operations.endpoints import change_endpoint
from portal.demo.webhooks import (
    AT_FIRST,
    FAILS,
    WORKS,
    find_free_receiver_port,
    register_demo_webhook_receiver,
    subscribe_demo_receiver_to_all_events,
)
from portal.lib.secrets.encryption import decrypt_secret
from tests.factories.accounts import ACTOR

SECRET_KEY = "another key, of a folder that was lost"


@pytest.fixture(autouse=True)
def _this_machine(settings):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]


def endpoints(tenant):
    rows = Endpoint.objects.for_tenant(tenant).live().order_by("pk")
    return [(e.description, e.url, e.filter_types) for e in rows]


def found(port, slug, *, types=AT_FIRST):
    return (WORKS, f"http://127.0.0.1:{port}/{slug}", types)


@pytest.mark.django_db
def test_the_demo_has_an_endpoint_that_works_and_one_that_fails(alice_tenant):
    for _ in range(2):
        register_demo_webhook_receiver(tenant=alice_tenant, port=8001, fails=True)

    assert endpoints(alice_tenant) == [
        found(8001, alice_tenant.team.slug),
        (FAILS, "http://127.0.0.1:8001/status/500", ["lab_report."]),
    ]


@pytest.mark.django_db
def test_endpoints_follow_the_receiver_to_another_port(alice_tenant):
    register_demo_webhook_receiver(tenant=alice_tenant, port=8001, fails=False)
    secret = Endpoint.objects.for_tenant(alice_tenant).get().secret

    register_demo_webhook_receiver(tenant=alice_tenant, port=8002, fails=False)

    assert endpoints(alice_tenant) == [found(8002, alice_tenant.team.slug)]
    assert Endpoint.objects.for_tenant(alice_tenant).get().secret == secret


@pytest.mark.django_db
def test_an_endpoint_whose_secret_is_lost_is_made_anew(alice_tenant, settings):
    register_demo_webhook_receiver(tenant=alice_tenant, port=8001, fails=False)
    settings.SECRET_KEY = SECRET_KEY

    register_demo_webhook_receiver(tenant=alice_tenant, port=8001, fails=False)

    assert endpoints(alice_tenant) == [found(8001, alice_tenant.team.slug)]
    fresh = Endpoint.objects.for_tenant(alice_tenant).live().get()
    assert decrypt_secret(fresh.secret).startswith("whsec_")


@pytest.mark.django_db
def test_the_receiver_gets_everything_once_the_data_is_loaded(alice_tenant):
    register_demo_webhook_receiver(tenant=alice_tenant, port=8001, fails=True)

    subscribe_demo_receiver_to_all_events(tenant=alice_tenant)

    assert [types for *_, types in endpoints(alice_tenant)] == [None, ["lab_report."]]


@pytest.mark.django_db
def test_a_choice_of_types_is_kept(alice_tenant):
    register_demo_webhook_receiver(tenant=alice_tenant, port=8001, fails=False)
    endpoint = Endpoint.objects.for_tenant(alice_tenant).get()
    change_endpoint(endpoint=endpoint, actor=ACTOR, filter_types=["labtest."])

    register_demo_webhook_receiver(tenant=alice_tenant, port=8001, fails=False)
    subscribe_demo_receiver_to_all_events(tenant=alice_tenant)

    assert [types for *_, types in endpoints(alice_tenant)] == [["labtest."]]


@pytest.mark.django_db
def test_a_team_that_has_all_endpoints_it_may_have_goes_without(
    alice_tenant, monkeypatch
):
    monkeypatch.setattr(operations, "ENDPOINTS_MAX", 0)

    register_demo_webhook_receiver(tenant=alice_tenant, port=8001, fails=True)

    assert endpoints(alice_tenant) == []


def test_the_port_of_the_last_run_is_taken_again_unless_it_is_busy():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        kept = probe.getsockname()[1]
        other = find_free_receiver_port(kept=kept, beside=20_000)

    assert find_free_receiver_port(kept=kept, beside=20_000) == kept
    assert other != kept
    assert other in range(20_001, 20_101)


def test_the_receiver_never_takes_the_port_of_the_web_server():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        asked_for = probe.getsockname()[1]

    found = find_free_receiver_port(kept=asked_for, beside=asked_for)

    assert found is not None
    assert found != asked_for


def test_there_may_be_no_port_left():
    assert find_free_receiver_port(kept=0, beside=65_535) is None
