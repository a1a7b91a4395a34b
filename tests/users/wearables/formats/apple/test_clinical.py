"""Laboratory results of an Apple archive, of nobody."""

from __future__ import annotations

from tests.factories.fhir import (
    apple_clinical_archive,
    diagnostic_report,
    observation,
)
from tests.users.wearables.formats.reading import read

VITALS = [{"coding": [{"code": "vital-signs"}]}]


def test_lab_results_are_kept_and_other_records_counted_by_kind(tmp_path):
    resources = (
        diagnostic_report("k", "na"),
        observation("k"),
        observation("alone"),
        observation("alone"),
        observation("bp", category=VITALS),
        {"resourceType": "Immunization", "id": "i"},
        diagnostic_report(id="ct", category=[{"coding": [{"code": "RAD"}]}]),
        observation("undated", effectiveDateTime="soon"),
        b"{",
        b"",
    )
    kinds = ("DiagnosticReport", "Observation", "Observation", *["LabResultRecord"] * 2)

    found = read(
        tmp_path,
        apple_clinical_archive(
            *resources, kinds=(*kinds, "ImmunizationRecord"), received="long ago"
        ),
    )

    reports = found.of("outside_lab_report")
    assert [
        (each["record_id"], [one["record_id"] for one in each["results"]])
        for each in reports
    ] == [
        ("Observation/alone", ["Observation/alone"]),
        ("DiagnosticReport/panel", ["Observation/k"]),
    ]
    assert {each["source"] for each in reports} == {"Riverside Clinic"}
    assert (reports[1]["missing_results"], reports[1]["received"]) == (1, "")
    assert found.staged.drops == {
        "same_moment": {"LabResultRecord": 1},
        "clinical_record": {
            "Observation vital-signs": 1,
            "ImmunizationRecord": 1,
            "DiagnosticReport RAD": 1,
        },
        "datetime_parsing": {"LabResultRecord": 1},
        "bad_file": {"clinical-records/#.json": 2},
    }
    assert (found.staged.rows_read, found.staged.rows_dropped) == (10, 7)
    assert found.staged.plan["outside_lab_report"] == {
        "rows": 2,
        "first": "2026-02-03T12:00:00+00:00",
        "last": "2026-02-03T13:00:00+00:00",
    }


def test_results_that_are_in_a_circle_are_counted(tmp_path):
    one, two = (
        observation(own, hasMember=[{"reference": f"Observation/{other}"}])
        for own, other in (("a", "b"), ("b", "a"))
    )

    found = read(tmp_path, apple_clinical_archive(one, two, observation("c")))

    assert [each["record_id"] for each in found.of("outside_lab_report")] == [
        "Observation/c"
    ]
    assert found.staged.drops == {"part_of_another": {"LabResultRecord": 2}}
