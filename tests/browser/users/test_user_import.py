from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, complaints
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_users_are_imported_from_a_phone_without_script(visit, alice, alice_tenant):
    make_user(tenant=alice_tenant, client_user_id="mbr_1")
    content = b"client_user_id,fallback_time_zone\nmbr_1,\nmbr_2,Europe/Paris\n=x,\n"
    file = {"name": "users.csv", "mimeType": "text/csv", "buffer": content}
    with visit.page(member=alice, size=PHONE, scripts=False) as page:
        page.goto("/t/alice-health/sandbox/users/")
        page.get_by_role("link", name="Import").click()
        page.get_by_label("Drop a file or choose one").set_input_files(file)
        page.get_by_role("button", name="Check file").click()
        expect(page.get_by_role("row").nth(2)).to_contain_text("Rejected")

        page.get_by_role("button", name="Create 1 user").click()

        expect(page.get_by_text("1 user created.")).to_be_visible()
        page.goto("/t/alice-health/sandbox/users/?q=mbr_2")
        expect(page.get_by_role("link", name="mbr_2")).to_be_visible()


def test_a_checked_file_is_shown_soundly(visit, alice):
    file = {"name": "users.csv", "mimeType": "text/csv"}
    rows = b"client_user_id\nmbr_1\nada@assay.example\n"
    with visit.page(member=alice) as page:
        page.goto("/t/alice-health/sandbox/users/import/")
        page.get_by_label("Drop a file or choose one").set_input_files(
            {**file, "buffer": rows}
        )
        page.get_by_role("button", name="Check file").click()

        expect(page.get_by_role("button", name="Create 1 user")).to_be_visible()
        assert complaints(page) == []
