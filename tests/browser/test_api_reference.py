"""The API reference in a browser: without script, by keyboard, and on a phone."""

from __future__ import annotations

import pytest

from tests.browser.conftest import PHONE, complaints

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_call_is_found_and_read_by_keyboard_on_a_phone(visit):
    with visit.page() as page:
        page.set_viewport_size(PHONE)
        page.goto("/api/docs/")
        assert complaints(page) == []
        page.get_by_role("searchbox").focus()
        page.keyboard.type("create user")
        page.keyboard.press("Enter")
        page.wait_for_url("**/?q=create+user")
        assert complaints(page) == []
        call = page.get_by_role("link", name="Create a user").first
        call.focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Create a user", level=1).wait_for()
        assert complaints(page) == []
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement !== document.body")


def test_without_script_all_but_trying_it_works(visit):
    with visit.page(scripts=False) as page:
        page.goto("/api/docs/?q=create+user")
        page.get_by_role("link", name="Create a user").first.click()
        page.get_by_role("heading", name="Create a user", level=1).wait_for()
        text = page.locator("main").inner_text()
        assert "client_user_id" in text
        assert "patient-20418" in text
        assert "curl" in text
        page.goto("/api/docs/changes/")
        page.get_by_role("heading", name="API changes", level=1).wait_for()
