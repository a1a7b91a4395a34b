"""The orders list, in a real browser."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from labs.models import Order
from tests.browser.conftest import PHONE
from tests.factories.labs import make_lab_test, make_order
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIST = "/t/alice-health/sandbox/orders/"


@pytest.fixture
def orders(alice_tenant):
    """Of two users: one done today, one of last month that is held up."""
    panel = make_lab_test(tenant=alice_tenant)
    made = []
    for name, status, days in (
        ("mbr_dana", "completed.walk_in_test.completed", 0),
        ("mbr_erik", "collecting_sample.walk_in_test.appointment_pending", 40),
    ):
        user = make_user(tenant=alice_tenant, client_user_id=name)
        order = make_order(tenant=alice_tenant, user=user, lab_test=panel)
        at = timezone.now() - timedelta(days=days)
        Order.objects.for_tenant(alice_tenant).filter(pk=order.pk).update(
            status=status, created_at=at, updated_at=at
        )
        made.append(order)
    return made


def test_staff_narrow_the_list_and_look_at_a_patient(visit, alice, orders):
    with visit.page(member=alice) as page:
        rows = page.locator("#order-list tbody tr")
        page.goto(LIST)
        expect(rows).to_have_count(2)
        page.get_by_role("link", name="Needs attention").click()
        expect(rows).to_have_count(1)
        page.get_by_role("link", name="All", exact=True).first.click()
        expect(rows).to_have_count(2)

        page.get_by_label("Search orders by ID").fill("mbr_e")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("mbr_erik")
        page.get_by_label("Search orders by ID").fill("mbr_")
        expect(rows).to_have_count(2)

        page.get_by_role("button", name="Created").focus()
        for key in ("Enter", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        expect(page.get_by_text("Created Last 7 days")).to_be_visible()
        expect(rows).to_contain_text("mbr_dana")
        assert "q=mbr_" in page.url

        expect(page.get_by_text("Ada Example")).to_have_count(0)
        page.get_by_role("button", name="Show patients").click()
        expect(rows).to_contain_text("Ada Example")


def test_days_are_chosen_without_script_on_a_phone(visit, alice, orders):
    before = (timezone.now() - timedelta(days=30)).date().isoformat()
    with visit.page(member=alice, scripts=False, size=PHONE) as page:
        page.goto(LIST)
        page.get_by_role("button", name="Created").click()
        page.get_by_label("Last day").fill(before)
        page.get_by_role("button", name="Show these days").click()

        expect(page.locator("#order-list tbody tr")).to_have_count(1)
        page.get_by_role("button", name="Show patients").click()
        expect(page.get_by_text("Ada Example")).to_be_visible()
