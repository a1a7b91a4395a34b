"""What a line below a row adds to it, and what it does not."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Ink, printed, read, row

XS = (40, 220, 300, 380)


def test_bands_apart_from_their_limits_below_a_range_are_not_of_it(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Units", "Limits"),
            row(XS, "Rubella IgG", "5.61", "index", "Immune >0.99"),
            [(400, "Non-immune"), (470, "<0.90")],
            [(400, "Equivocal"), (470, "0.90 - 0.99")],
            row(XS, "Varicella IgG", "1204", "index", "Immune >165"),
        ],
    )

    assert printed(report) == [
        ("Rubella IgG", "5.61", "index", "Immune >0.99"),
        ("Varicella IgG", "1204", "index", "Immune >165"),
    ]


def test_a_heading_between_dashes_is_not_of_the_name_above(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Units", "Reference"),
            row(XS, "Cardiolipin IgG", "48.2", "GPL", "<15.0"),
            row(XS, "Cardiolipin IgM", "12.4", "MPL", "<15.0"),
            "-- REFERENCE VALUE --",
            "<15.0 GPL (negative)",
        ],
    )

    assert printed(report) == [
        ("Cardiolipin IgG", "48.2", "GPL", "<15.0"),
        ("Cardiolipin IgM", "12.4", "MPL", "<15.0"),
    ]


def test_a_finding_may_take_two_lines(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Analyte", "Value", "Units", "Reference"),
            row(XS, "Hemoglobin", "10.9", "g/dL", "11.7 - 15.5"),
            row(XS, "Antibody Screen", "NO ANTIBODIES"),
            [Ink(220, "DETECTED", y=89)],
            row(XS, "Ferritin", "9", "ng/mL", "16 - 154"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Hemoglobin", "10.9"),
        ("Antibody Screen", "NO ANTIBODIES DETECTED"),
        ("Ferritin", "9"),
    ]


def test_a_bold_heading_over_plain_names_names_no_row(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Test", "Result", "Units", "Reference"),
            row(XS, "Gentamicin, Trough", "0.6", "mcg/mL", "<1.0"),
            [Ink(40, "DIRECT ANTIGLOBULIN TEST", bold=True)],
            row(XS, "Blood Type, Newborn", "A Positive"),
            row(XS, "Direct Antiglobulin Test, IgG", "Negative", "", "Negative"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Gentamicin, Trough", "0.6"),
        ("Blood Type, Newborn", "A Positive"),
        ("Direct Antiglobulin Test, IgG", "Negative"),
    ]


def test_a_known_name_is_no_method_of_the_heading_over_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, "Observation", "Result", "Units", "Reference"),
            row(XS, "Potassium", "4.4", "mmol/L", "3.5 - 5.1"),
            "Lipids",
            row(XS, "LDL Direct", "71", "mg/dL", "< 100"),
        ],
    )

    assert [(r.test_name, r.value) for r in report.results] == [
        ("Potassium", "4.4"),
        ("LDL Direct", "71"),
    ]
