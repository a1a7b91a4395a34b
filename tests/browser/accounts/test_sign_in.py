from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import complaints
from tests.factories.accounts import PASSWORD
from tests.factories.openid import make_single_sign_on, serve_openid

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

        expect(page.get_by_role("alert")).to_contain_text("4 attempts left")

        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/t/alice-health/sandbox/")


def test_single_sign_on_there_and_back(visit, alice, alice_team, settings):
    settings.PUBLIC_URL = visit.address
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = ["127.0.0.1"]
    with serve_openid() as provider, visit.page() as page:
        make_single_sign_on(team=alice_team, issuer=provider.issuer, is_required=True)
        provider.person["email"] = alice.email
        page.goto("/accounts/login/")
        page.get_by_label("Work email").fill(alice.email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()

        # A password alone leads to the provider, and from there in.
        page.wait_for_url("**/accounts/single-sign-on/alice-health/**")
        assert complaints(page) == []
        page.get_by_role("link", name="Continue to 127.0.0.1").click()
        page.wait_for_url("**/t/alice-health/sandbox/")

        page.context.clear_cookies()
        page.goto("/accounts/login/?next=/t/alice-health/sandbox/profile/")
        page.get_by_role("link", name="Single sign-on").click()
        page.get_by_role("link", name="Continue to 127.0.0.1").click()
        page.wait_for_url("**/sandbox/profile/")
        assert complaints(page) == []

    alice.email_confirmed_at = None
    alice.save(update_fields=["email_confirmed_at"])
    with visit.page(member=alice) as page:
        page.goto("/t/alice-health/sandbox/")
        page.wait_for_url("**/accounts/address/")
        assert complaints(page) == []
