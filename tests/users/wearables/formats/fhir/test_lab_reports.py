"""Laboratory results of DSTU2, STU3 and R4, as hl7.org's examples write them."""

from __future__ import annotations

import orjson
import pytest

from tests.factories.fhir import concept, diagnostic_report, observation, quantity
from users.wearables.formats.fhir.lab_reports import (
    find_report_time,
    is_laboratory_resource,
    read_lab_report,
    read_lab_result,
)
from users.wearables.formats.fhir.values import load_fhir_json


def result_of(**changes):
    return read_lab_result(load_fhir_json(orjson.dumps(observation(**changes))))


def report_of(report, *observations):
    kept = {f"Observation/{each['id']}": each for each in observations}
    loaded = {key: load_fhir_json(orjson.dumps(each)) for key, each in kept.items()}
    return read_lab_report(load_fhir_json(orjson.dumps(report)), loaded.get)


def test_a_result_of_r4_is_kept_as_it_is():
    assert result_of() == {
        "record_id": "Observation/k",
        "name": "Potassium",
        "loinc": "2823-3",
        "codes": [{"system": "http://loinc.org", "code": "2823-3", "display": ""}],
        "status": "final",
        "collected": "2026-02-03T08:00:00-05:00",
        "type": "quantity",
        "value": "5.6",
        "number": 5.6,
        "comparator": "",
        "unit": "mmol/L",
        "ucum": "mmol/L",
        "absent": "",
        "flag": "H",
        "interpretation": "High",
        "ranges": [
            {
                "text": "3.5 - 5.1",
                "low": 3.5,
                "high": 5.1,
                "unit": "mmol/L",
                "applies_to": "",
            }
        ],
        "note": "",
        "specimen": "",
        "method": "",
        "components": [],
    }


def test_a_result_of_dstu2_is_read_alike():
    found = result_of(
        category={"coding": [{"code": "laboratory"}]},
        interpretation={
            "text": "High",
            "coding": [
                {"system": "http://snomed.info/sct", "code": "166717003"},
                {"system": "http://hl7.org/fhir/v2/0078", "code": "H"},
            ],
        },
        comments="Haemolysed",
        referenceRange=[
            {
                "text": "3.5-5.1",
                "meaning": {"text": "Normal"},
                "age": {"low": {"value": 18, "unit": "yrs"}},
            }
        ],
    )

    assert (found["flag"], found["interpretation"]) == ("H", "High")
    assert found["note"] == "Haemolysed"
    assert found["ranges"] == [
        {
            "text": "3.5-5.1",
            "low": None,
            "high": None,
            "unit": "",
            "applies_to": "Normal, age >= 18 yrs",
        }
    ]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"valueQuantity": quantity(5, "U/L", comparator="<")}, ("<5", None, "U/L")),
        ({"valueQuantity": {"value": 5, "unit": "cells"}}, ("5", 5.0, "cells")),
        ({"valueString": "Trace"}, ("Trace", None, "")),
        ({"valueCodeableConcept": {"text": "Positive"}}, ("Positive", None, "")),
        ({"valueCodeableConcept": concept("", "LA6576-8")}, ("LA6576-8", None, "")),
        ({"valueInteger": 0}, ("0", 0.0, "")),
        ({"valueBoolean": False}, ("false", None, "")),
        (
            {"valueRange": {"low": quantity(2, "/HPF"), "high": quantity(5, "/HPF")}},
            ("2 - 5", None, "/HPF"),
        ),
        (
            {"valueRatio": {"numerator": {"value": 1}, "denominator": {"value": 128}}},
            ("1:128", None, ""),
        ),
        ({"valueQuantity": {"value": "5", "unit": "g"}}, ("", None, "g")),
        ({"valueQuantity": {"value": 1e200, "unit": "g"}}, ("", None, "g")),
        ({"valueSampledData": {"data": "1 2"}}, ("", None, "")),
    ],
)
def test_each_form_of_a_value_is_a_text_and_a_number_where_it_is_one(changes, wanted):
    found = result_of(**{"valueQuantity": None} | changes)

    assert (found["value"], found["number"], found["unit"]) == wanted


def test_digits_are_not_changed():
    content = orjson.dumps(observation()).replace(b'"value":5.6', b'"value":5.60')

    found = read_lab_result(load_fhir_json(content))

    assert (found["value"], found["number"]) == ("5.60", 5.6)


def test_what_is_absent_says_why_and_parts_are_results():
    found = result_of(
        valueQuantity=None,
        dataAbsentReason={"coding": [{"code": "unknown"}]},
        component=[
            {"code": concept("A", "1-8"), "valueQuantity": quantity(1, "g")},
            {"code": concept("B", "2-6"), "component": [{"valueString": "deep"}]},
        ],
    )

    assert (found["value"], found["absent"]) == ("", "unknown")
    parts = [
        (one["name"], one["value"], one["components"]) for one in found["components"]
    ]
    assert parts == [("A", "1", []), ("B", "", [])]


def test_what_was_entered_in_error_has_no_value_and_no_words():
    wrong = observation("k", status="entered-in-error", note=[{"text": "Mixed up"}])

    alone = report_of(wrong)
    in_report = report_of(diagnostic_report("k"), wrong)
    void = report_of(
        diagnostic_report("k", status="entered-in-error", conclusion="Ill"), wrong
    )

    assert (alone["status"], alone["results"]) == ("entered-in-error", [])
    (result,) = in_report["results"]
    assert (result["value"], result["number"], result["note"]) == ("", None, "")
    assert (void["conclusion"], void["results"]) == ("", [])


def test_a_report_has_the_results_that_it_names_directly_or_through_a_panel():
    panel = observation(
        "cbc",
        valueQuantity=None,
        hasMember=[{"reference": "https://fhir.example/r4/Observation/wbc"}],
    )
    old_panel = observation(
        "old",
        valueQuantity=None,
        related=[{"type": "has-member", "target": {"reference": "Observation/k"}}],
    )
    inside = observation("x1", valueString="Grown", valueQuantity=None)
    report = diagnostic_report("cbc", "old", "gone", "cbc")
    report["result"].append({"reference": "#x1"})
    report["contained"] = [inside]

    found = report_of(report, panel, old_panel, observation("wbc"), observation("k"))

    assert [one["record_id"] for one in found["results"]] == [
        "Observation/wbc",
        "Observation/k",
        "DiagnosticReport/panel#x1",
    ]
    assert found["missing_results"] == 1
    assert (found["laboratory"], found["issued"]) == (
        "Riverside Laboratory",
        "2026-02-04T10:00:00Z",
    )
    assert find_report_time(found) == "2026-02-03T12:00:00+00:00"


def test_results_beyond_the_bound_are_counted_as_missing():
    ids = [f"o{number}" for number in range(1002)]

    found = report_of(diagnostic_report(*ids), *map(observation, ids))

    assert (len(found["results"]), found["missing_results"]) == (1000, 2)


@pytest.mark.parametrize(
    ("category", "wanted"),
    [
        ([{"coding": [{"code": "LAB"}]}], True),
        ([{"text": "Lab"}], True),
        ([{"coding": [{"code": "vital-signs"}]}], False),
        ([{"coding": [{"code": "RAD"}]}], False),
        ([{"coding": [{"code": "OUR-OWN"}]}], None),
        (None, None),
        ("nonsense", None),
    ],
)
def test_a_category_says_whether_it_is_of_a_laboratory(category, wanted):
    assert is_laboratory_resource({"category": category}) is wanted


@pytest.mark.parametrize(
    "content",
    [b"[]", b"", b"{", b'{"a": NaN}', b"[" * 100_000, b"\xff"],
)
def test_what_is_no_resource_is_refused(content):
    with pytest.raises(ValueError):
        load_fhir_json(content)


def test_fields_of_another_kind_are_none():
    names = set(observation()) | {"note", "component", "performer", "meta", "method"}
    for name in names - {"resourceType"}:
        for wrong in (7, "x", [], [[7]], {"a": 1}, None, True, "\ud800\0"):
            resource = observation() | {name: wrong}
            report = read_lab_report(resource, {}.get)
            assert orjson.dumps(report)
    assert (
        "\0"
        not in orjson.dumps(
            read_lab_report(observation() | {"status": "a\0b"}, {}.get)
        ).decode()
    )
