from __future__ import annotations

import pytest
from django.core import mail
from playwright.sync_api import expect

from tests.browser.conftest import complaints

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLACE = "/t/alice-health/sandbox/settings/emails/"


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
def test_a_text_is_previewed_before_it_is_saved_and_sent_as_a_test(
    visit, alice, scripts
):
    with visit.page(member=alice, scripts=scripts) as page:
        page.goto(PLACE)
        assert not scripts or complaints(page) == []
        page.get_by_role("link", name="Connect link").click()
        page.get_by_role("link", name="German").click()
        shown = page.frame_locator("iframe[name=mail-preview]")
        expect(shown.get_by_text("Guten Tag,")).to_be_visible()

        page.get_by_role("textbox", name="Text").fill("Moin <b>Moin</b>\n\n{link}")
        page.get_by_role("button", name="Preview").click()
        expect(shown.get_by_text("Moin <b>Moin</b>")).to_be_visible()
        expect(shown.get_by_role("link", name="Geräte und Apps")).to_be_visible()
        page.reload()
        expect(shown.get_by_text("Guten Tag,")).to_be_visible()

        page.get_by_role("textbox", name="Text").fill("Moin Moin\n\n{link}")
        page.get_by_role("button", name="Save email").click()
        expect(page.get_by_text("Email saved.")).to_be_visible()
        expect(shown.get_by_text("Moin Moin")).to_be_visible()
        page.get_by_role("link", name="Plain text").click()
        expect(shown.get_by_text("/connect/?token=example")).to_be_visible()
        page.get_by_role("button", name="Send a test to my address").click()
        expect(page.get_by_text(f"Test sent to {alice.email}.")).to_be_visible()
        assert not scripts or complaints(page) == []

    assert mail.outbox[0].body.startswith("Moin Moin\n\nhttp")
