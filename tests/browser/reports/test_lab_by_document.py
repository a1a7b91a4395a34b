"""Any lab by document: requisition, upload, comparison, signature, results."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.test import Client
from playwright.sync_api import expect
from reportlab.pdfgen.canvas import Canvas

from accounts.states import Role
from reports.models import ParsingJob
from tests.browser.conftest import complaints
from tests.clients import confirm
from tests.factories.accounts import make_member
from tests.reports.by_document import make_order_by_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TEAM = "/t/alice-health/sandbox"
NARROW = {"width": 390, "height": 800}
ROWS = (
    ("Test", "Result", "Units", "Reference Range"),
    ("Glucose", "85", "mg/dL", "65 - 99"),
    ("Potassium", "6.9", "mmol/L", "3.5 - 5.1"),
    ("Ferritin", "80", "ng/mL", "30 - 400"),
)


def draw_report(name, *, number=""):
    """A lab's PDF, with the number below the requisition's barcode and no label."""
    written = BytesIO()
    canvas = Canvas(written, invariant=1)
    lines = [
        (("Lakeside Laboratory", "", number), 780),
        ((f"Patient Name: {name}",), 750),
        (("Date of Birth: 1990-05-17",), 735),
        (("Collected: 2026-11-20",), 720),
        *((row, 690 - 16 * index) for index, row in enumerate(ROWS)),
    ]
    for cells, height in lines:
        for cell, left in zip(cells, (60, 240, 320, 420), strict=False):
            canvas.drawString(left, height, cell)
    canvas.save()
    return written.getvalue()


def upload(page, address, content):
    page.goto(address)
    page.set_input_files(
        'input[type="file"]',
        {"name": "report.pdf", "mimeType": "application/pdf", "buffer": content},
    )
    page.get_by_role("button", name="Upload report").click()
    page.wait_for_url("**/order/")


def test_a_lab_by_document_goes_from_requisition_to_signed_results(
    visit, alice_team, alice_tenant, read_reports
):
    alice_tenant.lab_report_human_review_enabled = True
    alice_tenant.save()
    order = make_order_by_document(tenant=alice_tenant)
    member = make_member(
        team=alice_team,
        email="nora@alice.example",
        roles=(Role.OWNER, Role.CLINICIAN),
    )
    nora = Client()
    nora.force_login(member)
    confirm(nora)
    here = f"{TEAM}/orders/{order.pk}/"

    with visit.page(client=nora) as page:
        page.goto(here)
        shelf = page.get_by_role("region", name="Documents")
        expect(shelf).to_contain_text("Requisition")

        # The wrong person's report is held, and rejected.
        upload(page, f"{here}reports/", draw_report("Berta Other"))
        read_reports()
        page.reload()
        expect(page.get_by_text("This report is held.")).to_be_visible()
        page.get_by_role("link", name="Release or reject").click()
        held = page.get_by_role("region", name="Why it is held")
        expect(held.get_by_role("row", name="Name")).to_contain_text("No match")
        assert complaints(page) == []
        page.get_by_label("Reason").select_option("wrong_person")
        page.get_by_role("button", name="Reject report").click()
        expect(page.get_by_text("Report rejected.")).to_be_visible()
        expect(page.get_by_text("Rejected: Wrong patient.")).to_be_visible()

        # The right one's, under a second given name, is held and released.
        content = draw_report("Greta Example", number=order.sample_id)
        upload(page, f"{here}reports/", content)
        compared = page.url
        read_reports()
        page.reload()
        page.get_by_role("link", name="Release or reject").click()
        page.locator('input[name="reason"]').fill(
            "Second given name, confirmed by phone."
        )
        page.get_by_role("button", name="Release report").click()
        expect(page.get_by_text("Report released.")).to_be_visible()
        page.goto(compared)
        for pill in ("Unreviewed", "1 critical", "1 missing", "1 not ordered"):
            expect(page.locator("main")).to_contain_text(pill)
        identity = page.get_by_role("region", name="Identity")
        expect(identity).to_contain_text(f"Report: {order.sample_id}")

        page.goto(f"{TEAM}/critical/")
        expect(page.locator("main")).to_contain_text("Unreviewed")
        page.keyboard.press("a")
        page.get_by_label("Action taken").fill("Called the patient in.")
        page.get_by_label("I am the treating clinician").check()
        page.get_by_role("button", name="Acknowledge", exact=True).click()
        expect(page.get_by_text("Critical result acknowledged.")).to_be_visible()

        page.goto(compared)
        mark = page.get_by_role("button", name="Mark as not performed")
        expect(mark).to_have_count(1)
        mark.click()
        expect(page.locator("main")).to_contain_text("The order has all its results.")
        page.get_by_role("link", name="Review and sign").click()
        expect(page.locator(".bm")).to_have_count(3)
        for _ in range(3):
            name = page.locator(".bm:not([data-decided]) .bm__name").first
            row = name.get_attribute("id").replace("name", "row")
            name.press("Enter")
            expect(page.locator(f"#{row}[data-decided]")).to_be_visible()
        # A page counts as viewed once it has been in sight for a while.
        expect(page.locator(".desk__page figcaption form")).to_have_count(0)
        page.get_by_role("link", name="Approve…").click()
        page.get_by_label("Person notified").fill("Dr. Vale")
        page.get_by_label("Method").fill("By phone, read back.")
        page.get_by_role("button", name="Acknowledge Potassium").click()
        page.get_by_role("radio").first.check()
        page.get_by_role("button", name="Sign and approve").click()
        page.wait_for_url(f"**{TEAM}/reports/*/")

        page.goto(f"{here}results/")
        expect(page.locator("main")).to_contain_text("6.9")
        expect(page.locator("main")).to_contain_text("85")

    first, second = ParsingJob.objects.for_tenant(alice_tenant).order_by("created_at")
    assert (first.status, first.failure_reason) == ("failed", "invalid_input")
    assert (second.status, second.is_reviewed) == ("completed", True)
    for theme in ("light", "dark"):
        with visit.page(client=nora, theme=theme, size=NARROW) as page:
            for address in (compared, f"{TEAM}/reports/critical-limits/"):
                page.goto(address)
                assert complaints(page) == []
