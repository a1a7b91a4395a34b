"""Names over two lines, told from headings by the whole table."""

from __future__ import annotations

from tests.reports.parser.drawing import Ink, read, row

AT = (20, 200, 250, 330)
TITLES = row(AT, "Test", "Result", "Unit", "Range")


def names(report):
    return [result.test_name for result in report.results]


def test_names_that_go_on_below_are_read_whole_where_most_do(tmp_path):
    lines = [
        TITLES,
        row(AT, "Transferrin", "31", "%", "20 - 50"),
        row(AT, "Saturation"),
        row(AT, "HDL", "1.4", "mmol/L", "1.0 - 2.0"),
        row(AT, "Cholesterol"),
        row(AT, "Iron", "15", "µmol/L", "10 - 30"),
        row(AT, "Urea", "14", "mg/dL", "7 - 20"),
        row(AT, "Nitrogen"),
        row(AT, "Troponin", "4", "ng/L", "0 - 14"),
        row(AT, "T us"),
    ]

    found = names(read(tmp_path, lines))

    assert found == [
        "Transferrin Saturation",
        "HDL Cholesterol",
        "Iron",
        "Urea Nitrogen",
        "Troponin T us",
    ]


def test_a_qualifier_alone_below_a_name_is_of_it(tmp_path):
    lines = [
        TITLES,
        row(AT, "Hemoglobin", "13.5", "g/dL", "12 - 16"),
        row(AT, "Platelet", "250", "10^3/µL", "150 - 450"),
        row(AT, "Count"),
        row(AT, "Glucose", "95", "mg/dL", "70 - 110"),
    ]

    found = names(read(tmp_path, lines))

    assert found == ["Hemoglobin", "Platelet Count", "Glucose"]


def test_headings_between_rows_are_of_no_name(tmp_path):
    lines = [
        TITLES,
        row(AT, "Hemoglobin", "13.5", "g/dL", "12 - 16"),
        row(AT, "Lipids"),
        row(AT, "Triglycerides", "1.2", "mmol/L", "0 - 1.7"),
        [Ink(20, "Minerals", bold=True)],
        row(AT, "Calcium", "2.3", "mmol/L", "2.1 - 2.6"),
        row(AT, "VITAMINS"),
        row(AT, "Ferritin", "95", "µg/L", "30 - 300"),
    ]

    found = names(read(tmp_path, lines))

    assert found == ["Hemoglobin", "Triglycerides", "Calcium", "Ferritin"]
