from __future__ import annotations

import pytest

from labs.gateways.results import ReportedGap
from labs.models import Marker
from labs.operations.results.rows import (
    build_missing_result_row,
    build_result_row,
    find_orderable_markers,
    list_unreported_results,
)
from tests.factories.labs import make_lab, make_lab_test, make_marker, make_order
from tests.factories.results import (
    REPORTED_AT,
    delivery,
    make_expected_result,
    make_reported_result,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def lipids(alice_tenant):
    """A marker with two expected results."""
    lab = make_lab()
    marker = make_marker(lab=lab, name="Lipids", slug="lipids", provider_id="7600")
    make_expected_result(marker=marker, name="LDL", slug="ldl", loinc_code="13457-7")
    make_expected_result(marker=marker, name="HDL", slug="hdl", loinc_code="2085-9")
    return marker


@pytest.fixture
def sodium(lipids):
    marker = make_marker(
        lab=lipids.lab, name="Sodium", slug="sodium", provider_id="836"
    )
    make_expected_result(marker=marker, name="Sodium", provider_id="836")
    return marker


@pytest.fixture
def ordered(alice_tenant, lipids, sodium):
    panel = make_lab_test(tenant=alice_tenant, lab=lipids.lab, markers=(lipids, sodium))
    return make_order(tenant=alice_tenant, lab_test=panel)


def read(order, one):
    return build_result_row(
        one, find_orderable_markers(order=order, delivery=delivery(one)), REPORTED_AT
    )


def sources(row):
    return [source["name"] for source in row.source_markers]


@pytest.mark.parametrize(
    ("fields", "markers", "slug"),
    [
        ({"provider_id": "7600-01"}, ["Lipids"], "ldl"),
        ({"provider_id": "836"}, ["Sodium"], "sodium-result-1"),
        ({"provider_id": "XX", "loinc": "2085-9"}, ["Lipids"], "hdl"),
        ({"name": "HDL", "provider_id": ""}, ["Lipids"], "hdl"),
        ({"name": "Lp(a)", "ordered_code": "7600"}, ["Lipids"], "lpa"),
        ({"name": "Zinc"}, ["Lipids", "Sodium"], "zinc"),
    ],
)
def test_a_result_names_the_marker_it_was_ordered_by(ordered, fields, markers, slug):
    row = read(ordered, make_reported_result(**{"provider_id": "?", **fields}))

    assert sources(row) == markers
    assert row.slug == slug


def test_a_reflex_test_names_the_marker_its_lab_added(ordered):
    make_marker(lab=ordered.lab, name="Free T4", provider_id="866")

    row = read(ordered, make_reported_result(ordered_code="866"))

    assert sources(row) == ["Free T4"]
    assert set(row.source_markers[0]) == {"marker_id", "name", "slug", "provider_id"}


def test_a_marker_of_another_lab_is_not_named(ordered):
    make_marker(lab=make_lab(), name="Elsewhere", provider_id="866")

    assert sources(read(ordered, make_reported_result(ordered_code="866"))) == [
        "Lipids",
        "Sodium",
    ]


def test_codes_that_the_lab_left_out_are_those_of_the_catalogue(ordered):
    row = read(ordered, make_reported_result("LDL", provider_id=""))

    assert (row.provider_id, row.loinc, row.loinc_slug) == ("7600-01", "13457-7", "ldl")


def test_the_labs_own_loinc_code_stands(ordered):
    other = read(ordered, make_reported_result(provider_id="7600-01", loinc="2089-1"))
    wrong = read(ordered, make_reported_result(provider_id="?", loinc="no code"))

    assert (other.loinc, other.loinc_slug) == ("2089-1", "")
    assert (wrong.loinc, wrong.loinc_slug) == ("", "")


@pytest.mark.parametrize(
    ("fields", "interpretation"),
    [
        ({"text": "85"}, "normal"),
        ({"text": "100"}, "abnormal"),
        ({"text": "85", "flag": "H"}, "abnormal"),
        ({"text": "100", "flag": "N"}, "abnormal"),
        ({"text": "300", "flag": "HH"}, "critical"),
        ({"text": "300", "reference_range": ""}, ""),
        ({"text": "300", "reference_range": "", "flag": "N"}, "normal"),
        ({"text": "<70"}, ""),
        ({"text": "<65"}, "abnormal"),
        ({"text": "NEGATIVE", "reference_range": "Negative"}, "normal"),
        ({"text": "POSITIVE", "reference_range": "NEGATIVE"}, "abnormal"),
        ({"text": "TRACE", "reference_range": "NEGATIVE", "flag": "N"}, "normal"),
        ({"text": "See note", "reference_range": "NEGATIVE"}, ""),
        ({"text": "POSITIVE", "reference_range": "", "flag": "AA"}, "critical"),
    ],
)
def test_a_result_is_interpreted_by_flag_and_range(ordered, fields, interpretation):
    assert (
        read(ordered, make_reported_result(**fields)).interpretation == interpretation
    )


def test_a_row_keeps_range_bounds_and_the_labs_own_flag(ordered):
    row = read(
        ordered, make_reported_result(text="101.5", flag="H", reference_range=" < 99 ")
    )

    assert (row.type, row.result, row.value) == ("numeric", "101.5", 101.5)
    assert (row.reference_range, row.source_interpretation) == ("< 99", "H")
    assert (row.min_range_value, row.max_range_value) == (None, 99.0)
    assert (row.is_above_max_range, row.is_below_min_range) == (True, False)


def test_words_that_are_too_long_for_a_lab_are_cut(ordered):
    row = read(
        ordered, make_reported_result("n" * 300, unit="u" * 60, provider_id="p" * 60)
    )

    assert [len(text) for text in (row.name, row.unit, row.provider_id)] == [
        200,
        50,
        50,
    ]


def test_a_required_result_that_nobody_spoke_of_is_missing(ordered, lipids):
    Marker.objects.get(pk=lipids.pk).expected_results.filter(slug="hdl").update(
        required=False
    )
    orderables = find_orderable_markers(order=ordered, delivery=delivery())
    row = build_result_row(
        make_reported_result(provider_id="836"), orderables, REPORTED_AT
    )

    missing = list_unreported_results(orderables, [row], [])

    assert [(one.slug, one.failure_type) for one in missing] == [
        ("ldl", "unknown_failure")
    ]
    assert sources(missing[0]) == ["Lipids"]


def test_what_the_lab_called_missing_is_not_told_twice(ordered):
    orderables = find_orderable_markers(order=ordered, delivery=delivery())
    row = build_result_row(
        make_reported_result(provider_id="836"), orderables, REPORTED_AT
    )
    gaps = [
        build_missing_result_row(ReportedGap("LDL", loinc="13457-7"), orderables),
        build_missing_result_row(ReportedGap("HDL", provider_id="7600-02"), orderables),
    ]

    assert list_unreported_results(orderables, [row], gaps) == []


def test_nothing_is_missing_of_a_marker_that_gave_results_nobody_knows(ordered):
    orderables = find_orderable_markers(order=ordered, delivery=delivery())
    rows = [
        build_result_row(one, orderables, REPORTED_AT)
        for one in (
            make_reported_result("Lp(a)", ordered_code="7600"),
            make_reported_result(provider_id="836"),
        )
    ]

    assert list_unreported_results(orderables, rows, []) == []
