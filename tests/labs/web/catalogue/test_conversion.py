from __future__ import annotations

from decimal import Decimal
from http import HTTPStatus

import pytest

from tests.factories.labs import make_lab, make_lab_test
from tests.labs.api.v3.test_compendium import make_test

pytestmark = pytest.mark.django_db


def page_of(panel):
    return f"/t/alice-health/sandbox/lab-tests/{panel.pk}/convert/"


def test_the_page_shows_counterparts_changes_and_what_has_none(alice_web, alice_tenant):
    source, target = (
        make_lab("one", tenant=alice_tenant),
        make_lab("two", tenant=alice_tenant, name="Two Lab"),
    )
    glucose = make_test(source, "Glucose", "S1", "2345-7", price=Decimal("4.00"))
    other = make_test(source, "Zorblin", "S2", "3094-0")
    theirs = make_test(target, "Blood sugar", "T1", "2345-7", price=Decimal("9.00"))
    panel = make_lab_test(tenant=alice_tenant, lab=source, markers=(glucose, other))

    choose = alice_web.get(page_of(panel))
    page = alice_web.get(page_of(panel), {"lab": "two"})

    assert choose.context["found"] is None
    text = " ".join(page.content.decode().split())
    assert "Blood sugar" in text
    assert "Same results, 99%" in text
    assert "Price: $4.00 → $9.00" in text
    assert "No counterpart" in text
    assert "counterpart</dt><dd>$4.00 → $9.00</dd>" in text
    assert f'name="marker_ids" value="{theirs.pk}"' in text
    made = alice_web.post(
        "/t/alice-health/sandbox/lab-tests/new/",
        {"lab": "two", "marker_ids": [theirs.pk], "name": panel.name},
    )
    assert made.status_code == HTTPStatus.OK
    assert [one.pk for one in made.context["markers"]] == [theirs.pk]


def test_a_panel_of_another_team_is_not_found(alice_web, charlie_tenant):
    theirs = make_lab_test(tenant=charlie_tenant)

    assert alice_web.get(page_of(theirs)).status_code == HTTPStatus.NOT_FOUND
