from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from django.utils import timezone

from labs.models import Order
from tests.audit import audited
from tests.factories.labs import (
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
)
from tests.factories.users import make_user
from tests.labs.web.order_wizard.test_views import PATIENT, Wizard

pytestmark = pytest.mark.django_db

MEMBER = {"payor_code": "SBX001", "insurance_id": "M-1", "relationship": "Self"}
INSURED = {"billing_type": "commercial_insurance", "icd_1": "E119", **MEMBER}
DOCTOR = {
    "physician_first_name": "Jane",
    "physician_last_name": "Sample",
    "physician_npi": "1234567893",
}


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_1")


@pytest.fixture
def panel(alice_tenant):
    return make_lab_test(tenant=alice_tenant, lab=make_lab(name="Northgate"))


def reads(tenant):
    return [line[1:] for line in audited(tenant) if line[0] == "read"]


def test_the_last_order_fills_patient_and_insurance_and_the_profile_wins_if_chosen(
    alice_api, alice_web, alice_tenant, user, panel
):
    first = Wizard(alice_tenant, alice_web)
    first.to_review(user, panel, **INSURED, **DOCTOR)
    first.send(go="place")
    order = Order.objects.for_tenant(alice_tenant).get()

    again = Wizard(alice_tenant, alice_web)
    again.to_patient(user)
    page = again.open()
    assert page.context["taken"].order == order
    assert page.context["insured"].order == order
    assert page.context["taken"].newer == ()
    assert {name: page.context["form"][name].value() for name in PATIENT} == PATIENT
    assert reads(alice_tenant)[-1] == ("order_patient", str(order.pk))

    with time_machine.travel(timezone.now() + timedelta(hours=1), tick=False):
        address = {"first_line": "2 Other Road", "city": "Phoenix", "state": "AZ"}
        info = {
            **{name: PATIENT[name] for name in list(PATIENT)[:6]},
            "address": {**address, "zip": "85004", "country": "US"},
        }
        alice_api.patch(f"/v2/user/{user.uuid}/info", info)
        page = again.open()
        assert page.context["taken"].newer == ("address",)
        assert page.context["form"]["first_line"].value() == "1 Sample Street"
        again.send(go="profile")
        chosen = again.open().context["form"]
        assert chosen["first_line"].value() == "2 Other Road"

        insured = again.open().context["insurance"]
        entered = {name: insured[name].value() for name in MEMBER}
        again.next(**PATIENT, **entered)
        tests = again.open()
        again.send(add=f"panel:{panel.pk}")
        again.next()
        billing = again.open()
    assert entered == MEMBER
    assert tests.context["entry"].lab == panel.lab
    assert tests.context["panels"][0] == panel
    assert "Last order" in tests.content.decode()
    form = billing.context["form"]
    assert billing.context["taken"].order == order
    assert form["billing_type"].value() == "commercial_insurance"
    # A diagnosis is the reason of one order.
    assert form["icd_1"].value() is None
    assert billing.context["form"]["physician"].value() == "1234567893"
    assert reads(alice_tenant)[-1] == ("order_patient", str(order.pk))


def test_the_basket_adds_up_stored_prices_alone(alice_web, alice_tenant, user, panel):
    wizard = Wizard(alice_tenant, alice_web)
    priced = make_marker(
        lab=panel.lab, price=Decimal("16.00"), fasting=True, common_tat_days=2
    )
    unpriced = make_marker(lab=panel.lab, price=None)
    wizard.to_tests(user, panel.lab)
    assert wizard.open().context["basket"].lines == ()

    wizard.send(add=f"marker:{priced.pk}")
    basket = wizard.open().context["basket"]
    assert (basket.total, basket.priced) == (Decimal("16.00"), 1)
    assert basket.fasting == (priced.name,)
    assert basket.days == 2

    wizard.send(add=f"marker:{unpriced.pk}")
    page = wizard.open()
    basket = page.context["basket"]
    assert (basket.total, basket.priced, len(basket.lines)) == (None, 1, 2)
    assert "Known for 1 of 2" in page.content.decode()
    part = alice_web.post(
        wizard.here,
        {"remove": f"marker:{unpriced.pk}"},
        headers={"HX-Request": "true"},
    )
    assert part.content.decode().count('aria-labelledby="h-basket"') == 1


def test_the_only_open_account_is_chosen_and_the_review_shows_what_prints(
    alice_web, alice_tenant, user, panel
):
    make_lab_account(tenant=alice_tenant, lab=panel.lab)
    wizard = Wizard(alice_tenant, alice_web)
    wizard.to_lab(user, panel)
    options = wizard.open().context["options"]
    assert options[0].is_chosen
    assert options[0].name
    assert [option.is_open for option in options] == sorted(
        (option.is_open for option in options), reverse=True
    )

    other = Wizard(alice_tenant, alice_web)
    other.to_review(user, panel)
    page = other.open()
    printed = page.context["printed_tests"]
    assert [marker.pk for marker, _tube in printed] == [
        marker.pk for marker in panel.markers.all()
    ]
    assert "As it will print" in page.content.decode()
