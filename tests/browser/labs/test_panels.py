from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from labs.models import LabTest
from tests.browser.conftest import complaints
from tests.factories.labs import make_lab, make_marker

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NEW = "/t/alice-health/sandbox/lab-tests/new/"


@pytest.fixture
def markers():
    lab = make_lab(name="Northgate")
    return [make_marker(lab=lab, name="Ferritin"), make_marker(lab=lab, name="Zinc")]


def read_panel(tenant):
    panel = LabTest.objects.for_tenant(tenant).get(name="Iron")
    return panel.status, list(panel.markers.order_by("pk"))


def test_a_panel_is_made_by_keyboard_and_search(visit, alice, alice_tenant, markers):
    with visit.page(member=alice) as page:
        page.goto(NEW)
        page.get_by_label("Name", exact=True).fill("Iron")
        page.get_by_label("Lab", exact=True).select_option("Northgate")
        expect(page.locator("#panel-found li")).to_have_count(2)
        page.get_by_label("Search markers").press_sequentially("ferr")
        expect(page.locator("#panel-found li")).to_have_count(1)
        page.get_by_role("button", name="Add Ferritin").press("Enter")
        added = page.get_by_role("button", name=re.compile("Added.*Ferritin"))
        expect(added).to_be_focused()
        page.get_by_role("button", name="Create panel").press("Enter")
        method = page.get_by_label("Collection", exact=True)
        expect(method).to_have_attribute("aria-invalid", "true")
        found = complaints(page)
        method.select_option("Walk-in")
        page.get_by_role("button", name="Create panel").press("Enter")
        expect(
            page.get_by_role("cell", name="Needs an operator's approval")
        ).to_be_visible()

    assert read_panel(alice_tenant) == ("pending_approval", markers[:1])
    assert found == []


def test_without_script_a_panel_is_made(visit, alice, alice_tenant, markers):
    with visit.page(member=alice, scripts=False) as page:
        page.goto(NEW)
        page.get_by_label("Name", exact=True).fill("Iron")
        page.get_by_label("Lab", exact=True).select_option("Northgate")
        page.get_by_label("Search markers").press("Enter")
        page.get_by_role("button", name="Add Zinc").click()
        page.get_by_role("button", name="Add Ferritin").click()
        page.get_by_role("button", name="Remove Ferritin", exact=True).click()
        page.get_by_label("Collection", exact=True).select_option("Walk-in")
        page.get_by_role("button", name="Create panel").click()
        page.wait_for_url(re.compile("status=pending_approval"))

    assert read_panel(alice_tenant) == ("pending_approval", markers[1:])
