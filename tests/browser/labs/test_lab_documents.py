"""A corrected result with the lab's own PDF, from the message to the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import complaints
from tests.factories.hl7 import make_oru, make_test, obx, obx_with_document
from tests.factories.inbound import make_order_sent_to_lab, take
from tests.factories.reports import make_pdf

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FIRST, SECOND = make_pdf(), make_pdf(pages=2)


def send(order, *lines, control_id, **fields):
    test = make_test(*lines, placer=order.sample_id, **fields)
    take(order.tenant, make_oru(test, control_id=control_id), lab=order.lab)


def opened(page, link):
    with page.expect_download() as started:
        link.click()
    return started.value.path().read_bytes()


def test_a_corrected_result_with_the_labs_pdf_is_version_two_and_the_first_stays(
    visit, alice, alice_tenant, read_reports
):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    address = f"/t/alice-health/sandbox/orders/{order.pk}/"
    where = "https://lab.example/viewer?report=1&page=2"
    send(order, obx("91"), obx_with_document(FIRST), control_id="C1")

    with visit.page(member=alice) as page:
        shelf = page.get_by_role("region", name="Documents")
        page.goto(address)
        expect(shelf).to_contain_text("Being checked")
        expect(shelf.get_by_role("link", name="Lab report")).to_have_count(0)

        read_reports()
        page.reload()
        expect(shelf).to_contain_text("Version 1, newest")
        assert opened(page, shelf.get_by_role("link", name="Lab report")) == FIRST

        send(
            order,
            obx("95", status="C"),
            obx_with_document(SECOND, status="C"),
            obx(f"{where}^LIS^AP^PDF", type="RP", id="VIEW^Viewer^L"),
            obx_with_document(b"GIF89a", id="IMG^Picture^L"),
            control_id="C2",
            status="C",
        )
        read_reports()
        page.reload()
        rows = shelf.get_by_role("listitem")
        expect(rows).to_have_count(4)
        expect(rows.nth(0)).to_contain_text("The document is not a PDF.")
        expect(rows.nth(1)).to_contain_text(where)
        expect(rows.nth(1).get_by_role("link")).to_have_count(0)
        expect(rows.nth(2)).to_contain_text("Version 2, newest")
        expect(rows.nth(3)).to_contain_text("Version 1, replaced")
        links = shelf.get_by_role("link", name="Lab report")
        assert [opened(page, links.nth(n)) for n in range(2)] == [SECOND, FIRST]
        assert complaints(page) == []

        sections = page.get_by_role("navigation", name="Order sections")
        sections.get_by_role("link", name="Results").click()
        expect(page.get_by_role("row", name="Glucose")).to_contain_text("95")
        expect(page.get_by_role("heading", name="Corrected results")).to_be_visible()
