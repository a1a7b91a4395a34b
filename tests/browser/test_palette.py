"""The command palette and the overview, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from portal.demo.sandbox import mark_demo_loading_finished, request_demo_data
from portal.docs.search import search_docs
from tests.browser.conftest import (
    PHONE,
    WIDE,
    assert_sound,
    complaints,
    open_painted,
)
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_parsing_job
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLACE = "/t/alice-health/sandbox"
SIZES = pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])


@pytest.fixture
def users(alice_tenant):
    return [
        make_user(tenant=alice_tenant, client_user_id=f"mbr_{number:03}")
        for number in range(8)
    ]


@pytest.fixture(scope="module", autouse=True)
def docs_are_indexed():
    """Index the documentation, as a first search does in most of a second."""
    search_docs("a")


def options(page):
    return page.get_by_role("option")


def chosen(page):
    return page.locator('#palette [role="option"][aria-selected="true"]')


def test_the_palette_is_sound_while_open(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/")
        page.get_by_role("link", name="Search or jump to").click()

        expect(page.get_by_role("combobox")).to_be_focused()
        assert complaints(page, "#palette") == []
        page.keyboard.type("mbr_00")
        expect(options(page)).to_have_count(6)
        assert complaints(page, "#palette") == []
        page.keyboard.type("x")
        expect(page.get_by_text("No matches.")).to_be_visible()
        assert complaints(page, "#palette") == []


@SIZES
def test_the_keyboard_alone_finds_and_opens_a_user(visit, alice, users, size):
    with visit.page(member=alice, size=size) as page:
        open_painted(page, f"{PLACE}/reports/")
        page.keyboard.press("Control+k")
        page.keyboard.type("mbr_00")
        expect(options(page)).to_have_count(6)
        field = page.get_by_role("combobox")
        expect(chosen(page)).to_contain_text("mbr_007")
        page.keyboard.press("ArrowDown")
        expect(chosen(page)).to_contain_text("mbr_006")
        expect(field).to_have_attribute(
            "aria-activedescendant", chosen(page).get_attribute("id")
        )
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        expect(chosen(page)).to_contain_text("mbr_002")
        page.keyboard.press("Enter")

        expect(page.locator("h1")).to_contain_text("mbr_002")


def test_a_late_answer_to_earlier_text_leaves_the_first_line_marked(
    visit, alice, users
):
    with visit.page(member=alice) as page:
        page.clock.install(time=0)
        open_painted(page, f"{PLACE}/reports/")
        page.clock.pause_at(3600)
        page.keyboard.press("Control+k")
        held = []

        def hold(route):
            if route.request.post_data == "q=mbr_0":
                held.append(route)
            else:
                route.continue_()

        page.route("**/search/", hold)
        page.keyboard.type("mbr_0")
        with page.expect_request(lambda sent: sent.post_data == "q=mbr_0"):
            page.clock.run_for(300)
        page.keyboard.type("0")
        with page.expect_response(
            lambda answer: answer.request.post_data == "q=mbr_0"
        ) as late:
            held[0].continue_()
        late.value.finished()
        page.clock.run_for(300)

        expect(options(page)).to_have_count(6)
        expect(chosen(page)).to_contain_text("mbr_007")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_contain_text("mbr_007")


def test_a_pasted_id_opens_before_the_answer_is_there(visit, alice, users):
    job = make_parsing_job(user=users[3], status="completed")
    with visit.page(member=alice) as page:
        for text, where in (
            (str(users[3].uuid), f"/users/{users[3].uuid}/"),
            ("mbr_005", f"/users/{users[5].uuid}/"),
            (str(job.id), f"/reports/{job.id}/"),
        ):
            open_painted(page, f"{PLACE}/")
            page.keyboard.press("Control+k")
            expect(page.get_by_role("combobox")).to_be_focused()
            page.keyboard.insert_text(text)
            expect(page.get_by_role("combobox")).to_have_value(text)
            page.keyboard.press("Enter")

            page.wait_for_url(f"**{where}")


def test_pages_and_actions_are_sifted_while_typing(visit, alice, users):
    with visit.page(member=alice) as page:
        open_painted(page, f"{PLACE}/")
        page.keyboard.press("Control+k")
        page.keyboard.type("uplo")

        expect(options(page)).to_have_count(1)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{PLACE}/reports/upload/")


def test_escape_shuts_it_and_gives_focus_back(visit, alice, users):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/users/")
        search = page.get_by_label("Search users")
        search.focus()
        page.keyboard.press("Control+k")
        expect(page.locator("#palette")).to_be_visible()
        page.keyboard.press("Escape")

        expect(page.locator("#palette")).to_be_hidden()
        expect(search).to_be_focused()
        page.keyboard.press("Control+k")
        expect(page.get_by_role("combobox")).to_have_value("")


def test_typing_asks_the_server_once_it_pauses(visit, alice, users):
    with visit.page(member=alice) as page:
        items = []
        page.on("request", lambda sent: items.append((sent.url, sent.post_data)))
        page.clock.install(time=0)
        page.goto(f"{PLACE}/")
        page.screenshot()  # draws a frame, which the page's own clock now can't show
        page.clock.pause_at(60_000)
        page.keyboard.press("Control+k")
        page.keyboard.type("mbr_007")
        page.clock.run_for(300)
        expect(options(page)).to_have_count(1)

        searches = [item for item in items if "/search/" in item[0]]
        assert [text for _url, text in searches] == ["q=", "q=mbr_007"]
        assert not any("?" in url for url, _text in searches)


def test_the_same_text_is_found_again(visit, alice, users):
    with visit.page(member=alice) as page:
        open_painted(page, f"{PLACE}/")
        for _ in range(2):
            page.keyboard.press("Control+k")
            page.keyboard.insert_text("mbr_007")
            expect(options(page)).to_have_count(1)
            page.keyboard.press("Escape")
            expect(page.locator("#palette")).to_be_hidden()


def test_without_script_search_is_a_page(visit, alice, users):
    with visit.page(member=alice, scripts=False) as page:
        page.goto(f"{PLACE}/")
        page.get_by_role("link", name="Search or jump to").click()
        field = page.get_by_role("searchbox", name="Search", exact=True)
        field.fill("mbr_00")
        page.get_by_role("button", name="Search", exact=True).click()
        page.get_by_role("link", name="mbr_004").click()

        expect(page.locator("h1")).to_contain_text("mbr_004")


def test_the_first_page_of_a_new_team_is_sound(visit, alice, alice_tenant):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/")

        expect(page.get_by_role("heading", name="Get started")).to_be_visible()
        assert complaints(page) == []


def test_the_overview_renews_itself(visit, alice, alice_tenant):
    user = make_user(tenant=alice_tenant)
    job = make_parsing_job(user=user, status="started")
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/")
        expect(page.locator("#overview")).to_have_attribute("hx-trigger", "every 3s")
        job.delete()

        expect(page.locator("#overview")).to_have_attribute(
            "hx-trigger", "every 10s", timeout=10_000
        )
        expect(
            page.get_by_role("link", name=re.compile("Open reports"))
        ).to_contain_text("0")


def test_removing_demo_data_asks_first(visit, alice, alice_tenant):
    make_user(tenant=alice_tenant)
    request_demo_data(tenant=alice_tenant, actor=ACTOR)
    mark_demo_loading_finished(tenant_pk=alice_tenant.pk)
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/")
        page.get_by_role("link", name="Remove demo data").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert_sound(page)
        page.get_by_role("button", name="Remove demo data").click()

        expect(page.get_by_text("Removing the demo data.")).to_be_visible()
