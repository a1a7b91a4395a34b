"""A new team's first day, with its number of actions, and what is printed.

An order from nothing to booked is in labs/test_booking.py. An action is a press or a
field that is filled. The actions before are those of the same day through the pages as
they were without checklist and without a test event where the endpoint is.
"""

from __future__ import annotations

import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from django.db import connection
from playwright.sync_api import expect

from accounts.webhooks.models import Endpoint
from tests.accounts.webhooks.delivery.receivers import Receiver, deliver
from tests.factories.labs import make_order

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
]

PLACE = "/t/alice-health/sandbox/"
# Webhooks, Add endpoint, its URL, Add, its menu, Send a test event, Send.
ACTIONS_TO_A_WEBHOOK_BEFORE = 7


class Hand:
    """Acts on a page as a person does, and counts."""

    def __init__(self, page):
        self.page = page
        self.actions = 0

    def press(self, role, name, **how):
        self.page.get_by_role(role, name=name, **how).first.click()
        self.actions += 1

    def fill(self, label, text):
        self.page.get_by_label(label, exact=True).fill(text)
        self.actions += 1


def send_webhooks(port, receiver):
    """Deliver what is due, in a thread of its own: Playwright's loop has ours."""

    def work():
        try:
            deliver(port, hook=receiver)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def start_with_a_webhook(page, port, receiver):
    """From the overview of an empty team to an event that its server has taken."""
    hand = Hand(page)
    page.goto(PLACE)
    began = time.monotonic()
    hand.press("link", "Receive an event")
    hand.fill("URL", f"http://127.0.0.1:{port}/hook")
    hand.press("button", "Add endpoint")
    hand.press("button", re.compile("^Send test event"))
    page.wait_for_url("**/deliveries/**")
    send_webhooks(port, receiver)
    page.goto(PLACE)
    step = page.locator(".steps li").filter(has_text="Receive an event")
    expect(step).to_contain_text("Done")
    return hand.actions, time.monotonic() - began


@pytest.fixture
def port(settings):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_new_team_receives_its_first_webhook(visit, alice, port, scripts):
    receiver = Receiver()
    with visit.page(member=alice, scripts=scripts) as page:
        actions, took = start_with_a_webhook(page, port, receiver)

    assert len(receiver.got) == 1
    assert Endpoint.unscoped.get().last_success_at is not None
    assert actions == 4 < ACTIONS_TO_A_WEBHOOK_BEFORE
    assert took < 60


def test_a_printed_page_says_whose_it_is_and_when(visit, alice, alice_tenant):
    order = make_order(tenant=alice_tenant)
    with visit.page(member=alice) as page:
        page.clock.set_fixed_time(datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
        page.goto(f"{PLACE}orders/{order.pk}/")
        head = page.locator(".printhead")
        expect(head).to_be_hidden()
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")

        expect(head).to_contain_text("Alice Health")
        expect(head).to_contain_text("Sandbox")
        expect(head).to_contain_text("Printed 2 Mar 2026, 09:30")
        expect(page.locator(".nav")).to_be_hidden()
        expect(page.get_by_role("button", name="More actions")).to_be_hidden()
        ago = page.locator("main time.ago").first
        shown = ago.evaluate("one => getComputedStyle(one, '::after').content")
        assert shown.strip('"') == ago.get_attribute("title")
        assert ago.evaluate("one => getComputedStyle(one).fontSize") == "0px"
