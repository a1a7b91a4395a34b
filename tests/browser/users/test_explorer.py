from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, WIDE, complaints
from tests.factories.samples import put_samples
from tests.factories.summaries import night_element, record
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def address(alice_tenant):
    """The explorer of a user with two days of heart rate, and a night."""
    user = make_user(tenant=alice_tenant, client_user_id="mbr_20418")
    now = datetime.now(UTC).replace(second=0, microsecond=0, tzinfo=None)
    put_samples(
        user,
        "heartrate",
        *(
            ((now - timedelta(minutes=10 * n)).isoformat(), 0, 60 + n % 30)
            for n in range(1, 288)
        ),
    )
    slept = now - timedelta(hours=20)
    start, end = (slept + timedelta(hours=n) for n in (0, 2))
    record(
        user,
        "sleep_cycle",
        night_element(
            session_start=start.isoformat(timespec="seconds"),
            session_end=end.isoformat(timespec="seconds"),
            time_zone="UTC",
        ),
    )
    return f"/t/{alice_tenant.team.slug}/sandbox/users/{user.uuid}/explorer/"


def test_series_are_laid_over_read_zoomed_and_opened(visit, alice, address):
    with visit.page(member=alice) as page:
        page.goto(address)
        tree = page.get_by_role("navigation", name="Resources")
        chart = page.locator(".plot svg")
        expect(chart.locator(".sr-line")).to_have_count(1)
        tree.get_by_role("link", name="Sleep cycle").click()
        expect(chart.locator(".st-deep")).to_have_count(1)
        assert complaints(page) == []

        slider = page.get_by_role("slider")
        slider.focus()
        page.keyboard.press("End")
        assert "Heart rate, Oura: 61 bpm" in slider.get_attribute("aria-valuetext")
        # What is selected by keys is zoomed into by Enter, and dropped by Escape.
        page.keyboard.press("Shift+PageUp")
        expect(chart.locator(".sr-pick")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(chart.locator(".sr-pick")).to_have_count(0)
        page.keyboard.press("Shift+PageUp")
        assert " selected, " in slider.get_attribute("aria-valuetext")
        page.keyboard.press("Enter")
        page.wait_for_url("**start=**")
        # As a text area has that was resized: a swap must not copy it.
        page.evaluate("document.getElementById('series').style.height = '900px'")
        page.get_by_role("link", name="7 days").click()
        page.wait_for_url(lambda url: "start=" not in url)

        page.get_by_role("button", name="Compare").click()
        page.get_by_role("link", name="The days before").click()
        expect(page.get_by_role("region", name="Both spans in numbers")).to_be_visible()
        assert complaints(page) == []
        page.set_viewport_size(PHONE)
        assert chart.bounding_box()["y"] < PHONE["height"]
        page.set_viewport_size(WIDE)

        box = chart.bounding_box()
        before = page.url
        page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 80)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + 90, steps=3)
        page.mouse.up()
        page.wait_for_url("**start=**")
        assert page.url != before

        page.get_by_role("link", name="Table", exact=True).click()
        page.locator("td a.rowlink").first.click()
        drawer = page.locator("#d-record")
        expect(drawer).to_be_visible()
        assert complaints(page, "#d-record") == []


def test_without_script_every_step_is_a_link(visit, alice, address):
    with visit.page(member=alice, scripts=False) as page:
        page.goto(address)
        expect(page.locator(".plot svg .sr-line")).to_have_count(1)
        rows = page.get_by_role("region", name="Table of heart rate").get_by_role("row")
        expect(rows).to_have_count(51)
        page.get_by_role("link", name="Freshness").click()
        page.locator(".fresh").get_by_role("link", name="Heart rate").click()
        first = page.locator("#series .sub").first.inner_text()
        page.get_by_role("link", name="Zoom in").click()
        expect(page.locator("#series .sub").first).not_to_have_text(first)
        page.get_by_role("link", name="curl", exact=True).click()

        expect(page.locator("pre")).to_contain_text("/grouped?start_date=")
