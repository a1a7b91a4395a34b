"""Columns whose cells take several lines: which lines are of which row."""

from __future__ import annotations

import pytest

from reports.parser.pages import Page, Word
from reports.parser.parsing import parse_report_pages

SIZE, LEAD = 9.0, 11.0
X = {"name": 30, "value": 228, "unit": 296, "range": 384}
TITLES = ("Test Name", "Result", "Unit", "Reference Range")
# Name, value, and the lines of unit and range as a narrow column breaks them.
ROWS = (
    ("Haemoglobin", "13.9", ("g%",), ("Male", "13.0-18.0", "Female", "11.5-16.5")),
    ("RBC Count", "4.81", ("millions", "/cumm"), ("Male 4.8-5.5", "Female 4.3-4.8")),
    ("WBC Count", "6400", ("cells/cum", "m"), ("4000-11000",)),
    ("Platelet Count", "2.5", ("Lakh/µL",), ("1.5-4.5",)),
    ("MCV", "88", ("fl",), ("80-100",)),
    ("Creatinine", "0.9", ("mg/dl",), ("Male", "0.7-1.3", "Female", "0.6-1.1")),
)


def set_page(share: float, *, titled: bool) -> Page:
    """Return a page of the rows, with a share of what is free above each cell."""
    words: list[Word] = []

    def put(text: str, x: float, y: float) -> None:
        for piece in text.split():
            right = x + 0.5 * SIZE * len(piece)
            words.append(Word(piece, x, y, right, y + SIZE, SIZE))
            x = right + 0.28 * SIZE

    put("Example Laboratory", 30, 36)
    put("Patient: Alex Example Age / Sex: 44 Y / F", 30, 62)
    y = 110.0
    for x, title in zip(X.values(), TITLES if titled else (), strict=False):
        put(title, x, y)
    y += 18
    for name, value, *broken in ROWS:
        cells = ((name,), (value,), *broken)
        most = max(map(len, cells))
        for x, cell in zip(X.values(), cells, strict=True):
            for n, text in enumerate(cell):
                put(text, x, y + (share * (most - len(cell)) + n) * LEAD)
        y += most * LEAD + 3
    return Page(1, 595, 842, tuple(words))


@pytest.mark.parametrize(
    ("share", "titled"),
    [(0.0, True), (0.5, True), (1.0, True), (0.0, False), (1.0, False)],
)
def test_each_row_has_the_lines_of_its_own_cells(share, titled):
    rows = parse_report_pages([set_page(share, titled=titled)]).results

    assert [(row.test_name, row.value, row.reference_range) for row in rows] == [
        (name, value, " ".join(spread)) for name, value, _, spread in ROWS
    ]
    if share == 0.0:
        assert [row.units for row in rows] == ["".join(unit) for _, _, unit, _ in ROWS]
