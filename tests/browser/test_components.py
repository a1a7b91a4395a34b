from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/t/alice-health/sandbox/components/"


@pytest.fixture
def operator(alice):
    alice.is_staff = True
    alice.save(update_fields=["is_staff"])
    return alice


def test_a_menu_moves_by_arrows_and_gives_focus_back(visit, operator):
    with visit.page(member=operator) as page:
        page.goto(PAGE)
        opener = page.get_by_role("button", name="Actions")
        opener.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Recreate order").first).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("link", name="Edit comment")).to_be_focused()
        page.keyboard.press("End")
        expect(page.locator("#m-example .danger")).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("button", name="Recreate order").first).to_be_focused()
        page.keyboard.press("Escape")

        expect(page.locator("#m-example")).not_to_be_visible()
        expect(opener).to_be_focused()


def test_paper_and_forced_colors_show_what_the_screen_shows(visit, operator):
    def style(selector, name):
        script = "(one, name) => getComputedStyle(one)[name]"
        return page.locator(selector).first.evaluate(script, name)

    with visit.page(member=operator, theme="dark") as page:
        page.goto("/t/alice-health/sandbox/users/")
        assert style(".nav__link[aria-current]", "outlineStyle") == "none"
        page.emulate_media(forced_colors="active")
        assert style(".nav__link[aria-current]", "outlineStyle") == "solid"
        assert style(".btn--primary", "borderTopStyle") == "solid"

        page.emulate_media(forced_colors="none", media="print")
        assert style(".nav", "display") == "none"
        assert style(".btn", "display") == "none"
        dark_ink_on_white = "rgb(21, 32, 28)"
        assert style("h1", "color") == dark_ink_on_white
        assert style("body", "backgroundColor") == "rgba(0, 0, 0, 0)"

        page.emulate_media(media="screen", reduced_motion="reduce")
        assert style(".btn", "transitionDuration") == "0s"


def test_tab_leaves_a_menu_and_shuts_it(visit, operator):
    with visit.page(member=operator) as page:
        page.goto(PAGE)
        opener = page.get_by_role("button", name="Actions")
        opener.click()
        page.keyboard.press("End")
        expect(page.locator("#m-example .danger")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.locator("#m-example")).not_to_be_visible()

        opener.click()
        page.keyboard.press("Shift+Tab")
        expect(opener).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.locator("#m-example .danger")).to_be_focused()
        page.keyboard.press("Escape")
        expect(opener).to_be_focused()


def test_a_menu_has_the_focus_as_soon_as_it_is_open(visit, operator):
    with visit.page(member=operator) as page:
        page.goto(PAGE)
        focused = page.get_by_role("button", name="Actions").evaluate(
            "one => { one.click(); return document.activeElement.innerText.trim() }"
        )

        assert focused == "Recreate order"


def test_a_dialog_opened_from_a_menu_gives_focus_to_its_button(visit, operator):
    with visit.page(member=operator) as page:
        page.goto(PAGE)
        page.get_by_role("button", name="Actions").click()
        page.get_by_role("button", name="Recreate order").first.click()
        expect(page.locator("#d-plain")).to_be_visible()
        page.keyboard.press("Escape")

        expect(page.locator("#d-plain")).not_to_be_visible()
        expect(page.get_by_role("button", name="Actions")).to_be_focused()


def test_a_name_must_be_typed_to_confirm(visit, operator):
    with visit.page(member=operator) as page:
        page.goto(PAGE)
        page.get_by_role("button", name="Type the name").click()
        revoke = page.get_by_role("button", name="Revoke key")
        expect(revoke).to_be_disabled()
        page.get_by_label("Key name").press_sequentially("Data ware")
        expect(revoke).to_be_disabled()
        page.get_by_label("Key name").press_sequentially("house")

        expect(revoke).to_be_enabled()


def test_a_counter_counts_what_is_typed(visit, operator):
    with visit.page(member=operator) as page:
        page.goto(PAGE)
        page.get_by_label("Comment", exact=True).fill("Butterfly needle")

        expect(page.locator("#id_comment_count")).to_have_text("16 of 1000 characters")


def test_a_region_and_its_row_are_one_selection(visit, operator):
    with visit.page(member=operator) as page:
        page.goto(PAGE)
        row = page.locator(".bm[data-region='k']")
        region = page.locator(".region[data-region='k']")
        page.get_by_role("link", name="Potassium, 4.4 mmol/L").click()
        expect(row).to_have_class("bm is-on")
        expect(page.locator(".bm.is-on")).to_have_count(1)
        page.locator(".bm[data-region='chol'] .bm__name").focus()
        page.keyboard.press("Enter")

        expect(page.locator(".region[data-region='chol']")).to_have_class(
            "region is-on"
        )
        expect(region).to_have_class("region")


def test_a_secret_is_copied_but_not_repeated(visit, operator):
    with visit.page(member=operator) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto(PAGE)
        page.get_by_role("button", name="Copy the new key").click()

        expect(page.locator("#toasts .toast")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == "sk_us_example_not_a_key"
