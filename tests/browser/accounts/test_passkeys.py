"""Passkeys in a real browser, by an authenticator that Chromium plays itself."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import expect

from tests.browser.conftest import complaints
from tests.factories.accounts import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def add_authenticator(page):
    """A device that holds passkeys and says yes by itself; gives how to lose it."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    made = devtools.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    return lambda: devtools.send("WebAuthn.clearCredentials", made)


def give_password(page, member):
    page.goto("/accounts/login/")
    page.get_by_label("Work email").fill(member.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page):
    page.context.clear_cookies()


def test_a_passkey_is_added_signs_in_is_lost_and_a_recovery_code_helps(visit, alice):
    with visit.page() as page:
        lose = add_authenticator(page)
        give_password(page, alice)
        page.wait_for_url("**/t/alice-health/sandbox/")

        page.goto("/accounts/second-factor/")
        page.get_by_role("link", name="Add passkey").click()
        expect(page.get_by_label("Name")).to_be_visible()
        assert complaints(page) == []
        page.get_by_label("Name").fill("Work laptop")
        page.get_by_role("button", name="Add passkey").click()
        page.wait_for_url("**/recovery-codes/")
        codes = page.get_by_label("Recovery codes").inner_text().split()
        assert len(codes) == 10

        sign_out(page)
        page.goto("/accounts/login/?next=/t/alice-health/sandbox/profile/")
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_role("heading", name="Profile")).to_be_visible()

        sign_out(page)
        give_password(page, alice)
        page.wait_for_url("**/second-factor/code/")
        assert complaints(page) == []
        page.get_by_role("button", name="Use passkey").click()
        page.wait_for_url("**/t/alice-health/sandbox/")

        lose()
        sign_out(page)
        give_password(page, alice)
        page.wait_for_url("**/second-factor/code/")
        page.get_by_role("button", name="Use passkey").click()
        expect(page.get_by_role("alert")).to_contain_text("passkey was not accepted")
        page.get_by_label("Code").fill(codes[0])
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/t/alice-health/sandbox/")

        page.goto("/accounts/second-factor/")
        assert complaints(page) == []
        page.get_by_role("link", name="Remove Work laptop").click()
        expect(page.get_by_role("button", name="Remove passkey")).to_be_visible()
        assert complaints(page) == []
        page.get_by_role("button", name="Remove passkey").click()
        page.wait_for_url("**/second-factor/")

    assert not Authenticator.objects.exists()
