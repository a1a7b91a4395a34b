"""Rows without titles, by the form of what stands on the line."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Ink, printed, read, row

XS = (40, 250, 330, 400)


def test_findings_in_a_column_need_no_range(tmp_path: Path) -> None:
    names = ("Salmonella species", "Shigella / EIEC", "Norovirus")
    report = read(
        tmp_path,
        [
            "FAECES MULTIPLEX PCR",
            *[row(XS, name, "Not Detected") for name in names],
            row(XS, "Calprotectin", "388", "ug/g", "(<50)"),
            row(XS, "Hemoglobin", "10.9", "g/dL", "(11.7 - 15.5)"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        *((name, "Not Detected") for name in names),
        ("Calprotectin", "388"),
        ("Hemoglobin", "10.9"),
    ]


def test_digits_grouped_by_blanks_are_one_number(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "LEUCOCYTES ................ 6 100 /mm3",
            "PLAQUETTES ................ 251 000 /mm3",
            "HEMOGLOBINE ............... 13,9 g/dl",
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("LEUCOCYTES", "6 100"),
        ("PLAQUETTES", "251 000"),
        ("HEMOGLOBINE", "13,9"),
    ]


def test_each_part_of_one_cell_has_its_own_words(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Sodium", "140 mmol/L"),
            row(XS, "Urea", "5.1 mmol/L"),
            row(XS, "ALT", "33 U/L"),
        ],
    )

    value = report.results[0].provenance.value
    units = report.results[0].provenance.units
    assert value is not None
    assert units is not None
    assert value.polygon[1].x < units.polygon[0].x


def test_sentences_targets_and_prices_are_no_rows(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "S-Sodium", "141", "mmol/L", "136 - 145"),
            row(XS, "S-Urea", "4.9", "mmol/L", "2.1 - 7.1"),
            row(XS, "S-ALT", "47", "U/L", "7 - 35"),
            "elderly, hypo-unaware 7.1 - 8.5 %. Diagnosis of diabetes: >= 6.5 %",
            "TARIFF CODES (for your medical scheme)",
            [(40, "4507"), (100, "Thyrotropin (TSH)"), (386, "R 213.55")],
            [(40, "4064"), (100, "HbA1c"), (386, "R 154.90")],
        ],
    )

    assert [r.test_name for r in report.results] == ["S-Sodium", "S-Urea", "S-ALT"]


def test_a_finding_before_its_announced_range_is_a_row(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(50, "PSA, TOTAL"), (400, "1.32")],
            [(400, "Reference Range: < OR = 4.00 ng/mL")],
            [(50, "HEPATITIS C ANTIBODY"), (400, "NON-REACTIVE")],
            [(400, "Reference Range: NON-REACTIVE")],
        ],
    )

    assert printed(report) == [
        ("PSA, TOTAL", "1.32", "ng/mL", "< OR = 4.00"),
        ("HEPATITIS C ANTIBODY", "NON-REACTIVE", None, "NON-REACTIVE"),
    ]


def test_words_before_a_value_may_say_how_it_is(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "LDL cholesterol"), (400, "Out of range"), (470, "158 mg/dL")],
            [(40, "Reference range: < 100 mg/dL")],
            [(40, "HDL cholesterol"), (400, "Optimal 61 mg/dL")],
            [(40, "Reference range: > 40 mg/dL")],
        ],
    )

    assert printed(report) == [
        ("LDL cholesterol", "158", "mg/dL", "< 100"),
        ("HDL cholesterol", "61", "mg/dL", "> 40"),
    ]


def test_a_range_below_may_have_a_word_on_the_value_beside_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "TSH"), (200, "3.9 mIU/L")],
            [(40, "Lab range 0.4 - 4.0"), (220, "Normal")],
            [(40, "Free T4"), (200, "0.6 ng/dL")],
            [(40, "Lab range 0.8 - 1.8"), (220, "Low")],
        ],
    )

    assert printed(report) == [
        ("TSH", "3.9", "mIU/L", "0.4 - 4.0"),
        ("Free T4", "0.6", "ng/dL", "0.8 - 1.8"),
    ]


def test_a_range_below_may_stand_among_other_notes(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "CEA"), (480, "2.1 ng/mL")],
            [
                (40, "Specimen: Serum"),
                (140, "Reference range: 0.0 - 3.0 ng/mL"),
                (320, "Method: ECLIA"),
            ],
            [(40, "LDH"), (480, "251 U/L")],
            [
                (40, "Specimen: Serum"),
                (140, "Reference range: 135 - 225 U/L"),
                (320, "Method: ECLIA"),
            ],
        ],
    )

    assert printed(report) == [
        ("CEA", "2.1", "ng/mL", "0.0 - 3.0"),
        ("LDH", "251", "U/L", "135 - 225"),
    ]


def test_a_plain_range_under_a_value_is_its_own(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Zinc"), (180, "68 µg/dL")],
            [(40, "In range"), (180, "60 - 130")],
            [(40, "Copper"), (180, "151 µg/dL")],
            [(40, "In range"), (180, "80 - 155")],
        ],
    )

    assert printed(report) == [
        ("Zinc", "68", "µg/dL", "60 - 130"),
        ("Copper", "151", "µg/dL", "80 - 155"),
    ]


def test_a_word_behind_a_bracketed_range_is_no_part_of_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "White blood cells: 11.8 x10^9/L (4.0-11.0) - high",
            "Platelets: 301 x10^9/L (150-400)",
            "TSH: 0.12 mIU/L (0.27-4.20) - low",
        ],
    )

    assert [r.reference_range for r in report.results] == [
        "(4.0-11.0)",
        "(150-400)",
        "(0.27-4.20)",
    ]


def test_a_day_in_front_of_a_name_is_no_part_of_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "03/11/2024 08:12 Haemoglobin 13.8 g/dL [Ref: 12.0 - 15.0]",
            "03/11/2024 08:12 Ferritin 12 µg/L [Ref: 15 - 150]",
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Haemoglobin", "13.8"),
        ("Ferritin", "12"),
    ]


def test_a_change_behind_a_unit_is_no_part_of_the_range(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row((40, 180, 310, 400), "Cholesterol", "5.2 mmol/L", "+0.3", "< 5.0"),
            row((40, 180, 310, 400), "HDL", "1.6 mmol/L", "-0.1", "> 1.2"),
        ],
    )

    assert [r.reference_range for r in report.results] == ["< 5.0", "> 1.2"]


def test_a_state_behind_a_bracketed_range_is_no_part_of_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Serum sodium: 141 mmol/L (normal range: 133 - 146)",
            "Serum urea level: 8.9 mmol/L (normal range: 2.5 - 7.8) Above range",
            "Serum ALT level: 61 U/L (normal range: < 50) Above range",
        ],
    )

    assert [r.reference_range for r in report.results] == [
        "133 - 146",
        "2.5 - 7.8",
        "< 50",
    ]


def test_a_result_in_a_second_unit_stands_below_its_name(tmp_path: Path) -> None:
    xs = (40, 180, 240, 300)
    report = read(
        tmp_path,
        [
            row(xs, "Glycémie à jeun", "1,01", "g/L", "0,74 - 1,06"),
            [Ink(40, "(Hexokinase)", size=7)],
            row(xs, "", "5,61", "mmol/L", "4,10 - 5,90"),
            row(xs, "Créatinine", "8,0", "mg/L", "5,1 - 9,5"),
            [Ink(40, "(Enzymatique)", size=7)],
            row(xs, "", "71", "µmol/L", "45 - 84"),
        ],
    )

    assert printed(report) == [
        ("Glycémie à jeun", "1,01", "g/L", "0,74 - 1,06"),
        ("Glycémie à jeun", "5,61", "mmol/L", "4,10 - 5,90"),
        ("Créatinine", "8,0", "mg/L", "5,1 - 9,5"),
        ("Créatinine", "71", "µmol/L", "45 - 84"),
    ]


def test_what_is_said_below_a_whole_row_gives_no_second_one(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Sodium", "133", "mmol/L", "(133 - 146)"),
            row(XS, "NT-proBNP", "1841", "ng/L", "(< 400)"),
            "   >2000 ng/L refer urgently (2 weeks); 400-2000 ng/L refer (6 weeks)",
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Sodium", "133"),
        ("NT-proBNP", "1841"),
    ]


def test_what_a_test_gave_on_another_day_is_no_row(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "FSH"), (200, "5,1"), (240, "UI/L"), (330, "(1,5 - 12,4)")],
            [(40, "Analyseur Fictif Antériorité du 12/09/23 : 4,8 UI/L")],
            [(40, "LH"), (200, "4,4"), (240, "UI/L"), (330, "(1,7 - 8,6)")],
            [(40, "Analyseur Fictif Antériorité du 12/09/23 : 4,1 UI/L")],
        ],
    )

    assert printed(report) == [
        ("FSH", "5,1", "UI/L", "(1,5 - 12,4)"),
        ("LH", "4,4", "UI/L", "(1,7 - 8,6)"),
    ]


def test_sentences_with_a_dose_in_them_are_no_row(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Creatinine: 1.41 mg/dL (Ref Range: 0.70-1.28)",
            "Calcium: 9.1 mg/dL (Ref Range: 8.6-10.3)",
            "Stage 3a, stable. Recheck BMP in May. Continue lisinopril 20 mg daily",
        ],
    )

    assert [r.test_name for r in report.results] == ["Creatinine", "Calcium"]


def test_a_method_and_a_word_on_the_value_are_no_row(tmp_path: Path) -> None:
    xs = (45, 188, 278)
    report = read(
        tmp_path,
        [
            row(xs, "Vitamin B12", "224 pg/mL", "Range: 187 - 833 pg/mL"),
            row(xs, "Method: CLIA", "Normal"),
            row(xs, "Iron", "38 µg/dL", "Range: 50 - 170 µg/dL"),
            row(xs, "Method: Ferrozine", "Low"),
        ],
    )

    assert [r.test_name for r in report.results] == ["Vitamin B12", "Iron"]


def test_small_print_under_whole_rows_is_no_row(tmp_path: Path) -> None:
    xs = (40, 200, 240, 320)
    report = read(
        tmp_path,
        [
            row(xs, "ALT", "31", "U/L", "7 - 35"),
            [Ink(46, "IFCC 37°C", size=7), (420, "14/09/2023")],
            row(xs, "GGT", "44", "U/L", "5 - 38"),
            [Ink(46, "IFCC 37°C", size=7), (420, "14/09/2023")],
            row(xs, "Sodium", "140", "mmol/L", "136 - 145"),
        ],
    )

    assert [r.test_name for r in report.results] == ["ALT", "GGT", "Sodium"]


def test_one_range_under_its_label_beside_the_result_is_of_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "UREIA",
            [(40, "Resultado: 29 mg/dL"), (220, "Valores de referência:")],
            [(220, "16,6 a 48,5 mg/dL")],
            "",
            "GLICOSE",
            [(40, "Resultado: 108 mg/dL"), (220, "Valores de referência:")],
            [(220, "70 a 99 mg/dL")],
        ],
    )

    assert printed(report) == [
        ("UREIA", "29", "mg/dL", "16,6 a 48,5"),
        ("GLICOSE", "108", "mg/dL", "70 a 99"),
    ]


def test_the_second_of_two_equal_results_may_stand_behind_soit(tmp_path: Path) -> None:
    xs = (40, 205, 282)
    report = read(
        tmp_path,
        [
            row(xs, "Glycémie", "1,02 g/L", "0,74 - 1,06"),
            row((187, 282), "soit 5,66 mmol/L", "4,11 - 5,88"),
            row(xs, "CRP", "2,1 mg/L", "< 5,0"),
        ],
    )

    assert printed(report) == [
        ("Glycémie", "1,02", "g/L", "0,74 - 1,06"),
        ("Glycémie", "5,66", "mmol/L", "4,11 - 5,88"),
        ("CRP", "2,1", "mg/L", "< 5,0"),
    ]


def test_a_mark_may_stand_before_the_unit_and_colours_name_cells(
    tmp_path: Path,
) -> None:
    xs = (40, 140, 170, 240)
    report = read(
        tmp_path,
        [
            row(xs, "Sodium", "131", "L mmol/L", "133 - 146"),
            row(xs, "Potassium", "4.4", "mmol/L", "3.5 - 5.3"),
            row(xs, "Urea", "11.2", "H mmol/L", "2.5 - 7.8"),
            row(xs, "White Cells", ">100", "/uL"),
            row(xs, "Red Cells", "<10", "/uL"),
        ],
    )

    assert printed(report) == [
        ("Sodium", "131", "mmol/L", "133 - 146"),
        ("Potassium", "4.4", "mmol/L", "3.5 - 5.3"),
        ("Urea", "11.2", "mmol/L", "2.5 - 7.8"),
        ("White Cells", ">100", "/uL", None),
        ("Red Cells", "<10", "/uL", None),
    ]


def test_a_limit_of_which_something_is_said_is_no_row(tmp_path: Path) -> None:
    xs = (40, 256, 289, 368)
    report = read(
        tmp_path,
        [
            row(xs, "PSA total", "3.2", "ug/L", "(0.0 - 4.5)"),
            row(xs, "PSA free", "0.8", "ug/L", "(0.1 - 1.9)"),
            row(xs, "Free/total PSA ratio", "25", "%", "(> 25)"),
            "Ratio < 10 %: 56 % probability of cancer; > 25 %: 8 %.",
        ],
    )

    assert [r.test_name for r in report.results] == [
        "PSA total",
        "PSA free",
        "Free/total PSA ratio",
    ]


def test_a_strange_name_between_known_ones_is_a_row(tmp_path: Path) -> None:
    xs = (40, 137)
    report = read(
        tmp_path,
        [
            "LABORATORY REPORT ON URINE",
            "Specimen : Urine",
            row(xs, "Colour", ": Straw"),
            row(xs, "Appearance", ": Clear"),
            row(xs, "Sediment", ": Nil"),
            row(xs, "Specific Gravity", ": 1.015"),
            row(xs, "Albumin", ": Trace"),
            row(xs, "Sugar", ": Nil"),
            row(xs, "Pus Cells", ": 6-8 /HPF"),
        ],
    )

    assert ("Sediment", "Nil") in [(r.test_name, r.value) for r in report.results]
