from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import complaints
from tests.factories.accounts import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ENTRANCES = [
    "/accounts/login/",
    "/accounts/password/reset/",
    "/accounts/password/reset/sent/",
    "/accounts/password/reset/1-set-password/",
    "/accounts/signup/",
]


def test_every_page_before_sign_in_is_sound(visit):
    with visit.page() as page:
        for path in ENTRANCES:
            page.goto(path)

            assert page.locator("h1").count() == 1
            assert complaints(page) == []


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
def test_a_wrong_password_then_the_right_one(visit, alice, scripts):
    with visit.page(scripts=scripts) as page:
        page.goto("/accounts/login/")
        page.get_by_label("Work email").fill(alice.email)
        page.get_by_label("Password", exact=True).fill("not this one")
        page.get_by_role("button", name="Sign in", exact=True).click()

        expect(page.get_by_role("alert")).to_contain_text("4 tries left")

        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/t/alice-health/sandbox/")
