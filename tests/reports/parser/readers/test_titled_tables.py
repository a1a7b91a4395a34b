"""Rows under titles whose parts stand above or below the line of the value."""

from __future__ import annotations

from pathlib import Path

from reports.parser.report import Interpretation
from tests.reports.parser.drawing import Drawn, Ink, printed, read, row

XS = (40, 220, 300, 380)
TITLES: list[Drawn] = row(XS, "Test", "Result", "Unit", "Reference Range")


def test_a_unit_alone_under_the_value_belongs_to_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row((40, 250, 400), "Test", "Result", "Reference Range"),
            row((40, 250, 400), "Creatinine", "1.02", "0.70 - 1.30"),
            [Ink(250, "mg/dL", size=7)],
            row((40, 250, 400), "Sodium", "139", "136 - 145"),
            [Ink(250, "mmol/L", size=7)],
        ],
    )

    assert [r.units for r in report.results] == ["mg/dL", "mmol/L"]


def test_a_heading_above_a_row_is_no_part_of_its_name(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            "Thyroid function",
            row(XS, "TSH", "2.31", "mIU/L", "0.27 - 4.20"),
            "Iron studies",
            row(XS, "Ferritin", "41", "ug/L", "30 - 400"),
        ],
    )

    assert [(r.test_name, r.source_panel_name) for r in report.results] == [
        ("TSH", "Thyroid function"),
        ("Ferritin", "Iron studies"),
    ]


def test_names_and_banded_ranges_go_on_together(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Cholesterol, Serum by Enzymatic", "201", "mg/dL", "Good : < 200"),
            row(XS, "method", "", "", "High : >= 240"),
            row(XS, "Glucose, Fasting,", "92", "mg/dL", "70 - 100"),
            "Plasma",
        ],
    )

    assert printed(report) == [
        (
            "Cholesterol, Serum by Enzymatic method",
            "201",
            "mg/dL",
            "Good : < 200 High : >= 240",
        ),
        ("Glucose, Fasting, Plasma", "92", "mg/dL", "70 - 100"),
    ]


def test_a_range_without_a_value_is_not_added_to_the_row_above(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Sedimentation Rate", "12", "mm/hr", "0-15"),
            row(XS, "Complement C3", "", "", "82-167"),
        ],
    )

    assert printed(report) == [("Sedimentation Rate", "12", "mm/hr", "0-15")]


def test_a_flag_far_behind_a_range_is_no_part_of_it(tmp_path: Path) -> None:
    xs = (*XS, 520)
    report = read(
        tmp_path,
        [
            TITLES,
            row(xs, "Glucose", "101", "mg/dL", "70 - 99", "H"),
            row(xs, "HDL Cholesterol", "39", "mg/dL", "> 40", "L"),
            row(xs, "Sodium", "140", "mmol/L", "136 - 145"),
        ],
    )

    assert [result.reference_range for result in report.results] == [
        "70 - 99",
        "> 40",
        "136 - 145",
    ]
    assert [result.interpretation for result in report.results] == [
        Interpretation.ABNORMAL,
        Interpretation.ABNORMAL,
        Interpretation.NORMAL,
    ]


def test_letters_drawn_as_one_sign_are_two_in_a_unit(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "MCV", "76.2", "f", "83 - 101"),
            row(XS, "MCH", "23.8", "pg", "27 - 32"),
        ],
    )

    assert [result.units for result in report.results] == ["fl", "pg"]


def test_a_flag_beside_the_unit_is_no_part_of_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Sodium", "128", "L mmol/L", "136 - 145"),
            row(XS, "Potassium", "6.3", "mmol/L H", "3.5 - 5.1"),
        ],
    )

    assert [(r.units, r.flag) for r in report.results] == [
        ("mmol/L", "L"),
        ("mmol/L", "H"),
    ]


def test_an_equal_value_behind_soit_is_a_row_and_has_the_range(tmp_path: Path) -> None:
    xs = (40, 220, 380)
    report = read(
        tmp_path,
        [
            row(xs, "Lymphocytes ........ 33,1 %", "soit 2,16 giga/L", "1,00-4,00"),
            row(xs, "Leucocytes .........", "6,54 giga/L", "4,0-10,0"),
            row(xs, "Hémoglobine ........", "13,4 g/dL", "11,5-16,0"),
        ],
    )

    assert printed(report)[:2] == [
        ("Lymphocytes", "33,1", "%", None),
        ("Lymphocytes", "2,16", "giga/L", "1,00-4,00"),
    ]


def test_rows_under_a_table_of_stages_are_no_results(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "Ethanol", "12", "mg/dL", "< 10"),
            row(XS, "Stage", "Ethanol mg/dL", "", "Clinical signs"),
            row(XS, "Sobriety", "10 - 50", "", "No obvious effect"),
            row(XS, "Euphoria", "30 - 120", "", "Mild euphoria"),
        ],
    )

    assert [r.test_name for r in report.results] == ["Ethanol"]


def test_titles_of_an_explanation_under_repeated_titles_are_not_joined_to_them(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [TITLES, row(XS, "Vitamin D", "41.2", "nmol/L", "75 - 250")],
        [
            TITLES,
            row((50, 210, 370), "LEVEL", "REFERENCE RANGE IN nmol/L", "COMMENTS"),
            row((50, 210, 370), "Deficient", "< 50", "High risk for bone disease"),
            [Ink(40, "THYROID PROFILE, SERUM", bold=True)],
            row(XS, "TSH", "8.43", "mIU/L", "0.27 - 4.20"),
        ],
    )

    assert [r.test_name for r in report.results] == ["Vitamin D", "TSH"]


def test_a_footnote_behind_a_value_is_no_part_of_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            [
                *row(XS, "Triglycerides", "412", "mg/dL", "0 - 150"),
                Ink(236, "a", y=61, size=5.5),
            ],
            row(XS, "Sodium", "139", "mmol/L", "136 - 145"),
        ],
    )

    assert [r.value for r in report.results] == ["412", "139"]


def test_of_dated_columns_the_latest_is_read(tmp_path: Path) -> None:
    xs = (40, 150, 260, 340, 420)

    report = read(
        tmp_path,
        [
            row(xs, "Test", "Ref. Range", "02/11/24", "02/12/24", "02/14/24"),
            row(xs, "Sodium", "136 - 145 mmol/L", "139", "138", "133"),
            row(xs, "Potassium", "3.5 - 5.1 mmol/L", "4.4", "4.8", "5.0"),
        ],
    )

    assert [r.value for r in report.results] == ["133", "5.0"]


def test_a_second_value_with_a_unit_column_of_its_own_is_a_row(tmp_path: Path) -> None:
    xs = (40, 150, 210, 280, 380, 430, 490)
    report = read(
        tmp_path,
        [
            row(xs, "TEST", *("Result", "Unit", "Reference") * 2),
            row(
                xs, "BUN", "4.90", "mmol/L", "2.50 - 6.40", "13.7", "mg/dL", "7.0 - 18"
            ),
            row(xs, "Uric Acid", "410", "umol/L", "155 - 428", "6.9", "mg/dL", "3 - 7"),
        ],
    )

    assert printed(report) == [
        ("BUN", "4.90", "mmol/L", "2.50 - 6.40"),
        ("BUN", "13.7", "mg/dL", "7.0 - 18"),
        ("Uric Acid", "410", "umol/L", "155 - 428"),
        ("Uric Acid", "6.9", "mg/dL", "3 - 7"),
    ]


def test_bands_go_on_beside_a_method_under_the_name(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            row(XS, "FSH", "6.2", "mIU/mL", "Follicular: 3.0 - 8.1"),
            row(XS, "Method : CLIA", "", "", "Luteal: 1.4 - 5.5"),
            row(XS, "Prolactin", "18.6", "ng/mL", "5.2 - 26.5"),
        ],
    )

    assert printed(report) == [
        ("FSH", "6.2", "mIU/mL", "Follicular: 3.0 - 8.1 Luteal: 1.4 - 5.5"),
        ("Prolactin", "18.6", "ng/mL", "5.2 - 26.5"),
    ]


def test_a_sign_in_a_column_without_a_title_is_a_flag(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            TITLES,
            [*row(XS, "Leukozyten", "11,9", "", "4,0 - 10,0"), (305, "+  /nl")],
            row(XS, "Thrombozyten", "278", "/nl", "150 - 400"),
        ],
    )

    assert [(r.units, r.interpretation) for r in report.results] == [
        ("/nl", Interpretation.ABNORMAL),
        ("/nl", Interpretation.NORMAL),
    ]


def test_dates_over_the_titles_of_units_name_the_columns_of_results(
    tmp_path: Path,
) -> None:
    xs = (40, 140, 200, 290, 380)

    report = read(
        tmp_path,
        [
            row(xs, "Date", "04/09/23", "11/03/24"),
            row(xs, "Time", "09:10", "08:15"),
            row(xs, "Lab No.", "88120001", "99310077", "Units", "Reference"),
            row(xs, "Sodium", "141", "142", "mmol/L", "(135-145)"),
            row(xs, "Potassium", "4.4", "*5.6", "mmol/L", "(3.5-5.2)"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Sodium", "142"),
        ("Potassium", "5.6"),
    ]


def test_a_unit_set_small_under_its_range_leaves_the_name_to_go_on(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Reference"),
            row(XS, "Parathyroid hormone, intact", "44", "15 - 65"),
            [(40, "(PTH)"), Ink(300, "pg/mL", size=6.8)],
            row(XS, "Thyroid peroxidase antibodies", "212", "0 - 34"),
            [(40, "(Anti-TPO)"), Ink(300, "IU/mL", size=6.8)],
        ],
    )

    assert printed(report) == [
        ("Parathyroid hormone, intact (PTH)", "44", "pg/mL", "15 - 65"),
        ("Thyroid peroxidase antibodies (Anti-TPO)", "212", "IU/mL", "0 - 34"),
    ]


def test_whose_range_it_is_may_stand_in_its_title(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Parameter", "Result", "Unit", "WHO 2010 Reference"),
            row(XS, "Total Motility", "55", "%", ">= 40"),
            row(XS, "Normal Forms", "5", "%", ">= 4"),
        ],
    )

    assert printed(report) == [
        ("Total Motility", "55", "%", ">= 40"),
        ("Normal Forms", "5", "%", ">= 4"),
    ]


def test_small_print_and_days_beside_a_row_are_no_part_of_it(tmp_path: Path) -> None:
    xs = (40, 150, 260, 330, 400, 470)

    report = read(
        tmp_path,
        [
            row(xs, "Test", "Result", "Previous Result", "", "Units", "Range"),
            [
                *row(xs, "LH", "3.3", "3.1", "09/04/2023", "IU/L", "1.7 - 8.6"),
                Ink(55, "A, 01", y=61, size=7),
            ],
            row(xs, "FSH", "4.0", "4.4", "09/04/2023", "IU/L", "1.5 - 12.4"),
        ],
    )

    assert printed(report) == [
        ("LH", "3.3", "IU/L", "1.7 - 8.6"),
        ("FSH", "4.0", "IU/L", "1.5 - 12.4"),
    ]


def test_shares_and_counts_stand_under_their_units(tmp_path: Path) -> None:
    xs = (40, 150, 220, 290, 400)

    report = read(
        tmp_path,
        [
            row(xs, "Differential", "%", "/mm3", "Ref. %", "Ref. /mm3"),
            row(xs, "Neutrophils", "58.0", "4553", "40.0 - 70.0", "1800 - 7000"),
            row(xs, "Lymphocytes", "28.0", "2198", "20.0 - 45.0", "1000 - 4000"),
        ],
    )

    assert printed(report) == [
        ("Neutrophils", "58.0", "%", "40.0 - 70.0"),
        ("Neutrophils", "4553", "/mm3", "1800 - 7000"),
        ("Lymphocytes", "28.0", "%", "20.0 - 45.0"),
        ("Lymphocytes", "2198", "/mm3", "1000 - 4000"),
    ]


def test_brackets_marks_and_labels_are_no_part_of_units_values_and_ranges(
    tmp_path: Path,
) -> None:
    xs = (40, 150, 220, 290)

    report = read(
        tmp_path,
        [
            row(xs, "Test", "Result", "Unit", "Range"),
            row(xs, "Glucose", "5.9 !H", "[mmol/L]", "(N : 3.9-5.8)"),
            row(xs, "Sodium", "139", "mmol/L", "136 - 145"),
        ],
    )

    assert printed(report) == [
        ("Glucose", "5.9", "mmol/L", "3.9-5.8"),
        ("Sodium", "139", "mmol/L", "136 - 145"),
    ]
    assert report.results[0].flag == "H"


def test_bands_go_on_beside_a_note_in_small_print(tmp_path: Path) -> None:
    xs = (40, 230, 280, 340)
    report = read(
        tmp_path,
        [
            row(xs, "Test Name", "Result", "Unit", "Bio. Ref. Range"),
            row(xs, "Vitamin D (25-Hydroxy)", "17.4", "ng/mL", "Deficiency : < 20"),
            [Ink(40, "Sample: Serum", size=6), (340, "Sufficiency : 30 - 100")],
            row(xs, "Vitamin B12", "188", "pg/mL", "211 - 946"),
        ],
    )

    assert [r.reference_range for r in report.results] == [
        "Deficiency : < 20 Sufficiency : 30 - 100",
        "211 - 946",
    ]


def test_what_stands_apart_behind_a_range_or_a_value_is_no_part_of_it(
    tmp_path: Path,
) -> None:
    xs = (40, 170, 240, 300, 420)
    report = read(
        tmp_path,
        [
            row(xs, "Analyse", "Resultat (Vorwert)", "Einheit", "Referenzbereich"),
            row((xs[1], xs[2], xs[3]), "Résultat", "Unité", "Valeurs de référence"),
            row(xs, "Natrium", "139 (141)", "mmol/l", "136 - 145", "ISE direkt"),
            row(xs, "Kalium", "5.6 (4.8) *", "mmol/l", "3.5 - 5.1 [-----]*"),
            row(xs, "TSH", "1.9 (2.0)", "mU/l", "0.3 - 4.2", "ECLIA"),
        ],
    )

    assert printed(report) == [
        ("Natrium", "139", "mmol/l", "136 - 145"),
        ("Kalium", "5.6", "mmol/l", "3.5 - 5.1"),
        ("TSH", "1.9", "mU/l", "0.3 - 4.2"),
    ]
    assert report.results[1].flag == "*"


def test_a_test_without_a_result_of_the_latest_day_is_no_row(tmp_path: Path) -> None:
    xs = (40, 220, 290, 360, 440)
    report = read(
        tmp_path,
        [
            row(xs, "Investigation", "02/02/24", "11/03/24", "Units", "Ref Range"),
            row(xs, "Sodium", "137", "139", "mmol/L", "133 - 146"),
            row(xs, "Potassium", "4.4", "4.8", "mmol/L", "3.5 - 5.3"),
            row(xs, "Bilirubin", "12", "", "umol/L", "3 - 21"),
            row(xs, "ALT", "31", "", "U/L", "5 - 35"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Sodium", "139"),
        ("Potassium", "4.8"),
    ]


def test_rows_below_a_table_in_columns_of_their_own_come_with_those_between(
    tmp_path: Path,
) -> None:
    below = (40, 340, 400, 470)
    report = read(
        tmp_path,
        [
            row((40, 150, 220, 300), "Test", "Result", "Unit", "Range"),
            row((40, 150, 220, 300), "Glucose", "92", "mg/dL", "70 - 99"),
            row((40, 150, 220, 300), "Sodium", "139", "mmol/L", "136 - 145"),
            "Performed as the protocol of the laboratory has it",
            row(below, "Rheumatoid factor", "14", "IU/mL", "< 20"),
            row(below, "Anti-CCP", "< 7", "U/mL", "< 17"),
            row(below, "Anti-dsDNA", "5.1", "IU/mL", "< 10.0"),
        ],
    )

    assert printed(report)[2:] == [
        ("Rheumatoid factor", "14", "IU/mL", "< 20"),
        ("Anti-CCP", "< 7", "U/mL", "< 17"),
        ("Anti-dsDNA", "5.1", "IU/mL", "< 10.0"),
    ]


def test_a_sign_where_a_unit_would_stand_is_a_mark(tmp_path: Path) -> None:
    xs = (40, 200, 250, 330)
    report = read(
        tmp_path,
        [
            row(xs, "Analyse", "Résultat", "Unité", "Référence"),
            row(xs, "IgG", "29,1", "g/L", "7,0 - 16,0"),
            row(xs, "Rapport kappa/lambda", "9,61", "+", "0,31 - 1,56"),
        ],
    )

    assert [(r.units, r.flag) for r in report.results] == [("g/L", None), (None, "+")]


def test_titles_wrapped_half_a_line_beside_the_others_are_titles(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            [
                Ink(480, "Res. anterior 02-", y=70),
                Ink(40, "Análise", y=75),
                Ink(230, "Resultado", y=75),
                Ink(290, "Unidades", y=75),
                Ink(380, "Referência", y=75),
                Ink(510, "04-2025", y=80),
            ],
            "",
            "",
            row((40, 240, 290, 380, 520), "Glicose", "104", "mg/dL", "70 - 99", "98"),
            row((40, 240, 290, 380, 520), "Ureia", "37", "mg/dL", "17 - 49", "35"),
        ],
    )

    assert printed(report) == [
        ("Glicose", "104", "mg/dL", "70 - 99"),
        ("Ureia", "37", "mg/dL", "17 - 49"),
    ]


def test_a_mark_of_a_sign_and_a_letter_stands_before_its_value(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row((40, 220, 290, 380), "Onderzoek", "Resultaat", "Eenheid", "Referentie"),
            row((40, 205, 228, 290, 380), "ALT (GPT)", ">H", "49", "U/L", "< 35"),
            row((40, 205, 225, 290, 380), "Foliumzuur", "<L", "3.4", "µg/L", "> 3.9"),
        ],
    )

    assert [(r.value, r.flag) for r in report.results] == [("49", ">H"), ("3.4", "<L")]


def test_a_name_centred_over_two_lines_is_whole_beside_a_bold_value(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            row((40, 178, 255, 341), "Investigation", "Result", "Unit", "Range"),
            [
                Ink(40, "Anti-Thyroid Peroxidase", y=75),
                Ink(178, "212.4", y=79.5, bold=True),
                Ink(255, "IU/mL", y=79.5),
                Ink(341, "< 34", y=79.5),
                Ink(40, "Antibodies (Anti-TPO), Serum", y=84),
            ],
        ],
    )

    assert printed(report) == [
        (
            "Anti-Thyroid Peroxidase Antibodies (Anti-TPO), Serum",
            "212.4",
            "IU/mL",
            "< 34",
        )
    ]


def test_a_value_in_another_unit_beside_the_method_has_the_name_above(
    tmp_path: Path,
) -> None:
    xs = (40, 220, 290, 360)
    small = [Ink(40, "Serum / Spectrophotometry", size=6)]
    report = read(
        tmp_path,
        [
            row(xs, "Test", "Result", "Units", "Reference"),
            row(xs, "Glucose", "118", "mg/dL", "74 - 106"),
            [*small, Ink(220, "6.6 mmol/L", size=6)],
            row(xs, "Creatinine", "1.31", "mg/dL", "0.70 - 1.20"),
            [*small, Ink(220, "116 umol/L", size=6)],
        ],
    )

    assert printed(report) == [
        ("Glucose", "118", "mg/dL", "74 - 106"),
        ("Glucose", "6.6", "mmol/L", None),
        ("Creatinine", "1.31", "mg/dL", "0.70 - 1.20"),
        ("Creatinine", "116", "umol/L", None),
    ]


def test_limits_with_a_word_stand_beside_a_value_below_its_own_limit(
    tmp_path: Path,
) -> None:
    xs = (40, 230, 320, 440)
    report = read(
        tmp_path,
        [
            row(xs, "Test", "Result", "Reference range", "Unit"),
            row(xs, "TSH", "2.01", "0.27 - 4.20", "uIU/mL"),
            row(xs, "Beta HCG", "<1.0", "Non pregnant: <5.0", "mIU/mL"),
        ],
    )

    assert printed(report)[1] == ("Beta HCG", "<1.0", "mIU/mL", "Non pregnant: <5.0")


def test_a_long_name_without_a_unit_is_a_row_by_its_range(tmp_path: Path) -> None:
    xs = (40, 300, 380, 460)
    report = read(
        tmp_path,
        [
            row(xs, "Esame", "Esito", "Unità", "Valori di riferimento"),
            row(xs, "Fibrinogeno", "3,62", "g/L", "2,00 - 4,00"),
            row(xs, "Tempo di zanolina parziale (indice)", "1,18", "", "0,80 - 1,20"),
        ],
    )

    assert printed(report)[1:] == [
        ("Tempo di zanolina parziale (indice)", "1,18", None, "0,80 - 1,20")
    ]
