"""Rows completed from words beside them, in tables without titles that are known."""

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


# What a table prints of its rows: texts beside one another, each perhaps over lines.
PRINTED = {
    "unit behind the name": lambda n, v, u, r: (f"{n} ({u})", v, r),
    "unit behind a dash": lambda n, v, u, r: (f"{n} - {u}", v, r),
    "unit bare behind the name": lambda n, v, u, r: (f"{n} {u}", v, r),
    "unit below the value": lambda n, v, u, r: (n, f"{v}\n{u}", r),
    "unit below the range": lambda n, v, u, r: (n, v, f"{r}\n{u}"),
    "range below the unit": lambda n, v, u, r: (n, v, f"{u}\n{r}"),
    "range below the value": lambda n, v, u, r: (n, f"{v} {u}\n{r}"),
    "range over two lines": lambda n, v, u, r: (n, v, u, r.replace(" - ", " -\n")),
    "range in two columns": lambda n, v, u, r: (n, v, u, *r.split(" - ")),
    "behind a comma": lambda n, v, u, r: (f"{n}: {v} {u}, ref {r}",),
    "behind pipes": lambda n, v, u, r: (f"{n} | {v} | {u} | {r}",),
}
TESTS = (
    ("Glucose Fasting", "92", "mg/dL", "70 - 110"),
    ("Creatinine", "0.9", "mg/dL", "0.6 - 1.2"),
    ("Sodium", "140", "mmol/L", "136 - 145"),
    ("Potassium", "4.1", "mmol/L", "3.5 - 5.1"),
    ("Albumin", "4.2", "g/dL", "3.5 - 5.2"),
)


def _read(cells: list[tuple[str, ...]]) -> list[tuple[str | None, ...]]:
    words = _words("Patient: Alex Example", NAMES, 40)
    for n, row in enumerate(cells):
        for at, cell in enumerate(row):
            for line, text in enumerate(cell.split("\n")):
                words += _words(text, NAMES + 130 * at, 80 + LEAD * n + 11 * line)
    report = parse_report_pages([Page(1, 700.0, 842.0, tuple(words))])
    return [(r.test_name, r.value, r.units, r.reference_range) for r in report.results]


@pytest.mark.parametrize("look", PRINTED)
def test_a_unit_and_a_range_are_read_wherever_they_stand(look: str) -> None:
    assert _read([PRINTED[look](*row) for row in TESTS]) == list(TESTS)


def test_a_name_with_a_percent_sign_says_the_unit() -> None:
    rows = [("Neutrophils %", "58", "40 - 75"), ("% Monocytes", "4", "2 - 10")]
    assert [row[:3] for row in _read([*rows, ("Basophils (%)", "1", "0 - 1")])] == [
        ("Neutrophils %", "58", "%"),
        ("% Monocytes", "4", "%"),
        ("Basophils", "1", "%"),
    ]


AROUND = ((0.9, 1.1), (1.1, 0.8))


def test_earlier_results_are_no_range() -> None:
    rows = [
        (name, value, unit, f"{float(value) * low:.1f}", f"{float(value) * high:.1f}")
        for (name, value, unit, _), (low, high) in zip(
            TESTS,
            ((0.9, 1.1), (1.1, 0.8), (0.9, 1.2), (1.1, 0.9), (1.2, 1.1)),
            strict=True,
        )
    ]
    assert [row[3] for row in _read(rows)] == [None] * len(TESTS)
