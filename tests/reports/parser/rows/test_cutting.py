"""What columns hold where marks, levels and goals stand beside the results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.parser.drawing import Ink, printed, read, row

XS = (40, 230, 300, 370)


@pytest.mark.parametrize("mark", [">>", "<<", "++", "--", "*", "↑"])
def test_a_mark_of_signs_left_of_the_value_is_its_flag(
    tmp_path: Path, mark: str
) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Examen", "Résultat", "Unité", "Valeurs usuelles"),
            row(XS, "Sodium", "140", "mmol/L", "135 - 145"),
            [(218, mark if mark != "↑" else "^"), *row(XS, "Urée", "12,1", "mmol/L")],
        ],
    )

    assert [r.value for r in report.results] == ["140", "12,1"]


def test_a_mark_of_signs_right_of_the_value_is_its_flag(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Unit", "Range"),
            row(XS, "Potassium", "5.9 >>", "mmol/L", "3.5 - 5.1"),
            row(XS, "Iron", "4.1 --", "umol/L", "9.0 - 27.0"),
        ],
    )

    assert [(r.value, r.flag) for r in report.results] == [("5.9", ">>"), ("4.1", "--")]


def test_the_result_stands_in_one_of_the_columns_of_levels(tmp_path: Path) -> None:
    xs = (40, 180, 260, 340, 420, 510)
    report = read(
        tmp_path,
        [
            row(xs, "Test", "Optimal", "Moderate", "High", "Reference Range", "Units"),
            row(xs, "LDL Cholesterol", "", "118", "", "<100", "mg/dL"),
            row(xs, "Triglycerides", "", "", "212", "<150", "mg/dL"),
            row(xs, "HDL Cholesterol", "60", "50", "40", ">40", "mg/dL"),
        ],
    )

    assert printed(report) == [
        ("LDL Cholesterol", "118", "mg/dL", "<100"),
        ("Triglycerides", "212", "mg/dL", "<150"),
    ]


@pytest.mark.parametrize(
    "titles", [("Optimal Range", "Reference Range"), ("Target range", "Lab range")]
)
def test_the_laboratory_s_range_is_the_range_and_a_goal_is_none(
    tmp_path: Path, titles: tuple[str, str]
) -> None:
    xs = (40, 180, 240, 310, 420)
    report = read(
        tmp_path,
        [
            row(xs, "Marker", "Result", "Units", *titles),
            row(xs, "Ferritin", "41", "ng/mL", "50 - 150", "30 - 400"),
            row(xs, "TSH", "2.1", "mIU/L", "1.0 - 2.0", "0.4 - 4.5"),
        ],
    )

    assert [r.reference_range for r in report.results] == ["30 - 400", "0.4 - 4.5"]


def test_the_label_of_a_range_of_one_part_is_no_part_of_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Unit", "Range"),
            row(XS, "Glucose", "92", "mg/dL", "Normal: 70 - 99"),
            row(XS, "HbA1c", "5.9", "%", "Normal: < 5.7"),
            row(XS, "", "", "", "Diabetes: >= 6.5"),
        ],
    )

    assert [r.reference_range for r in report.results] == [
        "70 - 99",
        "Normal: < 5.7 Diabetes: >= 6.5",
    ]


def test_the_only_dated_column_right_of_whole_results_is_earlier(
    tmp_path: Path,
) -> None:
    xs = (40, 219, 290, 400)
    report = read(
        tmp_path,
        [
            row(xs, "HEMATOLOGIE", "", "Valeurs usuelles", "04/09/2023"),
            row(xs, "Leucocytes ..........:", "7,42 G/L", "(4,00 - 10,00)", "6,90"),
            row(xs, "Hémoglobine .........:", "13,2 g/dL", "(12,0 - 16,0)", "13,0"),
            row(xs, "Plaquettes ..........:", "251 G/L", "(150 - 400)", "244"),
        ],
    )

    assert printed(report) == [
        ("Leucocytes", "7,42", "G/L", "(4,00 - 10,00)"),
        ("Hémoglobine", "13,2", "g/dL", "(12,0 - 16,0)"),
        ("Plaquettes", "251", "G/L", "(150 - 400)"),
    ]


def test_an_untitled_unit_before_ranges_that_repeat_it_is_the_unit(
    tmp_path: Path,
) -> None:
    xs = (40, 200, 260, 330)
    report = read(
        tmp_path,
        [
            row(xs, "", "Resultado", "", "Valores de Referência"),
            row(xs, "Hemoglobina", "14,6", "g/dL", "13,0 a 16,5 g/dL"),
            row(xs, "VCM", "91,5", "fL", "80,0 a 98,0 fL"),
            row(xs, "RDW", "13,2", "%", "11,0 a 16,0 %"),
        ],
    )

    assert [r.units for r in report.results] == ["g/dL", "fL", "%"]
    assert [r.min_reference_range for r in report.results] == [13.0, 80.0, 11.0]


@pytest.mark.parametrize(
    ("spread", "value", "flag"),
    [("7,5 - 10,0", "7,1", "L"), ("5,0 - 9,0", "< 7,1", None)],
)
def test_a_sign_apart_that_repeats_its_range_is_a_flag_else_a_comparator(
    tmp_path: Path, spread: str, value: str, flag: str | None
) -> None:
    xs = (40, 170, 230, 330)
    report = read(
        tmp_path,
        [
            row(xs, "Bepaling", "Uitslag", "Eenheid", "Referentiewaarden"),
            [(152, "<"), *row(xs, "Hemoglobine", "7,1", "mmol/L", spread)],
            row(xs, "Kalium", "4,1", "mmol/L", "3,5 - 5,0"),
        ],
    )

    assert [(r.value, r.flag) for r in report.results] == [(value, flag), ("4,1", None)]


def test_units_may_stand_under_a_title_that_names_results_too(tmp_path: Path) -> None:
    xs = (40, 160, 230, 320, 420)
    report = read(
        tmp_path,
        [
            row(xs, "Test Adı", "Sonuç", "Sonuç Birimi", "Referans Değeri", "Durum"),
            row(xs, "Kreatinin", "0,81", "mg/dL", "0,51 - 0,95", "Normal"),
            row(xs, "ALT", "44", "U/L", "0 - 35", "Yüksek"),
        ],
    )

    assert printed(report) == [
        ("Kreatinin", "0,81", "mg/dL", "0,51 - 0,95"),
        ("ALT", "44", "U/L", "0 - 35"),
    ]


def test_a_range_behind_the_unit_under_one_title_is_the_range(tmp_path: Path) -> None:
    xs = (40, 230, 300, 330)
    report = read(
        tmp_path,
        [
            row(xs, "INVESTIGATION", "RESULT", "UNITS", "BIOLOGICAL REF."),
            row(xs, "Haemoglobin", "10.2", "g/dL", "12.0 - 15.0"),
            row(xs, "Platelet Count", "3.82", "/cumm", "1.5 - 4.1"),
        ],
    )

    assert printed(report) == [
        ("Haemoglobin", "10.2", "g/dL", "12.0 - 15.0"),
        ("Platelet Count", "3.82", "/cumm", "1.5 - 4.1"),
    ]


def test_a_range_that_says_so_is_no_part_of_the_value(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "ACTH, PLASMA"), (500, "Lab: TBR")],
            row((40, 230), "Analyte", "Value"),
            row(XS, "ACTH, PLASMA", "22", "", "Reference Range: 6-50 pg/mL"),
            [(40, "INSULIN"), (500, "Lab: TBR")],
            row((40, 230), "Analyte", "Value"),
            row(XS, "INSULIN", "21.4", "H", "Reference Range: < OR = 18.4 uIU/mL"),
        ],
    )

    assert printed(report) == [
        ("ACTH, PLASMA", "22", "pg/mL", "6-50 pg/mL"),
        ("INSULIN", "21.4", "uIU/mL", "< OR = 18.4 uIU/mL"),
    ]


def test_a_title_of_two_lines_may_stand_around_the_others(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [
                Ink(370, "Reference (WHO 6th", y=45),
                *row(XS, "Test", "Result", "Units"),
                Ink(370, "ed.)", y=55),
            ],
            row(XS, "Volume", "2.8", "mL", ">=1.4"),
            row(XS, "Total motility", "38", "%", ">=42"),
        ],
    )

    assert printed(report) == [
        ("Volume", "2.8", "mL", ">=1.4"),
        ("Total motility", "38", "%", ">=42"),
    ]


def test_another_table_below_does_not_cut_the_columns(tmp_path: Path) -> None:
    xs = (38, 168, 228, 320, 400)
    others = (38, 125, 260, 430)
    report = read(
        tmp_path,
        [
            row(xs, "Component", "Value", "Ref Range", "Test Method", "Performed At"),
            row(xs, "Protime", "29.8", "9.4 - 12.5 Seconds", "", "OAKHURST"),
            row(xs, "INR", "2.7", "0.9 - 1.1", "", "OAKHURST"),
            "TSH WITH REFLEX (02/10/2025 6:12 AM CST)",
            row(others, "Specimen", "Location of the body", "Method of it", "Received"),
            row(others, "Blood", "", "Venipuncture of it", "02/10/2025"),
        ],
    )

    assert printed(report) == [
        ("Protime", "29.8", "Seconds", "9.4 - 12.5 Seconds"),
        ("INR", "2.7", None, "0.9 - 1.1"),
    ]
