from __future__ import annotations

import pytest
from playwright.sync_api import expect

from labs.operations.order_status.status import advance_order
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.orders import get_order_with_details
from labs.web.orders import order_page
from tests.browser.conftest import complaints
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def path_of(order):
    return f"/t/alice-health/sandbox/orders/{order.pk}/"


def test_an_open_order_page_follows_the_order(visit, alice, alice_tenant, monkeypatch):
    monkeypatch.setattr(order_page, "_OFTEN", 1)
    order = make_order(tenant=alice_tenant)

    with visit.page(member=alice) as page:
        page.goto(path_of(order))
        page.get_by_role("button", name="Show patient details").click()
        expect(page.get_by_text("Ada Example")).to_be_visible()
        assert complaints(page, "#order-patient") == []

        advance_order(
            order=get_order_with_details(tenant=alice_tenant, order_id=order.pk),
            actor=ACTOR,
            to="requisition_created",
        )

        expect(page.locator("h1 .pill")).to_have_text("Requisition ready")
        expect(page.locator(".timeline")).to_contain_text("2 steps")
        # What was asked for stays in sight, and is not asked for again.
        expect(page.get_by_text("Ada Example")).to_be_visible()

        page.get_by_role("link", name="More steps").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Advance to").select_option("Partial results (1 step)")
        dialog.get_by_role("button", name="Advance", exact=True).click()
        expect(page.locator("h1 .pill")).to_have_text("Partial results")

        page.get_by_role("link", name="More steps").click()
        dialog.get_by_label("Status", exact=True).fill("future value")
        dialog.get_by_role("button", name="Send unknown status").click()
        expect(dialog.locator(".err")).to_be_visible()
        assert complaints(page, "#d-form") == []
        dialog.get_by_label("Status", exact=True).fill("sample_with_lab.pooled")
        dialog.get_by_role("button", name="Send unknown status").click()
        expect(page.locator(".card__foot code")).to_have_text("sample_with_lab.pooled")


def test_papers_open_and_a_link_is_renewed(visit, alice, alice_tenant, settings):
    settings.PUBLIC_URL = visit.address
    order = make_order(tenant=alice_tenant)
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)

    with visit.page(member=alice) as page:
        page.goto(path_of(order))
        papers = page.locator("section:has(#h-papers)")
        expect(papers).to_contain_text("works for 6 d 23 h more")
        assert complaints(page, "section:has(#h-papers)") == []
        for name in ("Requisition PDF", "Open link"):
            link = papers.get_by_role("link", name=name).get_attribute("href")
            assert page.request.get(link).headers["content-type"] == "application/pdf"

        papers.get_by_role("link", name="Print labels").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Number of labels").fill("91")
        assert complaints(page, "#d-form") == []
        dialog.get_by_role("button", name="Close", exact=True).last.click()

        copy = papers.get_by_role("button", name="Copy link")
        before = copy.get_attribute("data-copy")
        papers.get_by_role("button", name="Create new link").click()
        expect(copy).not_to_have_attribute("data-copy", before)


def test_without_script_an_order_is_shown_advanced_and_cancelled(
    visit, alice, alice_tenant
):
    order = make_order(tenant=alice_tenant)

    with visit.page(member=alice, scripts=False) as page:
        page.goto(path_of(order))
        page.get_by_role("button", name="Show patient details").click()
        expect(page.get_by_text("Ada Example")).to_be_visible()
        page.get_by_role("button", name="Advance to requisition ready").click()
        expect(page.locator("h1 .pill")).to_have_text("Requisition ready")
        page.goto(f"{path_of(order)}cancel/")
        page.get_by_label("Reason").fill("Moved away")
        page.get_by_role("button", name="Cancel order").click()

        expect(page.locator("h1 .pill")).to_have_text("Cancelled")
        expect(page.locator(".timeline li").first).to_contain_text("Moved away")
