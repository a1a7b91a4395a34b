"""A person pairs a phone on the connect page, by keyboard; a member sees how it is."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, complaints, complaints_of_the_dark
from tests.factories.accounts import ACTOR
from tests.factories.phones import send
from tests.factories.users import make_user
from users.operations.connect.link_sessions import (
    create_connect_link,
    sign_connect_link_token,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def call(path, body, token=""):
    """What a phone does, beside Playwright's loop."""

    def work():
        try:
            return send(path, body, token)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_a_phone_is_paired_by_code_and_disconnected(visit, alice, alice_tenant):
    user = make_user(tenant=alice_tenant)
    session = create_connect_link(user=user, actor=ACTOR)

    with visit.page(size=PHONE) as page:
        page.goto(f"/connect/?token={sign_connect_link_token(session)}")
        page.get_by_role("link", name="Connect a phone").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Connect a phone")
        assert complaints(page) == []
        page.set_viewport_size(PHONE)
        page.get_by_role("link", name="Continue with An app that asks").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Get a code").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Waiting for your phone.")).to_be_visible()
        assert complaints(page) == []
        assert complaints_of_the_dark(page) == []
        page.set_viewport_size(PHONE)
        shown = page.get_by_text(re.compile(r"[A-Z2-9]{4}–[A-Z2-9]{4}")).inner_text()
        code = re.sub(r"[^A-Z2-9]", "", shown.removeprefix("Code:"))[-8:]

        paired = call("/phone/pair", {"code": code, "device_name": "Pixel 9"})

        assert paired.status_code == 200
        expect(page.get_by_text("Your phone is connected.")).to_be_visible()
        assert complaints(page) == []
        page.set_viewport_size(PHONE)
        body = {"provider": "health_connect", "batches": []}
        token = paired.json()["access_token"]
        assert call("/phone/uploads", body, token).status_code == 202
        page.get_by_role("link", name="Done").click()
        expect(page.get_by_text("Last upload")).to_be_visible()
        assert complaints(page) == []

    with visit.page(member=alice) as page:
        page.goto(f"/t/alice-health/sandbox/users/{user.uuid}/")
        expect(page.get_by_text("1 upload is waiting")).to_be_visible()
        assert complaints(page) == []
        assert complaints_of_the_dark(page) == []
        page.get_by_role("button", name="Disconnect Pixel 9").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Phone disconnected.")).to_be_visible()

    assert call("/phone/uploads", body, token).status_code == 401
