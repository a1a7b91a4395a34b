"""Units, ranges and marks that stand apart from the columns they belong to."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.report import Interpretation
from tests.reports.parser.drawing import Ink, printed, read, row


def test_of_several_dated_columns_the_latest_is_read(tmp_path: Path) -> None:
    xs = (36, 130, 204, 264, 324, 389, 455)
    dates = ("14/02/21", "20/02/22", "03/03/23", "11/03/24")
    report = read(
        tmp_path,
        [
            row(xs, "Date", "", *dates, "(Reference)"),
            row(xs, "Sodium", "mmol/L", "140", "141", "139", "138", "(137-147)"),
            row(xs, "Urea", "mmol/L", "5.1", "5.5", "5.8", "6.2", "(2.5-7.5)"),
        ],
    )

    assert printed(report) == [
        ("Sodium", "138", "mmol/L", "(137-147)"),
        ("Urea", "6.2", "mmol/L", "(2.5-7.5)"),
    ]


def test_a_specimen_letter_and_a_sign_before_the_value_are_no_part_of_it(
    tmp_path: Path,
) -> None:
    xs = (44, 205, 245, 285, 330, 410)
    report = read(
        tmp_path,
        [
            row(xs, "Bepaling", "Mat.", "", "Uitslag", "Eenheid", "Referentie"),
            row(xs, "Natrium", "S", "", "139", "mmol/L", "135 - 145"),
            row(xs, "Kalium", "S", "+", "5,9", "mmol/L", "3,5 - 5,0"),
            row(xs, "Ferritine", "S", "-", "11", "µg/L", "20 - 200"),
        ],
    )

    assert [r.value for r in report.results] == ["139", "5,9", "11"]
    assert report.results[1].interpretation is Interpretation.ABNORMAL


@pytest.mark.parametrize("label", ["Optimal zone", "Reference range", "Normal range"])
def test_a_range_on_its_own_line_is_no_row(tmp_path: Path, label: str) -> None:
    report = read(
        tmp_path,
        [
            "Glucose",
            [Ink(50, "97"), Ink(110, "mg/dL")],
            [Ink(220, f"{label}: 65 - 94 mg/dL", size=8)],
            "HbA1c",
            [Ink(50, "5.2"), Ink(110, "%")],
            [Ink(220, f"{label}: 4.0 - 5.6 %", size=8)],
        ],
    )

    assert printed(report) == [
        ("Glucose", "97", "mg/dL", "65 - 94"),
        ("HbA1c", "5.2", "%", "4.0 - 5.6"),
    ]


def test_a_count_may_be_printed_with_its_power_alone(tmp_path: Path) -> None:
    xs = (44, 235, 270, 350)
    report = read(
        tmp_path,
        [
            row(xs, "Test", "Flag", "Result", "Reference Range - Units"),
            row(xs, "WBC", "A", "3.8", "4.0 - 11.0 x E9/L"),
            row(xs, "RBC", "", "4.21", "4.00 - 5.10 x E12/L"),
        ],
    )

    assert [r.units for r in report.results] == ["x E9/L", "x E12/L"]
    assert [r.interpretation for r in report.results] == [
        Interpretation.ABNORMAL,
        Interpretation.NORMAL,
    ]


def test_titles_may_stand_to_the_left_of_their_columns(tmp_path: Path) -> None:
    titles, xs = (71, 188, 239, 295, 372), (40, 213, 254, 326, 428)
    report = read(
        tmp_path,
        [
            row(titles, "Test name", "Result", "units", "Ref. range", "Site Code"),
            row(xs, "GLUCOSE", "243 H", "mg/dL", "70 - 110", "[512]"),
            row(xs, "UREA NITROGEN", "31 H", "mg/dL", "8 - 26", "[512]"),
            row(xs, "SODIUM", "128 L", "mmol/L", "136 - 145", "[512]"),
        ],
    )

    assert printed(report) == [
        ("GLUCOSE", "243", "mg/dL", "70 - 110"),
        ("UREA NITROGEN", "31", "mg/dL", "8 - 26"),
        ("SODIUM", "128", "mmol/L", "136 - 145"),
    ]
