"""The documentation in a browser: search, menus of a phone, and without script."""

from __future__ import annotations

import pytest

from portal.docs.pages import list_docs_pages
from tests.browser.conftest import PHONE, complaints

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_reader_searches_opens_a_section_and_turns_the_page(visit):
    with visit.page() as page:
        page.goto("/docs/")
        assert complaints(page) == []
        page.get_by_role("searchbox").fill("put a proxy")
        page.get_by_role("searchbox").press("Enter")
        assert complaints(page) == []
        page.get_by_role("link", name="Put a proxy in front").click()
        page.wait_for_url("**/docs/guides/deploy/#put-a-proxy-in-front")
        assert complaints(page) == []
        page.get_by_role("link", name="Next: Go live").click()
        page.get_by_role("heading", name="Go live", level=1).wait_for()


def test_a_phone_has_the_pages_and_sections_in_menus(visit):
    with visit.page() as page:
        page.set_viewport_size(PHONE)
        page.goto("/docs/reference/environment/")
        page.get_by_text("On this page").first.click()
        page.get_by_role("navigation", name="Sections").get_by_role(
            "link", name="STORAGE_URL"
        ).click()
        page.wait_for_url("**#storage_url")
        page.get_by_text("All pages").click()
        page.get_by_role("navigation", name="All pages").get_by_role(
            "link", name="Glossary"
        ).click()
        page.get_by_role("heading", name="Glossary", level=1).wait_for()


# By one template and one renderer: a sample here, all of them where time is.
SAMPLE = 5


@pytest.mark.parametrize(
    "slug",
    [
        pytest.param(slug, marks=[pytest.mark.long] if number % SAMPLE else [])
        for number, slug in enumerate(list_docs_pages())
    ],
)
def test_each_page_is_sound_in_every_look(visit, slug):
    with visit.page() as page:
        page.goto(f"/docs/{slug}/")

        assert complaints(page) == []
