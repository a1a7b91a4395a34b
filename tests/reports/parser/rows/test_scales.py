"""Results drawn on scales between the ends of their ranges."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Ink, printed, read, row


def test_a_value_over_a_scale_has_the_range_of_its_ends(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(249, "41 ng/mL")],
            [Ink(40, "Ferritin", bold=True), (480, "Optimal")],
            [Ink(264, "30", size=7), Ink(405, "400", size=7)],
            "",
            [(241, "58 µg/dL")],
            [Ink(40, "Zinc", bold=True), (480, "Low")],
            [Ink(262, "60", size=7), Ink(406, "120", size=7)],
        ],
    )

    assert printed(report) == [
        ("Ferritin", "41", "ng/mL", "30 - 400"),
        ("Zinc", "58", "µg/dL", "60 - 120"),
    ]


def test_a_value_may_stand_between_the_ends_with_its_unit_above(
    tmp_path: Path,
) -> None:
    xs = (46, 283, 515)
    report = read(
        tmp_path,
        [
            [(262, "Haemoglobin (g/dL)")],
            row(xs, "Min 12.0", "13.8", "Max 15.0"),
            "",
            [(262, "Ferritin (µg/L)")],
            row(xs, "Min 15", "12", "Max 150"),
        ],
    )

    assert printed(report) == [
        ("Haemoglobin", "13.8", "g/dL", "12.0 - 15.0"),
        ("Ferritin", "12", "µg/L", "15 - 150"),
    ]
