from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.factories.reports import make_parsing_job
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "/t/alice-health/sandbox/reports/"


def test_a_view_is_saved_opens_the_list_and_is_deleted(visit, alice, alice_tenant):
    user = make_user(tenant=alice_tenant)
    for status in ("failed", "completed", "completed"):
        make_parsing_job(user=user, status=status)
    with visit.page(member=alice) as page:
        rows = page.locator("tbody tr")
        views = page.get_by_role("navigation", name="Saved views")
        page.goto(LIST)
        expect(rows).to_have_count(3)
        page.get_by_role("link", name="Failed").click()
        expect(rows).to_have_count(1)
        page.get_by_role("link", name="Save view").click()
        expect(page.get_by_label("Name")).to_be_focused()
        page.keyboard.type("Gone wrong")
        page.get_by_label("Use as default view").check()
        page.get_by_role("button", name="Save view").click()
        here = views.get_by_role("link", name="Gone wrong")
        expect(here).to_have_attribute("aria-current", "true")

        groups = page.get_by_label("Filter reports by status")
        groups.get_by_role("link", name="All").click()
        expect(rows).to_have_count(3)
        expect(page.get_by_role("link", name="Save view")).to_have_count(0)
        page.goto(LIST)
        expect(page).to_have_url(re.compile(r"\?tab=failed$"))
        expect(rows).to_have_count(1)

        page.get_by_role("link", name="Edit view Gone wrong").click()
        page.get_by_role("link", name="Delete view").click()
        page.get_by_role("button", name="Delete view").click()
        expect(views).to_have_count(0)
