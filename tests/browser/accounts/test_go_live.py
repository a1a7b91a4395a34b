from __future__ import annotations

import pytest
from playwright.sync_api import expect

from labs.models import KitStock, LabTest
from tests.browser.conftest import PHONE, WIDE, assert_sound, complaints
from tests.factories.labs import make_lab, make_lab_account, make_lab_test

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLACE = "/t/alice-health/production"


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
def test_an_owner_works_through_the_checklist(
    visit, alice, alice_production, settings, scripts, size
):
    settings.LAB_GATEWAY = ""
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    LabTest.objects.for_tenant(alice_production).delete()
    lab = make_lab(name="Northgate")
    make_lab_account(tenant=alice_production, lab=lab)
    make_lab_test(tenant=alice_production, lab=lab, name="Heart", method="testkit")
    with visit.page(member=alice, scripts=scripts, size=size) as page:
        page.goto(f"{PLACE}/")
        page.get_by_role("link", name="Open checklist").click()
        main = page.get_by_role("main")
        expect(main.get_by_text("8 of 12 open")).to_be_visible()
        # What refuses calls is open from the start, all else at a click.
        expect(main.get_by_text("Orders are refused.")).to_be_visible()
        main.locator("summary").filter(has_text="Mail").click()
        main.get_by_role("button", name="Check again Mail").click()
        expect(main.get_by_text("Checked again.")).to_be_visible()
        expect(main.get_by_text("7 of 12 open")).to_be_visible()

        main.locator("summary").filter(has_text="Kit stock").click()
        main.get_by_role("link", name="Open kit stock Kit stock").click()
        page.get_by_label("Kits in stock").fill("40")
        page.get_by_label("Warn below").fill("100")
        page.get_by_role("button", name="Save stock").click()
        expect(page.get_by_text("Kit stock saved.")).to_be_visible()
        page.goto(f"{PLACE}/settings/go-live/")
        expect(main.get_by_text("Few kits are left: Heart.")).to_be_visible()
        if scripts:
            assert_sound(page)
    stock = KitStock.objects.for_tenant(alice_production).get()
    assert (stock.count, stock.warn_below) == (40, 100)


@pytest.mark.parametrize("path", ["settings/go-live/", "kit-stock/", ""])
def test_what_production_needs_is_sound_in_every_look(
    visit, alice, alice_production, path
):
    make_lab_test(tenant=alice_production, method="testkit")
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/{path}")
        assert complaints(page) == []
