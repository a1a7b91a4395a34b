"""Columns cut between titles, and lines cut by columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.parser.drawing import printed, read, row


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    xs = (40, 150, 220, 300)
    report = read(
        tmp_path,
        [
            row(xs, "Reference Range", "Unit", "Result", "Test"),
            row(xs, "70 - 99", "mg/dL", "104 H", "Glucose (Fasting)"),
            row(xs, "135 - 145", "mmol/L", "139", "Sodium"),
        ],
    )

    assert printed(report) == [
        ("Glucose (Fasting)", "104", "mg/dL", "70 - 99"),
        ("Sodium", "139", "mmol/L", "135 - 145"),
    ]


def test_a_strange_title_before_a_second_result_starts_a_second_table(
    tmp_path: Path,
) -> None:
    xs = (34, 118, 158, 200, 310, 450)
    report = read(
        tmp_path,
        [
            row(xs, "Examination", "Result", "Unit", "Male", "Macroscopic", "Result"),
            row(xs, "Hemoglobin", "142", "g/L", "140-170", "Color", "Dark Yellow"),
            row(xs, "Monocytes", "0.03", "", "0.02-0.06", "Albumin", "Trace"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Hemoglobin", "142"),
        ("Monocytes", "0.03"),
        ("Color", "Dark Yellow"),
        ("Albumin", "Trace"),
    ]


def test_an_end_of_a_range_under_the_next_title_stays_with_its_beginning(
    tmp_path: Path,
) -> None:
    xs = (40, 213, 254, 326, 372)
    report = read(
        tmp_path,
        [
            row(xs, "Test name", "Result", "units", "Range", "Site Code"),
            row((40, 213, 254, 326, 428), "GLUCOSE", "243", "mg/dL", "70-110", "[5]"),
            row((40, 213, 254, 326, 428), "SODIUM", "139", "mmol/L", "NEG", "[5]"),
            row((40, 213, 254, 340, 428), "CALCIUM", "9", "mg/dL", "8.4005 - 10.2005"),
        ],
    )

    assert report.results[-1].reference_range == "8.4005 - 10.2005"


def test_values_sorted_by_level_are_read_from_whichever_column_has_one(
    tmp_path: Path,
) -> None:
    xs = (40, 180, 240, 310, 380, 480)
    report = read(
        tmp_path,
        [
            row(xs, "Test", "Low", "Normal", "High", "Reference Range", "Units"),
            row(xs, "Glucose", "", "", "126", "70-99", "mg/dL"),
            row(xs, "Calcium", "", "9.4", "", "8.6-10.2", "mg/dL"),
            row(xs, "Iron", "31", "", "", "50-170", "ug/dL"),
        ],
    )

    assert [r.value for r in report.results] == ["126", "9.4", "31"]


def test_titles_whose_blanks_were_lost_are_titles(tmp_path: Path) -> None:
    xs = (40, 200, 280, 360)
    report = read(
        tmp_path,
        [
            row(xs, "TestName", "Your Va lue", "Units", "ReferenceRange"),
            row(xs, "Blood group", "B Positive"),
            row(xs, "Sodium", "140", "mmol/L", "135 - 145"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Blood group", "B Positive"),
        ("Sodium", "140"),
    ]


@pytest.mark.parametrize("titled", ["Current", "Befund heute"])
def test_titles_set_to_the_right_stand_over_their_cells_in_order(
    tmp_path: Path, titled: str
) -> None:
    titles, cells = (43, 202, 282, 357, 393, 463), (43, 157, 243, 318, 393, 463)
    report = read(
        tmp_path,
        [
            row(titles, "Test", "Previous", titled, "Change", "Units", "Reference"),
            row(cells, "Sodium", "138", "134 *", "-3 %", "mmol/L", "135 - 145"),
            row(cells, "Potassium", "4.4", "4.7", "+7 %", "mmol/L", "3.5 - 5.2"),
            row(cells, "TSH", "4.1", "5.9", "+44 %", "mIU/L", "0.4 - 4.0"),
        ],
    )

    assert printed(report) == [
        ("Sodium", "134", "mmol/L", "135 - 145"),
        ("Potassium", "4.7", "mmol/L", "3.5 - 5.2"),
        ("TSH", "5.9", "mIU/L", "0.4 - 4.0"),
    ]


def test_a_range_may_stand_in_two_columns_beside_short_names(tmp_path: Path) -> None:
    xs = (40, 110, 250, 341, 390, 475)
    report = read(
        tmp_path,
        [
            row(xs, "Kürzel", "Bezeichnung", "Einheit", "Wert", "Norm von", "Norm bis"),
            row(xs, "HB", "Hämoglobin", "g/dl", "15,1", "14,0", "18,0"),
            row(xs, "NA", "Natrium", "mmol/l", "141", "135", "145"),
        ],
    )

    assert printed(report) == [
        ("Hämoglobin", "15,1", "g/dl", "14,0 - 18,0"),
        ("Natrium", "141", "mmol/l", "135 - 145"),
    ]


def test_values_under_their_title_are_no_part_of_a_range_close_beside(
    tmp_path: Path,
) -> None:
    xs = (40, 125, 175, 242)
    report = read(
        tmp_path,
        [
            row(xs, "Analys", "Resultat", "Ref.intervall", "Enhet"),
            row((40, 150, 242), "B-Leukocyter", "9,8 * 3,5 - 8,8", "10E9/L"),
            row((40, 148, 175, 242), "B-Trombocyter", "366", "165 - 387", "10E9/L"),
            row((40, 152, 242), "P-CRP", "31  *  < 5", "mg/L"),
            row((40, 148, 175, 242), "P-Natrium", "138", "137 - 145", "mmol/L"),
        ],
    )

    assert printed(report) == [
        ("B-Leukocyter", "9,8", "10E9/L", "3,5 - 8,8"),
        ("B-Trombocyter", "366", "10E9/L", "165 - 387"),
        ("P-CRP", "31", "mg/L", "< 5"),
        ("P-Natrium", "138", "mmol/L", "137 - 145"),
    ]
    assert [r.flag for r in report.results] == ["*", None, "*", None]


def test_two_units_may_have_their_ranges_between_them(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Fraction"), (268, "%"), (279, "Ref. %"), (425, "g/L Ref. g/L")],
            row((40, 259, 279, 425), "Albumin", "58.1", "55.8 - 66.1", "41.3 40 - 48"),
            row(
                (40, 259, 279, 425), "Gamma globulin", "15.2", "11 - 19", "10.8 8 - 14"
            ),
            "Total protein : 71 g/L (66 - 83)",
        ],
    )

    assert printed(report) == [
        ("Albumin", "58.1", "%", "55.8 - 66.1"),
        ("Albumin", "41.3", "g/L", "40 - 48"),
        ("Gamma globulin", "15.2", "%", "11 - 19"),
        ("Gamma globulin", "10.8", "g/L", "8 - 14"),
        ("Total protein", "71", "g/L", "(66 - 83)"),
    ]


def test_numbers_set_to_the_right_of_their_column_are_under_its_title(
    tmp_path: Path,
) -> None:
    xs = (40, 273, 300, 430)
    report = read(
        tmp_path,
        [
            row((40, 170, 430), "ERITROGRAMA", "Resultado", "Valores de referência"),
            row(xs, "Hemoglobina", "13,5", "g/dL", "12,0 a 15,5"),
            row(xs, "VCM", "88,5", "fL", "82,0 a 98,0"),
            row(xs, "RDW", "12,9", "%", "11,9 a 15,5"),
            row((40, 282, 390, 430), "LEUCOGRAMA", "%", "/mm3", "Referência"),
            row((40, 282, 397, 430), "Eosinófilos", "4", "290", "50 a 500"),
        ],
    )

    assert printed(report) == [
        ("Hemoglobina", "13,5", "g/dL", "12,0 a 15,5"),
        ("VCM", "88,5", "fL", "82,0 a 98,0"),
        ("RDW", "12,9", "%", "11,9 a 15,5"),
        ("Eosinófilos", "4", "%", None),
        ("Eosinófilos", "290", "/mm3", "50 a 500"),
    ]


def test_units_over_two_results_have_one_range_that_is_of_the_last(
    tmp_path: Path,
) -> None:
    xs = (40, 160, 205, 255)
    report = read(
        tmp_path,
        [
            row(xs, "Fraction", "%", "g/L", "Valeurs de référence"),
            row(xs, "Albumine", "46,2", "39,7", "40,2 - 47,6"),
            row(xs, "Gamma globulines", "32,3", "27,8", "8,0 - 13,5"),
            row(xs, "Protéines totales", "", "86", "64 - 83"),
            "Rua das Acácias, 1200 - Central de atendimento: 11 5550-0000",
        ],
    )

    assert printed(report) == [
        ("Albumine", "46,2", "%", None),
        ("Albumine", "39,7", "g/L", "40,2 - 47,6"),
        ("Gamma globulines", "32,3", "%", None),
        ("Gamma globulines", "27,8", "g/L", "8,0 - 13,5"),
        ("Protéines totales", "86", "g/L", "64 - 83"),
    ]


def test_a_range_that_begins_left_of_its_column_stays_whole(tmp_path: Path) -> None:
    xs = (40, 175, 230, 310)
    report = read(
        tmp_path,
        [
            row(
                (40, 198, 254, 300), "LEUCOGRAMA", "%", "/mm3", "Valores de referência"
            ),
            row(xs, "Segmentados", "61,0 %", "4.526 /mm3", "1.500 a 7.000"),
            row(xs, "Basófilos", "0,5 %", "37 /mm3", "0 a 300"),
            row((40, 175, 254), "Plaquetas", "243.000 /mm3", "150.000 a 450.000"),
        ],
    )

    assert printed(report)[-1] == (
        "Plaquetas",
        "243.000",
        "/mm3",
        "150.000 a 450.000",
    )


def test_relative_and_absolute_results_stand_in_columns_of_their_own(
    tmp_path: Path,
) -> None:
    xs = (40, 180, 250, 340)
    report = read(
        tmp_path,
        [
            row(xs, "Fraktion", "relativ", "Referenz", "absolut"),
            row(xs, "Albumin", "53,1 %", "55,8-66,1", "3,93 g/dl"),
            row((*xs, 440), "Alpha-1-Globulin", "5,6 %", "2,9-4,9", "0,41 g/dl", "ALB"),
            row(xs, "A/G-Quotient", "1,13", "1,20-2,00"),
        ],
    )

    assert printed(report) == [
        ("Albumin", "53,1", "%", "55,8-66,1"),
        ("Albumin", "3,93", "g/dl", None),
        ("Alpha-1-Globulin", "5,6", "%", "2,9-4,9"),
        ("Alpha-1-Globulin", "0,41", "g/dl", None),
        ("A/G-Quotient", "1,13", None, "1,20-2,00"),
    ]


def test_dates_may_end_over_the_numbers_beside_them(tmp_path: Path) -> None:
    titles = (40, 170, 215, 280, 340)
    xs = (40, 208, 254, 280, 340)
    report = read(
        tmp_path,
        [
            row(titles, "Date", "03/12/24", "02/07/25"),
            row(titles, "Lab No.", "249901", "258812", "Units", "Reference"),
            row(xs, "Iron", "12", "5", "umol/L", "(9-30)"),
            row(xs, "Saturation", "18", "6", "%", "(15-45)"),
            row(xs, "Ferritin", "32", "9", "ug/L", "(30-200)"),
        ],
    )

    assert printed(report) == [
        ("Iron", "5", "umol/L", "(9-30)"),
        ("Saturation", "6", "%", "(15-45)"),
        ("Ferritin", "9", "ug/L", "(30-200)"),
    ]


def test_a_letter_before_a_number_in_its_cell_ends_the_name(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row((40, 150, 250, 330), "TEST", "RESULT", "LIMITS", "UNITS"),
            row((40, 150, 250, 330), "TSH", "3.4", "0.45 - 4.50", "uIU/mL"),
            row((40, 250, 330), "Thyroid peroxidase (TPO) Ab 88", "0 - 34", "IU/mL"),
            row((40, 150, 250, 330), "ABO grouping", "AB", "", ""),
        ],
    )

    assert printed(report) == [
        ("TSH", "3.4", "uIU/mL", "0.45 - 4.50"),
        ("Thyroid peroxidase (TPO) Ab", "88", "IU/mL", "0 - 34"),
        ("ABO grouping", "AB", None, None),
    ]


def test_a_cutoff_is_the_range_where_no_other_is_printed(tmp_path: Path) -> None:
    xs = (40, 200, 300, 400)
    alone = read(
        tmp_path,
        [
            row(xs, "Analyte", "Result", "Cutoff", "Units"),
            row(xs, "Opiates", "NEGATIVE", "100", "ng/mL"),
            row(xs, "Methadone", "POSITIVE", "150", "ng/mL"),
        ],
    )
    beside = read(
        tmp_path,
        [
            row((*xs, 480), "Analyte", "Result", "Cutoff", "Units", "Reference range"),
            row((*xs, 480), "Opiates", "NEGATIVE", "100", "ng/mL", "Negative"),
            row((*xs, 480), "Methadone", "POSITIVE", "150", "ng/mL", "Negative"),
        ],
    )

    assert [r.reference_range for r in alone.results] == ["100", "150"]
    assert [r.reference_range for r in beside.results] == ["Negative", "Negative"]


def test_a_column_of_specimens_is_enough_beside_names_and_results(
    tmp_path: Path,
) -> None:
    xs = (61, 255, 387)
    report = read(
        tmp_path,
        [
            row(xs, "Infection", "Sample", "Result"),
            row(xs, "Chlamydia", "Urine", "Negative"),
            row(xs, "Chlamydia", "Throat swab", "Negative"),
            row(xs, "Syphilis", "Finger-prick blood", "Non-reactive"),
            row(xs, "Hepatitis C antibody", "Finger-prick blood", "Non-reactive"),
            "The laboratory has finished testing.",
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Chlamydia", "Negative"),
        ("Chlamydia", "Negative"),
        ("Syphilis", "Non-reactive"),
        ("Hepatitis C antibody", "Non-reactive"),
    ]
