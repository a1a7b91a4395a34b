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


BARS = (
    ("Glucose", "102 mg/dL", "70", "99"),
    ("Insulin", "14.2 µIU/mL", "2.6", "24.9"),
    ("ALT", "61 U/L", "7", "55"),
    ("Albumin", "4.6 g/dL", "3.5", "5.0"),
    ("Ferritin", "212 ng/mL", "24", "336"),
)


def test_numbers_under_bars_beside_values_are_the_ends_of_ranges(
    tmp_path: Path,
) -> None:
    report = read(tmp_path, [row((40, 150, 350, 450), *bar) for bar in BARS])

    assert [r.reference_range for r in report.results] == [
        "70 - 99",
        "2.6 - 24.9",
        "7 - 55",
        "3.5 - 5.0",
        "24 - 336",
    ]


def test_earlier_results_that_do_not_all_rise_are_no_ranges(tmp_path: Path) -> None:
    earlier = [*BARS[:4], ("Ferritin", "212 ng/mL", "336", "24")]

    report = read(tmp_path, [row((40, 150, 350, 450), *bar) for bar in earlier])

    assert {r.reference_range for r in report.results} == {None}


def test_earlier_results_that_rise_a_little_are_no_ranges(tmp_path: Path) -> None:
    earlier = [(name, value, "98", "99") for name, value, *_ in BARS]

    report = read(tmp_path, [row((40, 150, 350, 450), *bar) for bar in earlier])

    assert {r.reference_range for r in report.results} == {None}
