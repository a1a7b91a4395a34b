from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from accounts.models import Invitation
from tests.browser.conftest import complaints

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLACE = "/t/alice-health/sandbox/"


# The browser's own sending, which comes after every listener, is counted and stays out.
HOLD_FORMS = """() => {
  globalThis.sent = 0;
  addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    globalThis.sent += 1;
    event.preventDefault();
  });
}"""
COME_BACK = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"


# The page's clock, which stands still where we look.
NIGHT = datetime(2026, 3, 2, tzinfo=UTC)


def press_twice(page, button, hour):
    """Press, wait, and press once more; return what the button says before 300 ms."""
    page.clock.pause_at(NIGHT + timedelta(hours=hour))
    button.click()
    page.clock.run_for(299)
    early = button.get_attribute("aria-busy")
    page.clock.run_for(1)
    expect(button).to_have_attribute("aria-busy", "true")
    expect(page.locator("#live")).to_have_text("Working…")
    page.clock.resume()
    button.evaluate("one => one.click()")  # htmx disables some, which Playwright awaits
    return early


def test_a_pressed_button_is_busy_while_its_answer_is_late(visit, alice):
    """A form that the browser sends, and one that htmx does."""
    with visit.page(member=alice) as page:
        page.clock.install(time=NIGHT)
        page.goto(f"{PLACE}profile/")
        page.get_by_label("Name", exact=True).fill("Alice Late")
        button = page.get_by_role("button", name="Save profile")
        page.evaluate(HOLD_FORMS)
        early = press_twice(page, button, 1)
        sent = page.evaluate("sent")
        page.evaluate(COME_BACK)
        expect(button).not_to_have_attribute("aria-busy", "true")
        expect(page.locator("#live")).to_be_empty()
        button.click()
        sent_after = page.evaluate("sent")

        page.goto(f"{PLACE}members/")
        page.get_by_role("link", name="Invite member").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("textbox", name="Work email").fill("dana@assay.example")
        dialog.get_by_role("checkbox", name="Viewer", exact=True).check()
        held = []
        page.route(re.compile("/members/invite/$"), lambda route: held.append(route))
        button = dialog.get_by_role("button", name="Send invitation")
        early_of_htmx = press_twice(page, button, 2)
        faults = complaints(page, "#d-form")
        (route,) = held
        route.continue_()
        expect(page.locator(".secret code")).to_contain_text("/invitation/")

    assert (early, early_of_htmx, faults) == (None, None, [])
    assert (sent, sent_after) == (1, 2)
    assert Invitation.objects.count() == 1
