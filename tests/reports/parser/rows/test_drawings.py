"""Axes of charts, and badges under values, beside results on cards."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Drawn, Ink, printed, read, row


def card(
    name: str, value: str, spread: str, ticks: tuple[str, str, str]
) -> list[list[Drawn] | str]:
    """A result at the left, the axis of its chart at the right, four lines high."""
    return [
        [(40, name), (300, ticks[0])],
        [Ink(40, value, size=11)],
        [(40, spread), (300, ticks[1])],
        "",
        [(300, ticks[2]), (330, "Nov 22"), (400, "May 23")],
        "",
    ]


def test_numbers_along_a_chart_are_no_results(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            *card("Ferritin", "14 µg/L", "Reference: 15 - 150", ("160", "80", "0")),
            *card("Glucose", "5.6 mmol/L", "Reference: < 5.6", ("8", "5", "2")),
        ],
    )

    assert printed(report) == [
        ("Ferritin", "14", "µg/L", "15 - 150"),
        ("Glucose", "5.6", "mmol/L", "< 5.6"),
    ]


def test_results_in_even_steps_under_one_another_stay(tmp_path: Path) -> None:
    xs = (40, 200, 260, 340)
    rows: list[list[Drawn]] = []
    for name, value in (("Sodium", "140"), ("Chloride", "100"), ("Urea", "60")):
        rows += [row(xs, name, value, "mmol/L", "20 - 150"), []]

    report = read(tmp_path, rows)

    assert [result.value for result in report.results] == ["140", "100", "60"]


def test_a_badge_stands_between_a_value_and_its_range(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            [(40, "Triglycerides"), (300, "96")],
            "IN RANGE",
            "Reference range: <150 mg/dL",
            "",
            [(40, "Total cholesterol"), (300, "214")],
            "OUT OF RANGE",
            "Reference range: <200 mg/dL",
        ],
    )

    assert printed(report) == [
        ("Triglycerides", "96", "mg/dL", "<150"),
        ("Total cholesterol", "214", "mg/dL", "<200"),
    ]
