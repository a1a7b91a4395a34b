from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from labs.models import Order
from labs.operations.orders import requisitions
from labs.web.order_wizard import entry
from tests.browser.conftest import assert_sound, complaints
from tests.factories.labs import (
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
)
from tests.factories.users import make_user

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),  # eight pages on whatever else the machine does
]

PLACE = "/t/alice-health/sandbox/orders/place/"


@pytest.fixture
def lab(alice_tenant, monkeypatch):
    lab = make_lab(name="Northgate")
    # One of its own, as those that take comments have tests of the reference set.
    for module in (requisitions, entry):
        monkeypatch.setattr(module, "COMMENT_LABS", {lab.slug})
    make_lab_account(
        tenant=alice_tenant,
        lab=lab,
        account_name="Clinic",
        default_clinical_notes="Call us.",
    )
    make_lab_account(
        tenant=alice_tenant, lab=lab, account_name="Later", status="pending"
    )
    make_user(tenant=alice_tenant, client_user_id="mbr_007")
    make_user(tenant=alice_tenant, client_user_id="mbr_008")
    make_lab_test(tenant=alice_tenant, lab=lab, name="Lipid panel")
    make_marker(lab=lab, name="Ferritin")
    return lab


def fill_patient(page):
    for label, text in (
        ("First name", "Ada"),
        ("Last name", "Example"),
        ("Birth date", "1990-05-17"),
        ("Phone", "+15550101"),
        ("Email", "ada@assay.example"),
        ("Street address", "1 Sample Street"),
        ("City", "Phoenix"),
    ):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_label("Gender", exact=True).select_option("female")
    page.get_by_label("State", exact=True).select_option("AZ")


def press_step_button(page, words="Continue"):
    page.get_by_role("button", name=words, exact=True).click()


def test_an_order_is_placed_by_keyboard_and_search(visit, alice, alice_tenant, lab):
    found = {}
    with visit.page(member=alice) as page:
        page.goto(PLACE)
        page.get_by_label("Search users").press_sequentially("mbr_007")
        expect(page.locator("#order-users li")).to_have_count(1)
        page.get_by_role("button", name="Choose mbr_007").press("Enter")

        fill_patient(page)
        page.get_by_label("ZIP code").fill("85")
        page.get_by_label("ZIP code").press("Enter")
        expect(page.get_by_label("ZIP code")).to_have_attribute("aria-invalid", "true")
        found["patient"] = complaints(page)
        page.get_by_label("ZIP code").fill("85004")
        press_step_button(page)

        expect(page.locator("#order-lab-name")).to_have_text("Northgate")
        page.get_by_role("button", name="Add Lipid panel").press("Enter")
        added = page.get_by_role("button", name=re.compile("Added.*Lipid panel"))
        expect(added).to_be_focused()
        page.get_by_label("Search tests and markers").press_sequentially("ferr")
        page.get_by_role("button", name="Add Ferritin").press("Enter")
        remove = page.locator(".basket").get_by_role("button", name="Remove Ferritin")
        expect(remove).to_be_visible()
        assert_sound(page)
        press_step_button(page)

        expect(page.get_by_role("radio", name=re.compile("Clinic"))).to_be_checked()
        expect(page.get_by_role("radio", name=re.compile("Later"))).to_be_disabled()
        page.get_by_role("radio", name=re.compile("Clinic")).focus()
        page.keyboard.press("Space")
        assert_sound(page)
        press_step_button(page)

        page.get_by_label("Clinical comment").press_sequentially("Fasting.")
        expect(page.locator("#order-printed pre")).to_have_text("Call us.\nFasting.")
        expect(page.get_by_text("8 of 1000 characters")).to_be_visible()
        found["review"] = complaints(page)
        press_step_button(page, "Back")
        page.go_back()
        expect(page.get_by_label("Clinical comment")).to_have_value("Fasting.")
        press_step_button(page, "Place order")
        page.wait_for_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))

    order = Order.objects.for_tenant(alice_tenant).get()
    assert order.comments == "Fasting."
    assert order.lab_test.markers.count() == 2
    assert {step: faults for step, faults in found.items() if faults} == {}


def test_without_script_an_order_is_placed(visit, alice, alice_tenant, lab):
    with visit.page(member=alice, scripts=False) as page:
        page.goto(PLACE)
        page.get_by_label("Search users").fill("mbr_008")
        page.get_by_label("Search users").press("Enter")
        page.get_by_role("button", name="Choose mbr_008").click()
        fill_patient(page)
        page.get_by_label("ZIP code").fill("85004")
        press_step_button(page, "Back")
        page.get_by_role("button", name="Choose mbr_008").click()
        expect(page.get_by_label("ZIP code")).to_have_value("85004")
        press_step_button(page)
        page.get_by_label("Lab", exact=True).select_option("Northgate")
        page.get_by_role("button", name="Show this lab's tests").click()
        page.get_by_label("Search tests and markers").fill("lipid")
        page.get_by_label("Search tests and markers").press("Enter")
        page.get_by_role("button", name="Add Lipid panel").click()
        press_step_button(page)
        press_step_button(page)
        page.get_by_label("Clinical comment").fill("Fasting.")
        press_step_button(page, "Preview comment")
        expect(page.locator("#order-printed pre")).to_have_text("Call us.\nFasting.")
        press_step_button(page, "Place order")
        page.wait_for_url(re.compile(r"/orders/[0-9a-f-]{36}/$"))

    assert Order.objects.for_tenant(alice_tenant).count() == 1
