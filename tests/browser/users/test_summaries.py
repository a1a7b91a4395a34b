from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import complaints
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.operations.demo_sources import add_demo_source_data

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def address(alice_tenant):
    """The page of a user with a month of nights and cycles."""
    user = make_user(
        tenant=alice_tenant,
        client_user_id="mbr_20418",
        fallback_time_zone="Europe/Lisbon",
    )
    add_demo_source_data(
        user=user,
        actor=ACTOR,
        provider="apple_health_kit",
        resources=("sleep_cycle", "menstrual_cycle"),
    )
    return f"/t/{alice_tenant.team.slug}/sandbox/users/{user.uuid}/summaries/"


def test_the_charts_are_sound_open_and_closed(visit, alice, address):
    with visit.page(member=alice) as page:
        page.goto(address)
        assert complaints(page) == []

        page.get_by_role("link", name="Show menstrual cycle").click()
        expect(page.get_by_role("img", name="Cycle of")).to_be_visible()
        for summary in page.get_by_text("Show as table").all():
            summary.click()

        assert complaints(page) == []


def test_nights_and_cycles_are_walked_without_script(visit, alice, address):
    with visit.page(member=alice, scripts=False) as page:
        page.goto(address)
        times = page.locator("figcaption .muted")
        first = times.inner_text()
        page.get_by_role("link", name="Earlier night").click()
        expect(times).not_to_have_text(first)
        second = times.inner_text()
        page.get_by_role("link", name="Show menstrual cycle").click()
        page.get_by_role("link", name="Earlier cycle").click()

        expect(page.get_by_role("img", name="Cycle of")).to_be_visible()
        # Opening the one keeps the place in the other.
        expect(times).to_have_text(second)
        page.get_by_role("link", name="Hide menstrual cycle").click()
        expect(page.get_by_role("img", name="Cycle of")).to_have_count(0)
