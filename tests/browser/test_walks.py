"""The way of a first day, once by keyboard alone and once without script.

Sign in, find a user, upload a report of theirs and read it, invite a member who joins.
"""

from __future__ import annotations

import re

import pytest
from django.core import mail
from playwright.sync_api import expect

from tests.browser.conftest import wait_until_painted
from tests.factories.accounts import PASSWORD
from tests.factories.reports import make_pdf
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NEWCOMER = "dana@assay.example"
CHOSEN_PASSWORD = "seven quiet herons at dawn"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_007")


@pytest.fixture
def report():
    return {"name": "r.pdf", "mimeType": "application/pdf", "buffer": make_pdf()}


def tab_to(page, locator):
    """Press Tab until it has focus, as someone without a mouse does."""
    expect(locator).to_have_count(1)
    wait_until_painted(locator.page)
    for _ in range(80):
        if locator.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab never reaches {locator}")


def press(page, role, name, key="Enter"):
    tab_to(page, page.get_by_role(role, name=name, exact=True))
    page.keyboard.press(key)


def mailed_link():
    (sent,) = mail.outbox
    return re.search(r"https?://[^/\s]+(/invitation/\S+)", sent.body)[1]


def test_the_keyboard_alone_is_enough(visit, alice, user, report, read_reports):
    with visit.page() as page:
        page.goto("/accounts/login/")
        expect(page.get_by_label("Work email")).to_be_focused()
        page.keyboard.type(alice.email)
        tab_to(page, page.get_by_label("Password", exact=True))
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/t/alice-health/sandbox/")

        press(page, "link", "Users")
        page.wait_for_url("**/users/")
        page.keyboard.press("/")
        page.keyboard.type("mbr_007")
        expect(page.locator("#live")).to_have_text("Showing 1 to 1 of 1")
        press(page, "link", "mbr_007")
        press(page, "button", "More")
        press(page, "link", "Upload report")
        page.wait_for_url("**/reports/upload/**")

        # Watched for before the way there: the wish to catch a chooser and a key take
        # two ways into the browser, and the key may be first.
        with page.expect_file_chooser() as chooser:
            tab_to(page, page.locator('input[type="file"]'))
            page.keyboard.press("Space")
        chooser.value.set_files(report)
        press(page, "button", "Upload report")
        expect(page.get_by_role("heading", name="Queued")).to_be_visible()
        read_reports()
        expect(page.get_by_role("cell", name="Sodium")).to_be_visible()

        press(page, "link", "Members")
        press(page, "link", "Invite member")
        tab_to(page, page.get_by_role("textbox", name="Work email"))
        page.keyboard.type(NEWCOMER)
        press(page, "checkbox", "Viewer", key="Space")
        press(page, "button", "Send invitation")
        expect(page.locator(".secret code")).to_contain_text("/invitation/")

    with visit.page() as page:
        page.goto(mailed_link())
        expect(page.get_by_label("Your name")).to_be_focused()
        page.keyboard.type("Dana Levi")
        tab_to(page, page.get_by_label("Choose a password"))
        page.keyboard.type(CHOSEN_PASSWORD)
        page.keyboard.press("Enter")

        page.wait_for_url("**/t/alice-health/sandbox/**")
        expect(page.get_by_role("link", name="Users", exact=True)).to_be_visible()


def test_no_script_is_needed(visit, alice, user, report, read_reports):
    with visit.page(scripts=False) as page:
        page.goto("/accounts/login/")
        page.get_by_label("Work email").fill(alice.email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/t/alice-health/sandbox/")

        page.get_by_role("link", name="Users", exact=True).click()
        page.get_by_label("Search users").fill("mbr_007")
        page.get_by_role("button", name="Search", exact=True).click()
        page.get_by_role("link", name="mbr_007").click()
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("link", name="Upload report").click()
        page.locator('input[type="file"]').set_input_files(report)
        page.get_by_role("button", name="Upload report").click()
        expect(page.get_by_role("heading", name="Queued")).to_be_visible()
        read_reports()
        page.get_by_role("link", name="Reload").click()
        expect(page.get_by_role("cell", name="Sodium")).to_be_visible()

        page.get_by_role("link", name="Members", exact=True).click()
        page.get_by_role("link", name="Invite member").click()
        page.get_by_role("textbox", name="Work email").fill(NEWCOMER)
        page.get_by_role("checkbox", name="Viewer", exact=True).check()
        page.get_by_role("button", name="Send invitation").click()
        expect(page.locator(".secret code")).to_contain_text("/invitation/")

    with visit.page(scripts=False) as page:
        page.goto(mailed_link())
        page.get_by_label("Your name").fill("Dana Levi")
        page.get_by_label("Choose a password").fill(CHOSEN_PASSWORD)
        page.get_by_role("button", name="Join team").click()

        page.wait_for_url("**/t/alice-health/sandbox/**")
        expect(page.get_by_role("link", name="Users", exact=True)).to_be_visible()
