"""Tables without usable titles, whose columns stand in line."""

from __future__ import annotations

from tests.reports.parser.drawing import read, row


def results(report):
    return [(r.test_name, r.value, r.units, r.reference_range) for r in report.results]


def test_ranges_before_values_under_titles_of_no_known_words_are_no_results(tmp_path):
    at = (40, 170, 260, 350)
    lines = [
        row(at, "What", "Healthy span", "Dimension", "Found"),
        row(at, "Sodium", "135 - 145", "mmol/L", "139"),
        row(at, "Potassium", "3.5 - 5.1", "mmol/L", "5.6"),
        row(at, "Calcium", "2.15 - 2.55", "mmol/L", "2.31"),
        row(at, "Albumin", "35 - 50", "g/L", "41"),
    ]

    assert results(read(tmp_path, lines)) == [
        ("Sodium", "139", "mmol/L", "135 - 145"),
        ("Potassium", "5.6", "mmol/L", "3.5 - 5.1"),
        ("Calcium", "2.31", "mmol/L", "2.15 - 2.55"),
        ("Albumin", "41", "g/L", "35 - 50"),
    ]


def test_numbers_of_a_chart_in_line_are_not_taken_for_results(tmp_path):
    at = (40, 170, 230, 300, 390)
    lines = [
        row(at, "Sodium", "0", "139", "mmol/L", "135 - 145"),
        row(at, "Potassium", "10", "5.6", "mmol/L", "3.5 - 5.1"),
        row(at, "Calcium", "20", "2.31", "mmol/L", "2.15 - 2.55"),
        row(at, "Albumin", "30", "41", "g/L", "35 - 50"),
    ]

    assert [r.value for r in read(tmp_path, lines).results] == [
        "139",
        "5.6",
        "2.31",
        "41",
    ]


def test_a_list_of_limits_under_known_names_gives_no_row(tmp_path):
    at = (40, 170, 260)
    lines = [
        row((40, 170, 230, 300), "Test", "Result", "Unit", "Range"),
        row((40, 170, 230, 300), "Sodium", "139", "mmol/L", "135 - 145"),
        "Interpretation:",
        row(at, "LDL cholesterol", "< 100 mg/dL", "optimal"),
        row(at, "HDL cholesterol", "> 60 mg/dL", "protective"),
        row(at, "Triglycerides", "< 150 mg/dL", "desirable"),
    ]

    assert [r.test_name for r in read(tmp_path, lines).results] == ["Sodium"]


def test_words_of_one_name_stay_together_and_codes_in_front_stay_out(tmp_path):
    at = (40, 80, 230, 300, 390)
    lines = [
        row(at, "01A", "Bilirubin  Indirect", "0.8", "mg/dL", "0.1 - 1.0"),
        row(at, "02B", "HDL  Cholesterol", "46", "mg/dL", "40 - 60"),
        row(at, "03C", "Urea  Nitrogen Blood", "9.3", "mg/dL", "6 - 20"),
        row(at, "04D", "Sodium", "139", "mmol/L", "135 - 145"),
    ]

    assert [r.test_name for r in read(tmp_path, lines).results] == [
        "Bilirubin Indirect",
        "HDL Cholesterol",
        "Urea Nitrogen Blood",
        "Sodium",
    ]
