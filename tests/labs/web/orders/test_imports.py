from __future__ import annotations

import pytest
from django.urls import reverse

from accounts.states import Role
from labs.models import Order
from labs.states.accounts import LabAccountStatus
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    make_lab_account,
    make_lab_test,
    make_order,
)
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.labs.web.orders.test_order_page import signed_in, url

pytestmark = pytest.mark.django_db


def page_of(tenant):
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse("labs:import_order", kwargs=place)


@pytest.fixture
def panel(alice_tenant):
    return make_lab_test(tenant=alice_tenant)


@pytest.fixture
def entered(alice_tenant, panel):
    make_user(tenant=alice_tenant, client_user_id="mbr_1")
    return {
        **PATIENT,
        **ADDRESS,
        "user": "mbr_1",
        "lab_test": str(panel.pk),
        "sample_id": "Q-100",
        "billing_type": "client_bill",
    }


def test_an_order_is_imported_on_an_account_that_is_being_set_up(
    alice_web, alice_tenant, panel, entered
):
    account = make_lab_account(
        tenant=alice_tenant,
        lab=panel.lab,
        account_name="Clinic",
        status=LabAccountStatus.PENDING,
    )

    reply = alice_web.post(page_of(alice_tenant), entered)

    order = Order.objects.for_tenant(alice_tenant).get()
    assert (reply.status_code, reply["Location"]) == (302, url(order))
    assert order.status == "received.walk_in_test.requisition_bypassed"
    assert (order.lab_account, order.account_reason) == (account, "only_opening")
    assert (order.sample_id, order.patient_details) == ("Q-100", PATIENT)
    assert order.patient_address == {**ADDRESS, "receiver_name": "Ada Example"}
    shown = alice_web.get(url(order))
    assert shown.context["account_reason"] == ("Only account for this lab in setup")
    assert "Lab account: Clinic." in shown.text


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"user": "nobody"}, "user"),
        ({"sample_id": ""}, "sample_id"),
        ({"sample_id": "TAKEN"}, "sample_id"),
        ({"lab_test": ""}, "lab_test"),
        ({"billing_type": "patient_bill"}, "billing_type"),
        ({"billing_type": "commercial_insurance"}, "billing_type"),
        ({"physician_npi": "1"}, "physician_npi"),
        ({"physician_npi": "1234567893"}, "physician_first_name"),
        ({"dob": "tomorrow"}, "dob"),
        ({"comments": "n" * 1001}, "comments"),
    ],
)
def test_what_can_not_be_imported_comes_back_with_its_field(
    alice_web, alice_tenant, panel, entered, change, field
):
    make_lab_account(tenant=alice_tenant, lab=panel.lab)
    taken = make_order(tenant=alice_tenant, lab_test=panel)
    Order.objects.for_tenant(alice_tenant).filter(pk=taken.pk).update(sample_id="TAKEN")
    before = holdings(alice_tenant)

    reply = alice_web.post(page_of(alice_tenant), {**entered, **change})

    assert reply.status_code == 422
    assert field in reply.context["form"].errors
    assert holdings(alice_tenant) == before


def test_a_suspended_account_takes_no_import(alice_web, alice_tenant, panel, entered):
    make_lab_account(
        tenant=alice_tenant, lab=panel.lab, status=LabAccountStatus.SUSPENDED
    )
    before = holdings(alice_tenant)

    reply = alice_web.post(page_of(alice_tenant), entered)

    assert list(reply.context["form"].errors) == ["account"]
    assert holdings(alice_tenant) == before


def test_the_user_may_come_with_the_address(alice_web, alice_tenant):
    page = alice_web.get(f"{page_of(alice_tenant)}?user=mbr_1")

    assert page.context["form"]["user"].value() == "mbr_1"


def test_who_may_only_read_imports_nothing(alice_tenant, entered):
    viewer = signed_in(alice_tenant, Role.VIEWER)

    assert viewer.get(page_of(alice_tenant)).status_code == 403
