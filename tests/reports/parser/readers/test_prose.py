"""Results quoted in running text."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import printed, read


def test_results_are_read_from_a_sentence_and_doses_are_not(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            "Laboratory of 11.03.2024: Hb 11.9 g/dl (12-16), Potassium 3.9 mmol/l",
            "(3.5-5.1), CRP 48 mg/l (<5), TSH 1.8 mU/l (0.3-4.2).",
            "",
            "Discharged with Ramipril 5 mg 1-0-0.",
        ],
    )

    assert printed(report) == [
        ("Hb", "11.9", "g/dl", "(12-16)"),
        ("Potassium", "3.9", "mmol/l", "(3.5-5.1)"),
        ("CRP", "48", "mg/l", "(<5)"),
        ("TSH", "1.8", "mU/l", "(0.3-4.2)"),
    ]


def test_a_grid_has_a_whole_result_in_each_cell(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Na 139 mmol/L (135-145)"), (220, "K 4.4 mmol/L (3.5-5.1)")],
            [(40, "Urea 6.1 mmol/L (2.5-7.8)"), (220, "Albumin 41 g/L (35-50)")],
        ],
    )

    assert sorted(printed(report)) == [
        ("Albumin", "41", "g/L", "(35-50)"),
        ("K", "4.4", "mmol/L", "(3.5-5.1)"),
        ("Na", "139", "mmol/L", "(135-145)"),
        ("Urea", "6.1", "mmol/L", "(2.5-7.8)"),
    ]


BLOODS = [
    "Bloods: Hb 118 g/L, WCC 17.2 x10^9/L, CRP 188 mg/L, Na 131 mmol/L, K 4.6",
    "mmol/L, Creatinine 142 umol/L.",
    "Given amoxicillin 500 mg, prednisolone 30 mg, and 2 L of oxygen.",
]


def test_a_letter_may_list_results_without_ranges(tmp_path: Path) -> None:
    report = read(tmp_path, ["Dear Doctor, the laboratory reported:", "", *BLOODS])

    assert printed(report) == [
        ("Hb", "118", "g/L", None),
        ("WCC", "17.2", "x10^9/L", None),
        ("CRP", "188", "mg/L", None),
        ("Na", "131", "mmol/L", None),
        ("K", "4.6", "mmol/L", None),
        ("Creatinine", "142", "umol/L", None),
    ]


def test_a_list_beside_columns_of_results_is_of_another_day(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Sodium"), (220, "140 mmol/L"), (320, "135 - 145")],
            [(40, "Potassium"), (220, "4.4 mmol/L"), (320, "3.5 - 5.1")],
            [(40, "Urea"), (220, "6.1 mmol/L"), (320, "2.5 - 7.8")],
            [(40, "Albumin"), (220, "41 g/L"), (320, "35 - 50")],
            "",
            *BLOODS,
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Sodium", "140"),
        ("Potassium", "4.4"),
        ("Urea", "6.1"),
        ("Albumin", "41"),
    ]
