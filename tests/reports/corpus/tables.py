"""Columns and tables as a layout describes them, and their restyling for a seed.

Values only: the sheet prints them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from reportlab.lib.colors import Color

from tests.reports.corpus.glyphs import BOLD, width_of
from tests.reports.corpus.printed import BREAK, Row


@dataclass(frozen=True, slots=True)
class Cell:
    """Text of one cell; `raised` is small and high, as of a laboratory id or a power.

    `tail` follows what is raised.
    """

    text: str
    bold: bool = False
    colour: Color | None = None
    raised: str = ""
    tail: str = ""
    size: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """Where a cell stands, in points from the left paper edge."""

    key: str
    x: float
    title: str = ""
    align: str = "l"
    width: float = 0


_COLUMN = re.compile(r"(\w+)@(\d+)([lrc]?)(?:w(\d+))?(?:=(.*))?")


def columns(*specs: str) -> tuple[Column, ...]:
    """Columns written short: `value@250r=Result`, `name@40w120=Test` wraps at 120."""
    found = []
    for spec in specs:
        match = _COLUMN.fullmatch(spec)
        if match is None:
            raise ValueError(f"no column: {spec}")
        key, x, align, width, title = match.groups()
        found.append(
            Column(key, float(x), title or "", align or "l", float(width or 0))
        )
    return tuple(found)


CellsOf = Callable[[Row], dict[str, "str | Cell"]]


def plain_cells(row: Row) -> dict[str, str | Cell]:
    return {
        "name": row.option("as", row.name),
        "value": row.option("print", row.value),
        "unit": row.unit,
        "range": row.range,
        "flag": row.flag,
        "method": row.option("method"),
    }


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's look.

    `order` is the order in which cells enter the page's stream; `middle` centres the
    lines of a cell in the height of its row.
    """

    columns: tuple[Column, ...]
    font: str = "Helvetica"
    size: float = 9
    leading: float = 12
    order: str = "row"
    rules: str = "none"
    titles_bold: bool = True
    titles_again: bool = True
    cells: CellsOf = plain_cells
    middle: bool = False
    left: float = 0
    right: float = 0


def shifted(grid: Grid, by: float) -> Grid:
    """The same table further right."""
    return replace(grid, columns=tuple(replace(c, x=c.x + by) for c in grid.columns))


_NARROWER = {
    "Vera": ("Vera", "Helvetica", "Times-Roman"),
    "Helvetica": ("Helvetica", "Times-Roman"),
}

_TITLES = (
    ("Test", "Test Name", "Investigation", "Analyte", "Parameter", "Component"),
    ("Result", "Results", "Value", "Observed Value", "Your Result", "Finding"),
    ("Units", "Unit", "UOM", "UNITS", "UNIT"),
    (
        "Reference Range",
        "Reference Interval",
        "Normal Range",
        "Normal Values",
        "Expected Values",
        "Ref. Range",
        "REFERENCE",
        "Bio. Ref. Interval",
    ),
    ("Flag", "Flags", "Abn"),
    ("Method", "Technology", "Methodology"),
)


def restyled(grid: Grid, dice: random.Random) -> Grid:
    """The same table in another type, stream order and wording of its titles."""
    font = dice.choice(_NARROWER.get(grid.font, (grid.font,)))
    by = dice.uniform(-5, 5)
    moved = tuple(replace(column, x=column.x + by) for column in grid.columns)
    named = tuple(
        replace(column, title=_another_title(column, moved[n + 1 :], font, grid, dice))
        for n, column in enumerate(moved)
    )
    return replace(
        grid,
        columns=named,
        font=font,
        leading=grid.leading * dice.uniform(0.97, 1.15),
        order=dice.choice(("row", "column", "values_first")),
        titles_bold=dice.random() < 0.7,
    )


def _another_title(
    column: Column,
    right: tuple[Column, ...],
    font: str,
    grid: Grid,
    dice: random.Random,
) -> str:
    """A synonym that ends before the next column, or the title itself."""
    if column.align != "l" or BREAK in column.title:
        return column.title
    room = min((c.x for c in right if c.align == "l"), default=column.x + 70)
    fitting = [
        synonym
        for synonyms in _TITLES
        if column.title.casefold() in {s.casefold() for s in synonyms}
        for synonym in synonyms
        if column.x + width_of(synonym, BOLD[font], grid.size) + 6 < room
    ]
    return dice.choice(fitting) if fitting else column.title
