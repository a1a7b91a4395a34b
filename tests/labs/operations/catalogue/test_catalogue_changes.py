from __future__ import annotations

from decimal import Decimal

import pytest

from labs.models import CatalogueUpdate, LabTestVersion, Marker, MarkerVersion
from labs.operations.catalogue.import_catalogue import (
    apply_catalogue_update,
    check_catalogue_update,
)
from labs.operations.orders.placing import cancel_order
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_test, make_order
from tests.labs.operations.catalogue.conftest import update, with_changes

RETIRE = ("markers", "12.50,", "12.50,true")


def markers(lab):
    return {one.provider_id: one for one in Marker.objects.filter(lab=lab)}


def stored():
    return [
        list(model.objects.order_by("pk").values())
        for model in (Marker, MarkerVersion, CatalogueUpdate)
    ]


def panel_of(tenant, lab, *codes, price="16.50", **fields):
    held = markers(lab)
    return make_lab_test(
        tenant=tenant,
        lab=lab,
        markers=tuple(held[code] for code in codes),
        price=Decimal(price),
        **fields,
    )


def changes(draft):
    return [
        (one["kind"], one["table"], one["key"], one["fields"]) for one in draft.changes
    ]


def refusal_of(*edits, **options):
    before = stored()
    with pytest.raises(DomainError) as caught:
        update(*edits, **options)
    assert stored() == before
    assert caught.value.code == "lab_catalogue_invalid"
    return caught.value.message


def test_a_difference_has_each_column_before_and_after(north):
    draft = check_catalogue_update(
        contents=with_changes(
            ("markers", "4.00", "5.00"),
            ("markers", "Glucose", "Blood sugar"),
            ("expected_results", "70,99", "70,100"),
        ),
        actor=ACTOR,
    )

    assert changes(draft) == [
        (
            "changed",
            "markers",
            "north G1",
            [["name", "Glucose", "Blood sugar"], ["price", "4.00", "5.00"]],
        ),
        ("changed", "expected_results", "north G1 G1", [["high", "99", "100"]]),
    ]
    assert markers(north)["G1"].name == "Glucose"


def test_a_marker_in_an_open_order_is_not_retired(north, alice_production):
    panel = panel_of(alice_production, north, "G1", "L1")
    order = make_order(tenant=alice_production, lab_test=panel)

    assert refusal_of(RETIRE) == (
        "markers.csv, line 3, column 8 (retired): L1 is in 1 open order:"
        " set is_orderable to false and retire it when the order is done."
    )

    cancel_order(order=order, actor=ACTOR)
    update(RETIRE)
    assert markers(north)["L1"].retired_at is not None


def test_a_panel_loses_a_retired_marker_and_its_price(north, alice_production):
    panel = panel_of(alice_production, north, "G1", "L1")
    own_price = panel_of(alice_production, north, "G1", "L1", price="99.00")

    applied = update(RETIRE)

    for one, price in ((panel, "4.00"), (own_price, "99.00")):
        one.refresh_from_db()
        assert [marker.provider_id for marker in one.markers.all()] == ["G1"]
        assert one.price == Decimal(price)
    assert changes(applied)[1] == (
        "changed",
        "panels",
        f"{alice_production.team.slug} {panel.slug}",
        [["price", "16.50", "4.00"], ["markers", "G1|L1", "G1"]],
    )
    assert LabTestVersion.unscoped.count() == 2


def test_a_price_that_an_update_takes_away_is_unknown(north, alice_production):
    glucose, lipids = Marker.objects.filter(lab=north).order_by("provider_id")
    panel = make_lab_test(
        tenant=alice_production, lab=north, markers=(glucose, lipids), price="16.50"
    )

    with_one = update(("markers", "fast,4.00", "fast,"))
    with_none = update(("markers", "fast,4.00", "fast,"), ("markers", "12.50", ""))

    panel.refresh_from_db()
    fields = [
        [change["fields"] for change in each.changes if change["table"] == "panels"]
        for each in (with_one, with_none)
    ]
    assert fields == [[[["price", "16.50", ""]]], []]
    assert (panel.price, panel.known_price) == (0, None)


def test_a_panel_that_would_be_empty_forbids_it(north, alice_production):
    panel = panel_of(alice_production, north, "L1", name="Fats")

    assert refusal_of(RETIRE) == (
        "markers.csv, line 3, column 8 (retired): panel Fats of"
        f" {alice_production.team.name} would be empty: archive it first."
    )
    panel.refresh_from_db()
    assert panel.markers.count() == 1


def test_a_complete_list_retires_what_it_lacks(north):
    line = "north,Lipids,L1,panel,serum,,12.50,\n"
    result = "north,L1,HDL,HDL,numeric,mg/dL,40,,\n"
    cut = (("markers", line, ""), ("expected_results", result, ""))

    assert changes(update(*cut)) == []
    assert changes(update(*cut, is_complete=True)) == [
        ("retired", "markers", "north L1", [])
    ]
    lipids = markers(north)["L1"]
    assert (lipids.is_orderable, lipids.a_la_carte_enabled) == (False, False)
    assert changes(update()) == [
        (
            "restored",
            "markers",
            "north L1",
            [
                ["a_la_carte_enabled", "false", "true"],
                ["is_orderable", "false", "true"],
                ["retired", "true", "false"],
            ],
        )
    ]


def test_a_complete_list_without_a_marker_of_a_lab_is_refused(north):
    empty = "lab,name,provider_id,type,sample_type\n"
    files = {**with_changes(), "markers": empty.encode()}
    files["expected_results"] = b"name,provider_id,result_type\n"

    with pytest.raises(DomainError) as caught:
        check_catalogue_update(contents=files, actor=ACTOR, is_complete=True)

    assert "has no marker of north" in caught.value.message


def test_a_confirmed_code_stays_where_the_update_has_none(north):
    gone = ("expected_results", "2345-7", "")

    assert changes(check(gone)) == []


def check(*edits):
    return check_catalogue_update(contents=with_changes(*edits), actor=ACTOR)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            ("expected_results", "40,,", "40,,2345-8"),
            "expected_results.csv, line 3, column 9 (loinc_code):"
            " the LOINC code or its check digit is wrong.",
        ),
        (
            ("expected_results", "HDL,numeric,mg/dL", "HDL,numeric,furlong"),
            "expected_results.csv, line 3, column 6 (unit): the unit is unknown.",
        ),
        (
            ("expected_results", "70,99", "99,70"),
            "expected_results.csv, line 2, column 8 (high): high is below low.",
        ),
        (
            ("markers", "Lipids,L1", "Lipids,G1"),
            "markers.csv, line 3, column 3 (provider_id): provider_id is listed twice.",
        ),
        (
            ("markers", "12.50,", "12.50,maybe"),
            "markers.csv, line 3, column 8 (retired): retired is neither true nor",
        ),
    ],
)
def test_a_fault_has_its_line_and_column_and_nothing_is_written(north, edit, said):
    assert said in refusal_of(edit)


def test_an_update_checked_before_another_was_applied_is_refused(north):
    first = check(("markers", "4.00", "5.00"))
    second = check(("markers", "4.00", "6.00"))
    apply_catalogue_update(update_id=first.pk, actor=ACTOR)

    with pytest.raises(DomainError) as caught:
        apply_catalogue_update(update_id=second.pk, actor=ACTOR)
    assert caught.value.code == "catalogue_update_outdated"
    with pytest.raises(DomainError) as caught:
        apply_catalogue_update(update_id=first.pk, actor=ACTOR)
    assert caught.value.code == "catalogue_update_applied"
    assert markers(north)["G1"].price == Decimal("5.00")
