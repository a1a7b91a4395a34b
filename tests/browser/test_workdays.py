"""Two working days, each with its number of actions, and what is printed of them.

The third, an order from nothing to booked, is in labs/test_booking.py. An action is a
press or a field that is filled. The actions before were counted by walking the same
days through the pages as they were without checklist, without a test event on the list
of endpoints and without "Sign and review next"; each says which they were.
"""

from __future__ import annotations

import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from playwright.sync_api import expect

from accounts.states import Role
from accounts.webhooks.models import Endpoint
from reports.models import Signature
from reports.parser.report import Interpretation, PageSize
from tests.accounts.webhooks.delivery.receivers import Receiver, deliver
from tests.browser.conftest import complaints
from tests.clients import confirm
from tests.factories.accounts import make_member
from tests.factories.labs import make_order
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_pdf,
    make_review,
)
from tests.factories.users import make_user

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
]

PLACE = "/t/alice-health/sandbox/"
# Webhooks, Add endpoint, its URL, Add, its menu, Send a test event, Send.
ACTIONS_TO_A_WEBHOOK_BEFORE = 7
# Each: the next report, Claim and review, Confirm, Approve, the meaning, Sign; the
# first is claimed by its row.
ACTIONS_OF_TEN_REPORTS_BEFORE = 59


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


@pytest.fixture
def morning(alice_tenant):
    """Ten reports of a page with two values that nothing is wrong with."""
    for number in range(10):
        plain = {
            "value": str(80 + number),
            "interpretation": Interpretation.NORMAL,
            "is_above_max_range": False,
        }
        make_review(
            user=make_user(tenant=alice_tenant),
            report=make_parsed(
                results=(
                    make_parsed_result(**plain),
                    make_parsed_result(**plain, test_name="Glucose, fasting"),
                ),
                page_sizes=(PageSize(1, 595.28, 841.89),),
            ),
            content=make_pdf(rows=(("Glucose", str(80 + number), "mg/dL", "70 - 99"),)),
            metadata={"lab_name": "Example Laboratory"},
        )


@pytest.mark.long
def test_ten_reports_of_a_morning_are_reviewed_and_signed(visit, alice_team, morning):
    nora = make_member(
        team=alice_team, email="nora@alice.example", roles=(Role.CLINICIAN,)
    )
    client = Client()
    client.force_login(nora)
    confirm(client)
    found = []
    with visit.page(client=client) as page:
        hand = Hand(page)
        page.goto(f"{PLACE}reviews/")
        began = time.monotonic()
        hand.press("button", re.compile("claim and review"))
        for left in range(9, -1, -1):
            hand.press("button", re.compile("^Confirm 2 unflagged"))
            expect(page.locator("[data-decided]")).to_have_count(2)
            # A page counts as viewed once it has been in sight for a while.
            expect(page.locator(".desk__page figcaption form")).to_have_count(0)
            hand.press("link", "Approve…")
            hand.press("radio", re.compile("."))
            if left == 9:
                found = complaints(page)
            hand.press("button", "Sign and review next" if left else "Sign and approve")
            expect(page.get_by_text("Report signed.")).to_be_visible()
        took = time.monotonic() - began
        page.wait_for_url("**/reports/*/")

    assert Signature.unscoped.count() == 10
    assert hand.actions == 41 < ACTIONS_OF_TEN_REPORTS_BEFORE
    assert took < 180
    assert found == []


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
