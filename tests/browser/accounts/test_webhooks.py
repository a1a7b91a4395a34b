from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.webhooks.models import Delivery, Replay
from accounts.webhooks.operations.replay import queue_next_replay_deliveries
from tests.browser.conftest import complaints
from tests.factories.users import make_user
from tests.factories.webhooks import (
    make_attempted_delivery,
    make_delivery,
    make_endpoint,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLACE = "/t/alice-health/sandbox/"


@pytest.fixture
def endpoint(alice_tenant):
    """It took one message and then failed three."""
    make_user(tenant=alice_tenant)
    endpoint = make_endpoint(tenant=alice_tenant, description="Warehouse")
    for age, code in ((4, 200), (3, 500), (2, 500), (1, 500)):
        at = timezone.now() - timedelta(hours=age)
        delivery = make_delivery(endpoint=endpoint, age=timedelta(hours=age))
        status = "failed" if code == 500 else None
        make_attempted_delivery(
            delivery,
            code=code,
            status=status,
            started_at=at,
            body=b"out of memory",
            headers=[["Server", "hooks"]],
        )
    endpoint.first_failed_at = timezone.now() - timedelta(hours=3)
    endpoint.save()
    return endpoint


def send(endpoint):
    """What a worker does with the replays that wait."""
    rows = Delivery.objects.for_tenant(endpoint.tenant).filter(lane=1, status="pending")
    for delivery in rows:
        make_attempted_delivery(delivery, code=200)


def test_an_admin_finds_why_an_endpoint_fails_and_replays_what_it_missed(
    visit, alice, endpoint
):
    with visit.page(member=alice) as page:
        page.goto(PLACE)
        page.get_by_role("link", name="Endpoint failing").click()
        expect(page.get_by_text("Receiver responds with 500, first")).to_be_visible()
        found = complaints(page)
        page.get_by_role("button", name="Outcome").click()
        page.get_by_role("link", name="Failed", exact=True).click()
        expect(page.locator("#log-rows tr")).to_have_count(3)

        page.locator("#log-rows .rowlink").first.press("Enter")
        detail = page.locator("#delivery")
        expect(detail.get_by_text("out of memory")).to_be_visible()
        expect(page).to_have_url(re.compile(r"/deliveries/msg_"))
        detail.get_by_role("button", name="Show payload").click()
        expect(detail.get_by_role("button", name="Show payload")).to_have_count(0)
        expect(detail.get_by_text("--data-binary")).to_be_visible()
        found += complaints(page)
        page.go_back()

        page.get_by_role("link", name="Replay matching events").click()
        expect(page.get_by_text("3 events", exact=True)).to_be_visible()
        page.get_by_role("button", name="Replay 3").click()
        expect(page.get_by_text("Sending the first event.")).to_be_visible()
        send(endpoint)
        page.get_by_role("button", name="Replay remaining 2").click()
        replay = Replay.objects.for_tenant(endpoint.tenant).get()
        expect(page.get_by_text("1 of 3").first).to_be_visible()
        queue_next_replay_deliveries(tenant=endpoint.tenant, replay_pk=replay.pk)
        send(endpoint)
        queue_next_replay_deliveries(tenant=endpoint.tenant, replay_pk=replay.pk)
        expect(page.get_by_text("3 of 3").first).to_be_visible()
        expect(page.locator("h1 .pill")).to_have_text("Done")
        found += complaints(page)

    statuses = Delivery.objects.for_tenant(endpoint.tenant).values_list("status")
    assert {status for (status,) in statuses} == {"delivered"}
    assert found == []


def test_without_script_chosen_deliveries_are_replayed(visit, alice, endpoint):
    with visit.page(member=alice, scripts=False) as page:
        page.goto(f"{PLACE}webhooks/{endpoint.uuid}/?outcome=failed")
        page.locator("#log-rows input").first.check()
        page.get_by_role("button", name="Replay selected").click()
        page.get_by_role("button", name="Replay 1").click()
        page.wait_for_url(re.compile(r"/replays/"))

    replay = Replay.objects.for_tenant(endpoint.tenant).get()
    assert (replay.total, replay.status) == (1, "running")
