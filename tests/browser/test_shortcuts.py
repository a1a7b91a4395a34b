from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import open_painted
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLACE = "/t/alice-health/sandbox"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_001")


def test_a_question_mark_shows_the_keys_of_the_page(visit, alice, user):
    with visit.page(member=alice) as page:
        open_painted(page, f"{PLACE}/users/")
        page.keyboard.press("?")

        sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(sheet).to_be_visible()
        expect(sheet.get_by_text("Look up an ID")).to_be_visible()
        page.keyboard.press("?")
        expect(sheet).not_to_be_visible()


def test_two_keys_go_to_a_page(visit, alice, user):
    with visit.page(member=alice) as page:
        page.clock.install(time=0)
        open_painted(page, f"{PLACE}/users/")
        page.clock.pause_at(60_000)  # however slow the machine is between two keys
        page.keyboard.type("gr")
        page.wait_for_url("**/reports/")
        page.keyboard.type("gu")

        page.wait_for_url("**/users/")


def test_a_second_key_that_comes_late_goes_nowhere(visit, alice, user):
    with visit.page(member=alice) as page:
        page.clock.install(time=0)
        open_painted(page, f"{PLACE}/users/")
        page.clock.pause_at(60_000)
        page.keyboard.press("g")
        page.clock.run_for(2_000)
        page.keyboard.type("r")

        # On this page `r` alone resolves an id.
        expect(page.get_by_role("dialog", name="Look up an ID")).to_be_visible()


def test_j_and_k_walk_the_lines_of_a_list_and_enter_opens_one(
    visit, alice, alice_tenant
):
    users = [
        make_user(tenant=alice_tenant, client_user_id=f"mbr_{number:03}")
        for number in range(3)
    ]
    with visit.page(member=alice) as page:
        open_painted(page, f"{PLACE}/users/")
        names = page.locator("#user-list .rowlink").all_inner_texts()
        for key, at in (("j", 0), ("j", 1), ("k", 0), ("End", 2), ("ArrowUp", 1)):
            page.keyboard.press(key)
            expect(page.locator(":focus")).to_have_text(names[at])
        page.keyboard.press("Enter")

        opened = next(user for user in users if user.client_user_id == names[1])
        page.wait_for_url(f"**/users/{opened.uuid}/")


def test_a_slash_searches_and_keys_do_nothing_in_the_field(visit, alice, user):
    with visit.page(member=alice) as page:
        open_painted(page, f"{PLACE}/users/")
        page.keyboard.press("/")
        expect(page.get_by_label("Search users")).to_be_focused()
        page.keyboard.type("gr?")

        expect(page.get_by_label("Search users")).to_have_value("gr?")
        expect(page.locator("#d-keys")).not_to_be_visible()
        expect(page).to_have_url(re.compile(r"/users/"))


def test_a_key_of_the_page_opens_its_dialog(visit, alice, user):
    with visit.page(member=alice) as page:
        open_painted(page, f"{PLACE}/users/")
        page.keyboard.press("r")

        expect(page.get_by_role("dialog", name="Look up an ID")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).not_to_be_visible()


def test_the_sheet_opens_from_the_member_menu_and_gives_focus_back(visit, alice, user):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/")
        page.locator('[popovertarget="m-member"]').click()
        page.get_by_role("button", name="Keyboard shortcuts").click()
        expect(page.locator("#d-keys")).to_be_visible()
        page.keyboard.press("Escape")

        expect(page.locator('[popovertarget="m-member"]')).to_be_focused()
