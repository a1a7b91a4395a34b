"""An annotation is written and corrected by keyboard alone, and without script."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import complaints, wait_until_painted
from tests.factories.users import make_user
from users.queries.data.annotations import list_annotations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def stored(user):
    return [
        (each.kind, each.first_day.isoformat(), each.last_day.isoformat(), each.text)
        for each in list_annotations(user=user)
    ]


def reach(page, field):
    """Press Tab until the field has the focus; a date has three places and a button."""
    for _ in range(6):
        page.keyboard.press("Tab")
        if field.evaluate("e => e.contains(document.activeElement)"):
            return
    expect(field).to_be_focused()


def test_an_annotation_is_written_and_corrected_by_keyboard_and_without_script(
    visit, alice, alice_tenant
):
    user = make_user(tenant=alice_tenant)
    address = f"/t/alice-health/sandbox/users/{user.uuid}/annotations/"

    with visit.page(member=alice) as page:
        page.goto(address)
        wait_until_painted(page)
        page.get_by_role("link", name="Add annotation").focus()
        page.keyboard.press("Enter")
        form = page.get_by_role("dialog", name="Add annotation")
        expect(form.get_by_label("Kind")).to_be_focused()
        assert complaints(page, "#d-form") == []
        page.keyboard.press("d")  # the one kind that begins so: a dose
        reach(page, form.get_by_label("First day"))
        page.keyboard.type("06012026")
        reach(page, form.get_by_label("Last day (optional)"))
        page.keyboard.type("05302026")
        reach(page, form.get_by_label("What happened"))
        page.keyboard.type("100 mg")
        page.keyboard.press("Enter")
        # What was entered stays, and its fault stands at the field in focus.
        expect(form.get_by_label("Last day (optional)")).to_be_focused()
        expect(form.get_by_label("What happened")).to_have_value("100 mg")
        assert stored(user) == []
        page.keyboard.type("06032026")
        page.keyboard.press("Enter")
        expect(page.get_by_role("cell", name="100 mg")).to_be_visible()
    assert stored(user) == [("dose", "2026-06-01", "2026-06-03", "100 mg")]

    with visit.page(member=alice, scripts=False) as page:
        page.goto(address)
        page.get_by_role("link", name="Edit").click()
        page.get_by_label("What happened").fill(" ")
        page.get_by_role("button", name="Save annotation").click()
        expect(page.get_by_label("First day")).to_have_value("2026-06-01")
        page.get_by_label("What happened").fill("150 mg")
        page.get_by_role("button", name="Save annotation").click()
        expect(page.get_by_role("cell", name="150 mg")).to_be_visible()
    assert stored(user) == [("dose", "2026-06-01", "2026-06-03", "150 mg")]
