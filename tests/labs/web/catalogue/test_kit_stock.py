from __future__ import annotations

from http import HTTPStatus

import pytest

from accounts.states import Role
from labs.models import KitStock, LabTest
from tests.factories.accounts import make_member
from tests.factories.labs import make_kit_stock, make_lab_test

PAGE = "/t/alice-health/sandbox/kit-stock/"

pytestmark = pytest.mark.django_db


@pytest.fixture
def kit(alice_tenant):
    LabTest.objects.for_tenant(alice_tenant).delete()
    return make_lab_test(tenant=alice_tenant, name="Heart", method="testkit")


def entered(panel, count, warn_below, seen=""):
    prefix = panel.pk.hex
    return {
        f"{prefix}-count": count,
        f"{prefix}-warn_below": warn_below,
        f"{prefix}-seen": seen,
    }


def stocks(tenant):
    rows = KitStock.objects.for_tenant(tenant)
    return list(rows.values_list("lab_test__name", "count", "warn_below"))


def test_the_stock_is_entered_and_shown(alice_web, kit, alice_tenant):
    walk_in = make_lab_test(tenant=alice_tenant, name="Walk-in")

    before = alice_web.get(PAGE)
    saved = alice_web.post(PAGE, entered(kit, "40", "100"))
    after = alice_web.get(PAGE)

    assert [form.level.panel for form in before.context["sheet"]] == [kit]
    assert walk_in.name not in before.content.decode()
    assert (saved.status_code, saved["Location"]) == (HTTPStatus.FOUND, PAGE)
    assert stocks(alice_tenant) == [("Heart", 40, 100)]
    text = after.content.decode()
    assert 'value="40"' in text
    assert "Low" in text


def test_a_panel_left_empty_is_left_alone(alice_web, kit, alice_tenant):
    alice_web.post(PAGE, entered(kit, "", ""))

    assert stocks(alice_tenant) == []


@pytest.mark.parametrize(
    ("count", "warn_below", "field"),
    [("-1", "5", "count"), ("many", "5", "count"), ("5", "-1", "warn_below")],
)
def test_a_wrong_number_stays_in_the_form(
    alice_web, kit, alice_tenant, count, warn_below, field
):
    answer = alice_web.post(PAGE, entered(kit, count, warn_below))

    (form,) = answer.context["sheet"]
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(form.errors) == [field]
    assert stocks(alice_tenant) == []


def test_a_limit_without_a_number_is_refused(alice_web, kit, alice_tenant):
    answer = alice_web.post(PAGE, entered(kit, "", "5"))

    assert answer.context["sheet"][0].errors == {
        "count": ["Enter the number of kits you have."]
    }
    assert stocks(alice_tenant) == []


def test_a_number_that_changed_meanwhile_is_not_overwritten(
    alice_web, kit, alice_tenant
):
    make_kit_stock(panel=kit, count=39)

    alice_web.post(PAGE, entered(kit, "120", "10", seen="40"))
    page = alice_web.get(PAGE)

    assert "The stock of Heart has changed meanwhile." in page.content.decode()
    assert stocks(alice_tenant) == [("Heart", 39, 10)]


def test_who_may_not_change_the_catalogue_reads_it(client, alice_team, kit):
    client.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))

    page = client.get(PAGE)
    answer = client.post(PAGE, entered(kit, "40", "100"))

    assert "Save stock" not in page.content.decode()
    assert answer.status_code == HTTPStatus.FORBIDDEN
    assert stocks(kit.tenant) == []


def test_a_stranger_finds_nothing(charlie_web, kit):
    answer = charlie_web.post(PAGE, entered(kit, "40", "100"))

    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert stocks(kit.tenant) == []


def test_without_kit_panels_the_page_says_so(alice_web, alice_tenant):
    LabTest.objects.for_tenant(alice_tenant).delete()

    assert "No test uses a kit" in alice_web.get(PAGE).content.decode()
