"""A report of thirty markers reviewed by keyboard alone, with errors seeded in it."""

from __future__ import annotations

import re
from datetime import date

import pytest
from django.test import Client
from playwright.sync_api import expect

from accounts.states import Role
from reports.models import Signature
from reports.parser.parsing import parse_report
from reports.parser.report import Interpretation, PageSize
from reports.queries import list_review_rows
from tests.browser.conftest import complaints, open_painted
from tests.clients import confirm
from tests.factories.accounts import make_member
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_pdf,
    make_review,
)
from tests.factories.users import make_user
from tests.reports.seeded_panel import draw_panel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

QUEUE = "/t/alice-health/sandbox/reviews/"


@pytest.fixture
def waiting(alice_tenant, tmp_path):
    content = draw_panel()
    path = tmp_path / "report.pdf"
    path.write_bytes(content)
    user = make_user(
        tenant=alice_tenant,
        client_user_id="mbr_rosa",
        fallback_birth_date=date(1984, 2, 9),
    )
    return make_review(
        user=user,
        report=parse_report(path),
        content=content,
        metadata={"dob": "1961-11-02", "lab_name": "Example Laboratory"},
    )


def open_value(page, name):
    """Walk to a row and open its value."""
    while name not in page.locator(".bm.is-on .bm__name b").inner_text():
        page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator('.bm.is-on .bm__panel [name="value"]')).to_be_focused()


def retype(page, value):
    page.keyboard.press("Control+a")
    page.keyboard.type(value)
    page.keyboard.press("Enter")


def test_thirty_markers_are_reviewed_by_keyboard_and_no_edit_is_lost(
    visit, alice_team, alice_tenant, waiting
):
    nora = make_member(
        team=alice_team, email="nora@alice.example", roles=(Role.CLINICIAN,)
    )
    desk = f"{QUEUE}{waiting.id}/"

    with visit.page(member=nora) as page, visit.page(member=nora) as other:
        open_painted(page, QUEUE)
        page.keyboard.press("o")
        expect(page.locator("h1")).to_have_text("Check patient identity")
        assert complaints(page) == []
        page.locator("#same_reason").focus()
        page.keyboard.type("Confirmed by phone")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")

        expect(page.locator(".bm.is-on .bm__name")).to_be_focused()
        expect(page.locator(".bm")).to_have_count(30)
        expect(page.locator("[data-box]")).to_have_count(30)
        found = page.locator(".bm[data-needs] .bm__name b").all_inner_texts()
        assert {"Potassium", "Hemoglobin", "Lymphocytes"} <= set(found)
        assert len(found) == 7
        assert complaints(page) == []

        other.goto(QUEUE)
        # The whole row is its button.
        other.get_by_role("cell", name="Example Laboratory").click(force=True)
        other.wait_for_url(f"**{desk}")
        open_value(other, "Potassium")
        retype(other, "4.3")
        expect(other.locator(".bm--edited b")).to_have_text("Potassium")
        open_value(page, "Potassium")
        retype(page, "4.2")
        expect(page.locator(".bm.is-on .note")).to_contain_text("4.3")
        page.locator('.bm.is-on [name="value"]').press("Enter")
        expect(page.locator(".bm--edited .val")).to_contain_text("4.2")

        page.locator(".bm__name").first.focus()
        open_value(page, "Lymphocytes")
        retype(page, "30")
        expect(page.locator(".bm--contradiction")).to_have_count(0)

        value = page.locator('.part--value[data-part="0"]')
        before = value.get_attribute("points")
        page.locator("#name-0").focus()
        for key in ("b", "ArrowDown", "Shift+ArrowRight", "Enter"):
            page.keyboard.press(key)
        expect(page.locator("#row-0 .act button")).to_have_attribute("value", "2")
        expect(page.locator("#name-0")).to_be_focused()
        assert value.get_attribute("points") != before
        page.keyboard.press("z")
        expect(page.locator("#row-0 .act button")).to_have_attribute("value", "3")
        expect(value).to_have_attribute("points", before)

        page.locator("#name-3").press("Enter")
        expect(page.locator("#row-3[data-decided]")).to_be_visible()
        name = page.locator("#name-3 b").inner_text()
        page.get_by_role("link", name="Approve…").focus()
        page.keyboard.press("z")
        expect(page.locator("#row-3")).not_to_have_attribute("data-decided", "")
        expect(page.locator("#toasts")).to_contain_text(f"Undone: {name} is ")
        expect(page.locator("#name-3")).to_be_focused()
        page.locator("#name-0").focus()

        page.keyboard.press("x")
        expect(page.get_by_label("Reason", exact=True)).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#name-0")).to_be_focused()

        page.keyboard.press("m")
        expect(page.get_by_role("heading", name="Merge with the next")).to_be_visible()
        page.keyboard.press("Enter")
        page.wait_for_url("**/?row=0#name-0")
        expect(page.locator("#name-0")).to_be_focused()
        page.keyboard.press("z")
        expect(page.locator("#row-1")).not_to_have_attribute("data-decided", "")

        divider = page.get_by_role("separator")
        divider.press("ArrowLeft")
        expect(divider).to_have_attribute("aria-valuenow", "46")

        plain = page.locator(".bm__all button")
        expect(plain).to_contain_text("Confirm 27 unflagged")
        plain.press("Enter")
        expect(plain).to_have_count(0)
        expect(page.locator("[data-decided]")).to_have_count(29)
        expect(page.locator(".bm.is-on .bm__name")).to_be_focused()
        expect(page.locator("#live")).to_contain_text("27 rows confirmed. Remaining: ")

        page.locator(".bm__name").first.focus()
        page.keyboard.press("k")
        for _ in range(60):
            name = page.locator(".bm:not([data-decided]) .bm__name").first
            if not name.count():
                break
            name.focus()
            row = name.get_attribute("id").replace("name", "row")
            page.keyboard.press("Enter")
            expect(page.locator(f"#{row}[data-decided]")).to_be_visible()
            expect(page.locator(".bm.is-on")).to_have_count(1)
            expect(page.locator(".bm.is-on .bm__name")).to_be_focused()
        expect(page.locator("[data-left]")).to_have_text(
            "All rows are decided. Approve the report."
        )

        page.locator('[data-box="29"]').dispatch_event("click")
        expect(page.locator("#name-29")).to_be_focused()
        expect(page.locator('.part.is-on[data-part="29"]')).not_to_have_count(0)

    with visit.page(member=nora, scripts=False) as page:
        page.goto(desk)
        for act, state in (("Undo Vitamin B12", "As read"), ("Confirm", "Confirmed")):
            page.locator("#row-29").get_by_role("button", name=act).click()
            expect(page).to_have_url(re.compile(r"\?row=29#name-29$"))
            expect(page.locator("#row-29").get_by_label(state)).to_be_visible()

    rows = {
        row.values["test_name"]: (row.values["value"], row.decision)
        for row in list_review_rows(tenant=alice_tenant, review=waiting)
    }
    assert rows["Potassium"] == ("4.2", "edited")
    assert rows["Lymphocytes"] == ("30", "edited")
    assert {decision for _, decision in rows.values()} == {"edited", "confirmed"}


def test_a_value_is_corrected_and_signed_without_script(
    visit, alice_team, alice_tenant
):
    plain = {
        "value": "83",
        "interpretation": Interpretation.NORMAL,
        "is_above_max_range": False,
    }
    review = make_review(
        user=make_user(tenant=alice_tenant),
        report=make_parsed(
            results=(make_parsed_result(**plain),),
            page_sizes=(PageSize(1, 595.28, 841.89),),
        ),
        content=make_pdf(rows=(("Glucose", "88", "mg/dL", "70 - 99"),)),
    )
    client = Client()
    client.force_login(
        make_member(
            team=alice_team, email="nora@alice.example", roles=(Role.CLINICIAN,)
        )
    )
    confirm(client)
    with visit.page(client=client, scripts=False) as page:
        page.goto(QUEUE)
        page.get_by_role("button", name="claim and review").click()
        page.wait_for_load_state()  # a picture that is still drawn is drawn for one
        page.locator(".desk__page figcaption").get_by_role("button").click()
        page.wait_for_load_state()
        page.locator("#row-0").get_by_role("link", name="Edit").click()
        value = page.get_by_label("Value", exact=True)
        value.fill("")
        page.get_by_role("button", name="Save").click()
        expect(value).to_have_value("")
        value.fill("88")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".bm--edited .val")).to_contain_text("88")
        page.wait_for_load_state()
        page.get_by_role("link", name="Approve…").click()
        page.get_by_role("radio").first.check()
        page.get_by_role("button", name="Sign and approve").click()
        expect(page.get_by_text("Report signed.")).to_be_visible()

    (row,) = list_review_rows(tenant=alice_tenant, review=review)
    assert (row.values["value"], row.decision) == ("88", "edited")
    assert Signature.unscoped.count() == 1
