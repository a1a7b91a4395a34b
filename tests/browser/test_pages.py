from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    OVERFLOW,
    PHONE,
    assert_sound,
    complaints,
    open_painted,
)
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_parsed, make_parsing_job, make_pdf, make_pdf_of
from tests.factories.users import make_user
from users.operations.sources.sources import connect_source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLACE = "/t/alice-health/sandbox"


@pytest.fixture
def users(alice_tenant):
    users = [
        make_user(tenant=alice_tenant, client_user_id=f"mbr_{number:03}")
        for number in range(30)
    ]
    connect_source(user=users[7], actor=ACTOR, provider="oura")
    return users


@pytest.fixture
def jobs(users):
    report = make_parsed()
    return {
        "completed": make_parsing_job(user=users[7], status="completed", report=report),
        "failed": make_parsing_job(
            user=users[7], status="failed", failure_reason="invalid_input"
        ),
        "started": make_parsing_job(user=users[7], status="started"),
    }


def test_a_page_that_is_not_there_is_sound(visit, alice, users):
    visit.expected.append("the server responded with a status of 404")
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/nowhere/")

        assert_sound(page)


def test_every_page_is_sound(visit, alice, users, jobs):
    # What test_sweep does not open: lists without a match, jobs in each state.
    paths = [
        "/users/?q=nobody",
        "/reports/?tab=failed&user=nobody",
        *(f"/reports/{job.id}/" for job in jobs.values()),
    ]
    with visit.page(member=alice) as page:
        for path in paths:
            page.goto(f"{PLACE}{path}")

            assert page.locator("h1").count() == 1
            assert complaints(page) == []


def test_each_menu_opens_inside_the_window(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/?limit=25")
        buttons = page.locator("button[popovertarget]:visible").all()
        for button in buttons:
            menu = page.locator(f"#{button.get_attribute('popovertarget')}")
            button.click()
            expect(menu).to_be_in_viewport(ratio=1)
            page.keyboard.press("Escape")
            expect(menu).not_to_be_visible()

        assert len(buttons) >= 4


def test_the_menu_opens_on_a_phone(visit, alice, users):
    with visit.page(member=alice, size=PHONE) as page:
        page.goto(f"{PLACE}/users/")
        page.get_by_role("button", name="Open menu").click()
        assert_sound(page)
        page.get_by_role("link", name="Reports").click()

        expect(page).to_have_url(re.compile(r"/reports/$"))


def test_typing_searches_and_keeps_the_address(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/?limit=25")
        page.get_by_label("Search users").press_sequentially("mbr_007")

        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page).to_have_url(re.compile(r"\?q=mbr_007&limit=25$"))
        expect(page.get_by_label("Search users")).to_be_focused()
        expect(page.locator("#live")).to_have_text("Showing 1 to 1 of 1")
        page.reload()
        expect(page.locator("tbody tr")).to_have_count(1)


def test_a_filter_keeps_what_was_typed(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/")
        page.get_by_label("Search users").press_sequentially("mbr_00")
        expect(page.locator("tbody tr")).to_have_count(10)
        page.get_by_role("button", name="Source", exact=True).click()
        page.get_by_role("link", name="Oura").click()

        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.get_by_label("Search users")).to_have_value("mbr_00")
        page.go_back()
        expect(page.locator("tbody tr")).to_have_count(10)


def test_pages_turn_and_columns_sort(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/?limit=25")
        page.get_by_role("link", name="Next page").click()
        expect(page.locator("tbody tr")).to_have_count(5)
        page.get_by_role("link", name="Client user ID").click()

        expect(page.locator("tbody tr").first).to_contain_text("mbr_000")
        expect(page.get_by_role("link", name="Client user ID")).to_be_focused()
        page.get_by_role("link", name="Client user ID").click()
        expect(page.locator("tbody tr").first).to_contain_text("mbr_029")


def test_the_dialog_finds_a_user(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/")
        page.get_by_role("link", name="Look up an ID").click()
        page.get_by_label("Client user ID", exact=True).fill("mbr_003")
        page.keyboard.press("Enter")

        expect(page.locator("h1")).to_contain_text("mbr_003")


def test_the_theme_is_switched_and_kept(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/")
        page.get_by_role("button", name="Switch theme").first.click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.reload()

        expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_environment_is_switched(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/")
        page.get_by_role("button", name="Switch environment").click()
        page.get_by_role("link", name="Production", exact=True).click()

        expect(page).to_have_url(re.compile(r"/t/alice-health/production/$"))
        expect(page.locator('[popovertarget="m-place"]')).to_contain_text("Production")


def choose(page, content, name="report.pdf"):
    page.get_by_label("Client user ID").fill("mbr_007")
    page.locator('input[type="file"]').set_input_files(
        {"name": name, "mimeType": "application/pdf", "buffer": content}
    )
    page.get_by_role("button", name="Upload report").click()


def test_an_upload_shows_its_values_when_they_are_there(
    visit, alice, users, read_reports
):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/reports/")
        choose(page, make_pdf())
        expect(page.get_by_role("heading", name="Queued")).to_be_visible()

        read_reports()

        expect(page.get_by_role("cell", name="Sodium")).to_be_visible()
        expect(page.locator("#job")).not_to_have_attribute(
            "hx-trigger", re.compile(".")
        )
        assert_sound(page)


def test_an_upload_shows_how_much_is_sent(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/reports/upload/")
        page.evaluate(
            """window.shown = [];
            new MutationObserver(() =>
              window.shown.push(document.querySelector("progress").hidden)
            ).observe(document.querySelector("progress"), {attributes: true});
            addEventListener("pagehide", () =>
              sessionStorage.setItem("shown", JSON.stringify(window.shown)));"""
        )
        choose(page, make_pdf_of(2_000_000))
        page.wait_for_url(re.compile(r"/reports/[0-9a-f-]{36}/$"))

        assert "false" in page.evaluate('sessionStorage.getItem("shown")')


def test_a_bad_file_is_refused_in_place(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/reports/")
        choose(page, b"hello")

        expect(page.locator('input[type="file"]')).to_be_focused()
        expect(page.get_by_label("Client user ID")).to_have_value("mbr_007")
        expect(page.locator(".err")).to_contain_text("Nothing was stored.")
        assert_sound(page)


def test_text_of_twice_the_size_folds_a_page_as_a_phone_does(visit, alice, users):
    with visit.page(member=alice) as page:
        browser = page.context.new_cdp_session(page)
        sizes = {"standard": 32, "fixed": 26}
        browser.send("Page.setFontSizes", {"fontSizes": sizes})
        for path in ("/users/", "/orders/", "/reports/", "/lab-tests/"):
            page.goto(f"{PLACE}{path}")

            expect(page.locator(".navtoggle")).to_be_visible()
            assert page.evaluate(OVERFLOW) <= 0


def test_a_mistyped_id_keeps_the_chosen_file(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/reports/upload/")
        page.get_by_label("Client user ID").fill("mbr_unknown")
        page.locator('input[type="file"]').set_input_files(
            {"name": "r.pdf", "mimeType": "application/pdf", "buffer": make_pdf()}
        )
        page.get_by_role("button", name="Upload report").click()
        expect(page.locator(".err")).to_be_visible()
        expect(page.locator("[data-file-name]")).to_have_text("r.pdf")

        page.get_by_label("Client user ID").fill("mbr_007")
        page.get_by_role("button", name="Upload report").click()

        page.wait_for_url(re.compile(r"/reports/[0-9a-f-]{36}/$"))


def test_an_id_is_copied(visit, alice, users):
    with visit.page(member=alice) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto(f"{PLACE}/users/{users[7].uuid}/")
        page.get_by_role("button", name=f"Copy {users[7].uuid}").first.click()

        expect(page.get_by_text("Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == str(users[7].uuid)
        assert_sound(page)


def test_signed_out_elsewhere_is_said_in_a_toast(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/")
        page.context.clear_cookies()
        visit.expected.append("the server responded with a status of 401")
        page.get_by_label("Search users").press_sequentially("m")

        expect(page.get_by_role("alert")).to_contain_text("You are signed out")
        expect(page.locator("tbody tr")).to_have_count(30)
        assert_sound(page)


def test_without_script_one_finds_a_user_and_uploads(visit, alice, users, read_reports):
    with visit.page(member=alice, scripts=False) as page:
        page.goto(f"{PLACE}/users/")
        page.get_by_label("Search users").fill("mbr_007")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("link", name="mbr_007").click()
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("link", name="Upload report").click()
        choose(page, make_pdf())
        expect(page.get_by_role("heading", name="Queued")).to_be_visible()

        read_reports()
        page.get_by_role("link", name="Reload").click()

        expect(page.get_by_role("cell", name="Sodium")).to_be_visible()


def test_the_keyboard_alone_signs_out(visit, alice, users):
    with visit.page(member=alice) as page:
        open_painted(page, f"{PLACE}/users/")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.locator('[popovertarget="m-member"]').focus()
        page.keyboard.press("Enter")
        expect(page.locator("#m-member a, #m-member button").first).to_be_focused()
        page.keyboard.press("End")
        expect(page.get_by_role("button", name="Sign out")).to_be_focused()
        page.keyboard.press("Enter")

        page.wait_for_url("**/accounts/login/**")
