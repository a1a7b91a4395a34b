from __future__ import annotations

import re
import time
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from labs.models import Appointment
from labs.operations.appointments.slot_places import hold_slot_for_order
from tests.browser.conftest import complaints
from tests.factories.appointments import free_slots, make_bookable_order, make_center

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),  # three pages in every look on a busy machine
]

ORDER = "/t/alice-health/sandbox/orders/{}/"
USER = "/t/alice-health/sandbox/users/{}/"
# From a user's page to booked, for one who had an order before. The wizard of seven
# steps took 15: New order, Choose, Continue or Review on five steps, Add, Place and the
# sandbox's Advance, and five to book at another center on another day.
ACTIONS_BEFORE = 15


class Hand:
    """Acts on a page as a person does, and counts."""

    def __init__(self):
        self.actions = 0

    def press(self, found):
        self.actions += 1
        found.click()


@pytest.fixture
def center():
    return make_center(name="Harborview", hours="mon-sun 00:00-23:59", places=1)


def test_an_order_is_placed_and_booked_in_fewer_actions_than_before(
    visit, alice, alice_tenant, center
):
    make_center(name="Further", latitude=33.60, hours="mon-sun 00:00-23:59")
    last = make_bookable_order(tenant=alice_tenant)
    hand, found = Hand(), {}
    with visit.page(member=alice) as page:
        page.goto(USER.format(last.user.uuid))
        began = time.monotonic()
        hand.press(page.get_by_role("link", name="New order"))
        hand.press(page.get_by_role("button", name="Continue", exact=True))
        hand.press(page.get_by_role("button", name=f"Add {last.lab_test.name}"))
        expect(page.locator(".basket")).to_contain_text(last.lab_test.name)
        hand.press(page.get_by_role("button", name="Continue", exact=True))
        hand.press(page.get_by_role("button", name="Continue", exact=True))
        page.get_by_label("Place this order again").check()
        hand.press(page.get_by_role("button", name="Place order"))
        hand.press(page.get_by_role("button", name="Advance to requisition ready"))

        hand.press(page.get_by_role("link", name="Book visit"))
        page.wait_for_url(re.compile("/visit/book/$"))
        row = page.get_by_role("radio", name=re.compile("Further"))
        pin = page.get_by_role("link", name=re.compile(": Further$"))
        row.focus()
        expect(pin).to_have_class("is-near")
        pin.hover()
        expect(row).to_have_class("is-near")
        pin.focus()
        hand.actions += 1
        page.keyboard.press("Enter")
        expect(pin.locator(".ruler-on")).to_be_visible()
        days = page.locator('input[name="day"]:not(:disabled):not(:checked)')
        hand.press(days.first)
        expect(page.locator('input[name="day"]:checked')).to_be_focused()
        hand.press(page.locator('input[name="slot"]:not(:disabled)').first)
        expect(page.get_by_text("Held for you")).to_be_visible()
        expect(page.locator("[data-until]")).to_have_text(
            re.compile(r"^[45]:\d\d left")
        )
        took = time.monotonic() - began
        found["book"] = complaints(page)
        hand.press(page.get_by_role("button", name="Book visit"))
        page.wait_for_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))
        expect(page.get_by_text("Visit booked:")).to_be_visible()
        found["order"] = complaints(page, "#h-visit")

    booked = Appointment.objects.for_tenant(alice_tenant).get()
    assert (booked.status, booked.site_name) == ("confirmed", "Further")
    assert hand.actions == 12 < ACTIONS_BEFORE
    assert took < 60
    assert {part: faults for part, faults in found.items() if faults} == {}


def test_a_lost_time_is_made_good_by_one_key(visit, alice, alice_tenant, center):
    order, other = (make_bookable_order(tenant=alice_tenant) for _ in range(2))
    with visit.page(member=alice) as page:
        page.goto(ORDER.format(order.pk) + "visit/book/")
        page.get_by_label("Note for the location").fill("Left arm")
        lost = free_slots(alice_tenant, center)[0]
        hold_slot_for_order(order=other, booking_key=lost.booking_key)

        page.locator('input[name="slot"]').first.check(force=True)
        expect(page.get_by_text("is no longer free")).to_be_visible()
        expect(page.locator('input[name="slot"]').first).to_be_disabled()
        expect(page.get_by_label("Note for the location")).to_have_value("Left arm")
        faults = complaints(page)
        page.locator("h1").click()
        page.keyboard.press("1")
        page.wait_for_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))

    booked = Appointment.objects.for_tenant(alice_tenant).get()
    assert (booked.notes, booked.start_at) == (
        *("Left arm", lost.start + timedelta(minutes=20)),
    )
    assert faults == []


def test_a_visit_is_booked_without_script(visit, alice, alice_tenant, center):
    order = make_bookable_order(tenant=alice_tenant)
    with visit.page(member=alice, scripts=False) as page:
        page.goto(ORDER.format(order.pk) + "visit/book/")

        page.get_by_role("link", name="1: Harborview", exact=True).click()
        expect(page.locator("input:target")).to_have_value(f"quest-{center.site_code}")
        page.locator('input[name="slot"]').first.check(force=True)
        page.get_by_role("button", name="Book visit").click()
        page.wait_for_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))

    assert Appointment.objects.for_tenant(alice_tenant).get().status == "confirmed"
