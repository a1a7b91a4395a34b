from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from labs.models import Order
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLACE = "/t/alice-health/sandbox"
PERSON = {
    "First name": "Ada",
    "Last name": "Example",
    "Birth date": "1990-05-17",
    "Phone": "+15550101",
    "Email": "ada@assay.example",
    "Street address": "1 Sample Street",
    "City": "Phoenix",
    "ZIP code": "85004",
}


def fill_person(page):
    for label, text in PERSON.items():
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_label("Gender", exact=True).select_option("Female")
    page.get_by_label("State", exact=True).select_option("AZ")
    page.get_by_label("Country", exact=True).fill("US")


def add_account(page, name, *, status=""):
    page.goto(f"{PLACE}/lab-accounts/")
    page.get_by_role("link", name="Add account").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Lab", exact=True).select_option("Quest Diagnostics")
    dialog.get_by_label("Account number").fill(f"N-{name}")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Add account").click()
    expect(page.get_by_text(f"{name} added")).to_be_visible()
    if status:
        page.get_by_role("link", name=f"Status of {name}").click()
        dialog.get_by_label(status, exact=True).check()
        dialog.get_by_role("button", name="Change status").click()
        expect(page.get_by_role("row", name=name)).to_contain_text(status)


def place(page):
    page.goto(f"{PLACE}/orders/place/")
    page.get_by_role("button", name="Choose mbr_1").click()
    fill_person(page)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#order-lab-name")).to_have_text("Quest Diagnostics")
    page.get_by_role("button", name=re.compile("^Add ")).first.click()
    expect(page.locator(".basket")).to_contain_text("Remove")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Place order").click()
    page.wait_for_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))


def test_a_new_team_lives_through_its_first_orders(visit, alice, alice_tenant):
    make_user(tenant=alice_tenant, client_user_id="mbr_1")
    pill = "h1 .pill"

    with visit.page(member=alice) as page:
        add_account(page, "Clinic", status="Active")

        place(page)
        expect(page.get_by_text("Only active account for this lab")).to_be_visible()
        page.get_by_role("button", name="Advance to requisition ready").click()
        expect(page.locator(pill)).to_have_text("Requisition ready")

        add_account(page, "Branch")
        page.goto(f"{PLACE}/orders/import/?user=mbr_1")
        page.get_by_label("Sample ID").fill("Q-100")
        page.get_by_label("Test", exact=True).select_option("Essential health")
        page.get_by_label("Lab account").select_option("Branch, pending")
        fill_person(page)
        page.get_by_role("button", name="Import order").click()
        expect(page.locator(pill)).to_have_text("No requisition needed")
        expect(page.get_by_text("Chosen on the order").first).to_be_visible()

        page.get_by_role("button", name="More actions").click()
        page.get_by_role("link", name="Recreate order").click()
        page.get_by_label("Wrong lab").check()
        page.get_by_role("button", name="Preview changes").click()
        account = page.get_by_role("row", name="Lab account")
        expect(account).to_contain_text("Branch")
        expect(account).to_contain_text("Only other active account for this lab")
        page.get_by_role("button", name="Cancel and recreate").click()
        expect(page.get_by_text("Previous order: Branch.")).to_be_visible()
        expect(page.get_by_text("Only other active account")).to_be_visible()

        page.get_by_role("button", name="More actions").click()
        page.get_by_role("link", name="Cancel order").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel order").click()
        expect(page.locator(pill)).to_have_text("Cancelled")

    orders = Order.objects.for_tenant(alice_tenant).order_by("created_at")
    assert [order.status_parts.low for order in orders] == [
        "requisition_created",
        "cancelled",
        "cancelled",
    ]
