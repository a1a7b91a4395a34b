from __future__ import annotations

import re

import pytest
from django.test import Client
from playwright.sync_api import expect

from accounts.operations.api_keys.api_keys import (
    OVERLAPS,
    create_api_key,
    rotate_api_key,
)
from tests.browser.conftest import complaints
from tests.clients import confirm
from tests.factories.accounts import ACTOR

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "/t/alice-health/sandbox/api-keys/"


@pytest.fixture
def confirmed(alice):
    """Alice, who has just confirmed that it is her."""
    client = Client()
    client.force_login(alice)
    confirm(client)
    return client


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
def test_a_key_is_made_changed_rotated_and_its_old_one_ended(visit, confirmed, scripts):
    with visit.page(client=confirmed, scripts=scripts) as page:
        page.goto(LIST)
        page.get_by_role("link", name="Create key").click()
        page.get_by_label("Name").fill("Data warehouse")
        page.get_by_label("Selected scopes").check()
        page.get_by_label("Read: Users and wearable data").check()
        page.get_by_label("Allowed IP addresses").fill("192.0.2.0/24")
        page.get_by_role("button", name="Create key").click()
        expect(page.get_by_text("Copy your new key now.")).to_be_visible()
        expect(page.locator(".secret code")).to_have_text(re.compile(r"^sk_us_"))
        page.goto(LIST)
        expect(page.locator(".secret")).to_have_count(0)

        page.get_by_role("link", name="Data warehouse", exact=True).click()
        expect(page.get_by_text("Users and wearable data: read")).to_be_visible()
        page.get_by_role("link", name="Edit key").click()
        page.get_by_label("Allowed IP addresses").fill("nowhere")
        page.get_by_role("button", name="Save key").click()
        expect(page.get_by_text("Enter IP addresses or networks")).to_be_visible()
        page.get_by_label("Allowed IP addresses").fill("")
        page.get_by_role("button", name="Save key").click()
        expect(page.get_by_text("Any", exact=True)).to_be_visible()
        page.goto(LIST)

        page.get_by_role("link", name="Rotate Data warehouse").click()
        page.get_by_label("After 72 hours").check()
        page.get_by_role("button", name="Rotate key").click()
        expect(page.get_by_text("Ends in 2 d 23 h")).to_be_visible()

        page.get_by_role("link", name="End now").click()
        page.get_by_role("button", name="End key").click()
        expect(page.get_by_text("Ended keys (1)")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
def test_revoking_needs_the_name(visit, alice, alice_tenant, scripts):
    create_api_key(tenant=alice_tenant, actor=ACTOR, label="Data warehouse")
    with visit.page(member=alice, scripts=scripts) as page:
        page.goto(LIST)
        page.get_by_role("link", name="Revoke Data warehouse").click()
        page.get_by_label("Key name").fill("Data warehouse")
        page.get_by_role("button", name="Revoke key").click()

        expect(page.get_by_text("No API keys yet")).to_be_visible()


def test_a_new_key_is_not_in_the_page_after_a_reload(visit, confirmed):
    with visit.page(client=confirmed) as page:
        page.goto(LIST)
        page.get_by_role("link", name="Create key").click()
        page.get_by_label("Name").fill("Data warehouse")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Copy your new key now.")).to_be_visible()
        expect(page).to_have_url(re.compile(f"{LIST}$"))
        page.reload()

        expect(page.locator(".secret")).to_have_count(0)
        expect(page.locator("tbody tr")).to_have_count(1)


def test_pages_of_keys_are_sound(visit, confirmed, alice_tenant):
    old, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="Data warehouse")
    rotate_api_key(key=old, actor=ACTOR, overlap=OVERLAPS[1])
    create_api_key(tenant=alice_tenant, actor=ACTOR, label="New one")
    ended, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="Old import")
    rotate_api_key(key=ended, actor=ACTOR, overlap=OVERLAPS[0])
    with visit.page(client=confirmed) as page:
        page.goto(LIST)
        page.get_by_text("Ended keys (1)").click()
        assert complaints(page) == []
        for action in ("Create key", "Revoke New one", "Rotate New one"):
            page.get_by_role("link", name=action).click()
            expect(page.get_by_role("dialog")).to_be_visible()
            assert complaints(page, "dialog[open]") == []
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).not_to_be_visible()
