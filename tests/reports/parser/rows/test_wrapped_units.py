"""Units printed over two lines, in tables without titles that are known."""

from __future__ import annotations

import pytest

from reports.parser.pages import Page, Word
from reports.parser.parsing import parse_report_pages

SIZE, LEAD = 9.0, 31.0
NAMES, VALUES, UNITS, RANGES = 30.0, 220.0, 315.0, 410.0
ROWS = (
    ("eGFR", "98", ("mL/min/", "1.73m2"), "> 60"),
    ("RBC Count", "4.8", ("million/", "cumm"), "4.2 - 5.9"),
    ("WBC Count", "6400", ("cells/cum", "m"), "4000 - 11000"),
    ("ESR", "14", ("mm in 1st", "hr"), "0 - 20"),
    ("Hemoglobin", "13.5", ("g/dL",), "12 - 15"),
)


def _words(text: str, x: float, top: float) -> list[Word]:
    words = []
    for piece in text.split():
        right = x + 0.5 * SIZE * len(piece)
        words.append(Word(piece, x, top, right, top + SIZE, SIZE))
        x = right + 0.28 * SIZE
    return words


@pytest.mark.parametrize("shift", [0.0, 5.0], ids=["first line", "between"])
def test_a_unit_over_two_lines_is_one_unit(shift: float) -> None:
    words = _words("Patient: Alex Example", NAMES, 40)
    for n, (name, value, unit, spread) in enumerate(ROWS):
        top = 80 + LEAD * n
        level = top + (shift if len(unit) > 1 else 0.0)
        for text, x in ((name, NAMES), (value, VALUES), (spread, RANGES)):
            words += _words(text, x, level)
        for line, text in enumerate(unit):
            words += _words(text, UNITS, top + 10.5 * line)

    report = parse_report_pages([Page(1, 595.0, 842.0, tuple(words))])

    assert [
        (row.test_name, row.value, row.units, row.reference_range)
        for row in report.results
    ] == [
        ("eGFR", "98", "mL/min/1.73m2", "> 60"),
        ("RBC Count", "4.8", "million/cumm", "4.2 - 5.9"),
        ("WBC Count", "6400", "cells/cumm", "4000 - 11000"),
        ("ESR", "14", "mm in 1st hr", "0 - 20"),
        ("Hemoglobin", "13.5", "g/dL", "12 - 15"),
    ]
