from __future__ import annotations

import pytest
from django.test import Client
from playwright.sync_api import expect

from labs.models import Appointment
from tests.browser.conftest import complaints
from tests.clients import confirm
from tests.factories.appointments import (
    make_appointment,
    make_bookable_order,
    make_center,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def confirmed(alice):
    client = Client()
    client.force_login(alice)
    confirm(client)
    return client


def test_a_member_enters_a_visit_and_subscribes_to_visits(
    visit, confirmed, alice_tenant
):
    make_appointment(
        order=make_bookable_order(tenant=alice_tenant),
        center=make_center(tenant=alice_tenant),
    )
    order = make_bookable_order(tenant=alice_tenant)
    with visit.page(client=confirmed) as page:
        page.goto(f"/t/alice-health/sandbox/orders/{order.pk}/")
        page.get_by_role("link", name="Enter agreed visit").click()
        dialog = page.get_by_role("dialog")
        for label, text in (
            *(("Center", "Corner Clinic"), ("Street address", "9 Example Road")),
            *(("City", "Phoenix"), ("ZIP code", "10001")),
            *(("Day", "2030-03-09"), ("Time", "08:15"), ("Agreed with", "Front desk")),
        ):
            dialog.get_by_label(label, exact=True).fill(text)
        dialog.get_by_label("State").select_option("AZ")
        dialog.get_by_label("By", exact=True).select_option("Phone")
        dialog.get_by_role("button", name="Enter visit").click()
        expect(dialog.get_by_text("This ZIP code is in NY.")).to_be_visible()
        assert complaints(page, "#d-form") == []
        dialog.get_by_label("ZIP code").fill("85004")
        dialog.get_by_role("button", name="Enter visit").click()
        expect(page.get_by_text("Visit entered. It is confirmed.")).to_be_visible()
        expect(page.get_by_text("Corner Clinic").first).to_be_visible()
        assert complaints(page) == []

        page.goto("/t/alice-health/sandbox/visits/")
        page.get_by_role("link", name="Calendars").click()
        expect(page.get_by_text("No calendars of centers")).to_be_visible()
        assert complaints(page) == []
        page.get_by_role("link", name="Create address").click()
        page.get_by_role("dialog").get_by_role("button", name="Create address").click()
        expect(page.get_by_text("Copy the calendar address now.")).to_be_visible()
        address = page.locator(".secret code").inner_text()
        page.get_by_role("link", name="Add center").click()
        page.get_by_role("dialog").get_by_role("button", name="Create address").click()
        expect(page.get_by_role("dialog").get_by_text("Choose a")).to_have_count(0)
        expect(page.get_by_role("cell", name="Test Center T")).to_be_visible()
        assert complaints(page) == []
        page.reload()
        expect(page.get_by_role("cell", name="Test Center T")).to_be_visible()
        assert "token=" not in page.content()
        assert complaints(page) == []

    feed = Client().get("/" + address.split("/", 3)[3])
    assert feed.content.count(b"BEGIN:VEVENT") == 2
    assert Appointment.objects.for_tenant(alice_tenant).count() == 2
