from __future__ import annotations

import pytest
from playwright.sync_api import expect

from accounts.states import Role
from labs.models import CriticalAlert
from tests.browser.conftest import complaints
from tests.factories.accounts import make_member
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import take
from tests.factories.labs import make_lab
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.texts import make_text_provider
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_critical_result_is_found_read_and_acknowledged(
    visit, alice_team, alice_tenant
):
    nora = make_member(
        team=alice_team, email="nora@alice.example", roles=(Role.CLINICIAN,)
    )
    user = make_user(tenant=alice_tenant, client_user_id="mbr_dana")
    for text, flag in (("5.9", "H"), ("7.1", "HH")):
        order = make_order_awaiting_results(tenant=alice_tenant, user=user)
        potassium = make_reported_result(
            "Potassium", text, unit="mmol/L", reference_range="3.5-5.1", flag=flag
        )
        make_results(order=order, results=(potassium, make_reported_result()))

    with visit.page(member=nora) as page:
        page.goto("/t/alice-health/sandbox/")
        page.get_by_role("link", name="Critical results").first.click()
        row = page.locator("#critical tbody tr")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("Potassium 7.1 mmol/L")

        row.get_by_role("link", name="Acknowledge").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Action taken").fill("Called the patient in")
        dialog.get_by_label("By phone").check()
        dialog.get_by_label("Who was informed").fill("Dr Whitfield")
        dialog.get_by_role("button", name="Acknowledge").click()
        expect(dialog.locator(".err")).to_have_count(1)
        assert complaints(page, "#d-form") == []
        dialog.get_by_label("They read the result back").check()
        dialog.get_by_role("button", name="Acknowledge").click()

        expect(page.locator("h1")).to_contain_text("Results of")
        expect(
            page.get_by_text("Critical result acknowledged", exact=True)
        ).to_be_visible()
        expect(
            page.get_by_role("img", name="7.1 mmol/L, reference 3.5")
        ).to_be_visible()
        assert complaints(page) == []

    kept = CriticalAlert.objects.for_tenant(alice_tenant).get()
    assert (kept.notified_person, kept.was_read_back) == ("Dr Whitfield", True)


def test_a_critical_result_without_an_order_is_acknowledged_from_its_report(
    visit, alice_team, alice_tenant
):
    nora = make_member(
        team=alice_team,
        email="nora@alice.example",
        roles=(Role.CLINICIAN, Role.LAB_STAFF),
    )
    content = make_oru(make_test(obx("412", flag="HH"), placer="NOBODYS"))
    take(alice_tenant, content, lab=make_lab())

    with visit.page(member=nora) as page:
        page.goto("/t/alice-health/sandbox/critical/")
        row = page.locator("#critical tbody tr")
        expect(row).to_contain_text("Glucose 412 mg/dL")
        assert complaints(page) == []
        row.locator("td a").first.click()
        expect(page.locator("h1")).to_contain_text("Lab report")
        assert complaints(page) == []
        page.get_by_role("link", name="Reject report").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("A critical result is not acknowledged.")
        assert complaints(page, "#d-form") == []
        dialog.get_by_role("link", name="Acknowledge it first").click()
        dialog.get_by_label("Action taken").fill("Called the laboratory")
        dialog.get_by_label("I am the treating clinician").check()
        assert complaints(page, "#d-form") == []
        dialog.get_by_role("button", name="Acknowledge").click()
        expect(page.locator("#critical")).to_contain_text("Called the laboratory")
        assert complaints(page) == []


def test_the_account_of_texts_is_drawn_in_every_look(visit, alice, alice_tenant):
    with visit.page(member=alice) as page:
        page.goto("/t/alice-health/sandbox/settings/texts/")
        assert complaints(page) == []
        make_text_provider(tenant=alice_tenant)
        page.reload()
        expect(page.get_by_role("button", name="Check account now")).to_be_visible()
        assert complaints(page) == []
