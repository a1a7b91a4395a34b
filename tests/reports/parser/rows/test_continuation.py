"""What a line below a row adds to it, and what it does not."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import printed, read, row

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
