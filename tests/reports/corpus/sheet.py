"""The paper a layout prints on: text, rules and tables at fixed places, page breaks.

Draws with reportlab and collects the truth of each row as it is printed. How a report
looks belongs to the layouts; nothing here knows one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

from reports.management.scorecard.truth import TrueRow
from tests.reports.corpus.glyphs import (
    BOLD,
    draw_run,
    draw_words,
    register_fonts,
    width_of,
)
from tests.reports.corpus.printed import (
    BREAK,
    Row,
    read_rows,
    truth_of,
)
from tests.reports.corpus.tables import Cell, Column, Grid, restyled

BLACK = HexColor("#000000")
GREY = HexColor("#777777")
RED = HexColor("#c00000")
FAINT = HexColor("#dddddd")
BLUE = HexColor("#1f4e79")


@dataclass
class Sheet:
    """One report being printed. `y` runs down from the top edge, in points."""

    path: Path
    layout: str
    seed: int = 0
    page_size: tuple[float, float] = A4
    top: float = 60
    bottom: float = 60
    font: str = "Helvetica"
    size: float = 9
    rows: list[TrueRow] = field(default_factory=list)
    panel: str | None = None
    y: float = 0
    page: int = 0
    wordwise: bool = False
    turned: bool = False
    spacing: float = 0

    def __post_init__(self) -> None:
        register_fonts()
        paper = self.page_size[::-1] if self.turned else self.page_size
        self.canvas = Canvas(
            str(self.path), pagesize=paper, invariant=1, pageCompression=0
        )
        self.canvas.setTitle(self.layout)
        self.dice: random.Random | None = None
        if self.seed:
            # repeatable throws, nothing secret
            self.dice = random.Random(f"{self.layout}:{self.seed}")  # noqa: S311
            self.wordwise = self.dice.random() < 0.3
        self.width, self.height = self.page_size
        self.on_page: Callable[[Sheet], None] | None = None
        self._drawn: list[tuple[float, Callable[[], None]]] = []
        self._open: Grid | None = None
        self._looks: dict[Grid, Grid] = {}
        self.pages_total = 0
        self._rows_before = 0

    def begin(self, on_page: Callable[[Sheet], None] | None = None) -> None:
        """Open the first page; on_page prints what each page repeats."""
        self.on_page = on_page
        self._start_page()

    def save(self) -> None:
        self._finish_page()
        self.canvas.save()

    def new_page(self) -> None:
        grid, self._open = self._open, None
        self._finish_page()
        self._start_page()
        if grid is not None and grid.titles_again:
            self.titles(grid)
        self._open = grid

    def need(self, height: float) -> None:
        if self.y + height > self.height - self.bottom:
            self.new_page()

    def down(self, by: float) -> None:
        self.y += by

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        font: str | None = None,
        size: float | None = None,
        bold: bool = False,
        align: str = "l",
        colour: Color = BLACK,
        angle: float = 0,
        rank: float = 0,
    ) -> None:
        """Put text with its baseline y points from the top."""
        face = font or self.font
        face = BOLD.get(face, face) if bold else face
        points = size or self.size
        if align != "l":
            width = width_of(text, face, points)
            x -= width if align == "r" else width / 2

        def draw() -> None:
            self.canvas.saveState()
            self.canvas.setFillColor(colour)
            self.canvas.translate(x, self.height - y)
            if angle:
                self.canvas.rotate(angle)
            if self.wordwise and face != "Courier":
                draw_words(self.canvas, text, face, points)
            else:
                draw_run(self.canvas, text, face, points, self.spacing)
            self.canvas.restoreState()

        self._drawn.append((rank, draw))

    def say(self, x: float, text: str, *, gap: float = 12, **look: object) -> None:
        """Put a line of text at the cursor and move below it."""
        self.need(gap)
        self.text(x, self.y, text, **look)
        self.down(gap)

    def prose(
        self, x: float, width: float, text: str, *, size: float = 8, gap: float = 10
    ) -> None:
        for line in simpleSplit(text, self.font, size, width):
            self.say(x, line, size=size, gap=gap)

    def rule(self, x0: float, x1: float, y: float, *, weight: float = 0.5) -> None:
        def draw() -> None:
            self.canvas.setLineWidth(weight)
            self.canvas.line(x0, self.height - y, x1, self.height - y)

        self._drawn.append((0, draw))

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: Color | None = None,
        stroke: bool = True,
    ) -> None:
        """A rectangle whose top left corner is x, y."""

        def draw() -> None:
            self.canvas.saveState()
            if fill is not None:
                self.canvas.setFillColor(fill)
            self.canvas.setLineWidth(0.4)
            self.canvas.rect(
                x,
                self.height - y - height,
                width,
                height,
                stroke=int(stroke),
                fill=int(fill is not None),
            )
            self.canvas.restoreState()

        self._drawn.append((-1, draw))

    def _look(self, grid: Grid) -> Grid:
        """The table as given, or restyled once where a seed asks for another look."""
        if self.dice is None:
            return grid
        if grid not in self._looks:
            look = restyled(grid, self.dice)
            self._looks |= {grid: look, look: look}
        return self._looks[grid]

    def read(self, text: str, *, decimal_comma: bool = False) -> list[Row]:
        return read_rows(text, dice=self.dice, decimal_comma=decimal_comma)

    def titles(self, grid: Grid) -> None:
        """Print the column titles; they return on each new page until `close`."""
        grid = self._look(grid)
        self.down(4)
        lines = max((c.title.count(BREAK) + 1 for c in grid.columns), default=1)
        for column in grid.columns:
            for n, line in enumerate(column.title.split(BREAK)):
                self.text(
                    column.x,
                    self.y + n * grid.leading,
                    line,
                    font=grid.font,
                    size=grid.size,
                    bold=grid.titles_bold,
                    align=column.align,
                )
        self.down(grid.leading * lines)
        if grid.rules != "none":
            self.rule(
                grid.left or 40,
                grid.right or self.width - 40,
                self.y - grid.leading + 3,
            )
        self.down(2)
        self._open = grid

    def close(self) -> None:
        self._open = None

    def section(
        self,
        text: str,
        *,
        x: float = 40,
        panel: str | None = "",
        gap: float = 13,
        before: float = 4,
        keep: float = 30,
        **look: object,
    ) -> None:
        """Print a section header; rows that follow belong to its panel."""
        self.need(keep)
        self.down(before)
        self.say(x, text, gap=gap, **{"bold": True, **look})
        self.panel = text if panel == "" else panel

    def print_rows(self, grid: Grid, rows: list[Row] | str) -> None:
        for row in self.read(rows) if isinstance(rows, str) else rows:
            self.print_row(grid, row)

    def print_row(self, grid: Grid, row: Row) -> None:
        grid = self._look(grid)
        cells = grid.cells(row)
        below = row.option("below")
        depth = max(
            len(self._lines(c, cells.get(c.key, ""), grid)) for c in grid.columns
        )
        self.need(grid.leading * (depth + bool(below)))
        for rank, column in enumerate(grid.columns):
            cell = cells.get(column.key, "")
            cell = Cell(cell) if isinstance(cell, str) else cell
            lines = self._lines(column, cell, grid)
            first = (depth - len(lines)) / 2 if grid.middle else 0
            for n, line in enumerate(lines):
                self._print_line(grid, column, cell, line, n + first, rank)
        if below:
            self.text(
                grid.columns[0].x + 4,
                self.y + grid.leading * depth,
                below,
                font=grid.font,
                size=grid.size - 2,
                colour=GREY,
            )
            depth += 1
        self._rule_row(grid, grid.leading * depth)
        self.down(grid.leading * depth)
        if row.value and "unanswered" not in row.options:
            self.rows.append(truth_of(row, self.panel))

    def add_truth(self, text: str, *, decimal_comma: bool = False) -> None:
        """Expect rows that the layout prints by hand."""
        for row in read_rows(text, decimal_comma=decimal_comma):
            self.rows.append(truth_of(row, self.panel))

    def side_by_side(self, grids: list[Grid], tables: list[list[Row]]) -> None:
        """Print tables next to each other, line by line across the page."""
        start = self.y
        lowest = start
        for grid, rows in zip(grids, tables, strict=True):
            self.y = start
            self.titles(grid)
            self.print_rows(grid, rows)
            lowest = max(lowest, self.y)
        self._open = None
        self.y = lowest

    def _lines(self, column: Column, cell: str | Cell, grid: Grid) -> list[str]:
        text = cell if isinstance(cell, str) else cell.text
        lines = text.split(BREAK)
        if column.width:
            lines = [
                part
                for line in lines
                for part in simpleSplit(line, grid.font, grid.size, column.width)
            ]
        return lines

    def _print_line(
        self, grid: Grid, column: Column, cell: Cell, line: str, n: float, rank: int
    ) -> None:
        size = cell.size or grid.size
        y = self.y + n * grid.leading
        order = {"row": 0.0, "column": 1.0 + rank, "values_first": 0.0}[grid.order]
        if grid.order == "values_first":
            order = -0.5 if column.key == "value" else 0.0
        self.text(
            column.x,
            y,
            line,
            font=grid.font,
            size=size,
            bold=cell.bold,
            align=column.align,
            colour=cell.colour or BLACK,
            rank=order,
        )
        if cell.raised:
            face = BOLD[grid.font] if cell.bold else grid.font
            end = column.x + width_of(line, face, size)
            small = size * 0.65
            self.text(end, y - 3, cell.raised, font=grid.font, size=small, rank=order)
            end += width_of(cell.raised, grid.font, small)
            if cell.tail:
                self.text(end, y, cell.tail, font=grid.font, size=size, rank=order)

    def _rule_row(self, grid: Grid, depth: float) -> None:
        if grid.rules == "none":
            return
        left, right = grid.left or 40, grid.right or self.width - 40
        self.rule(left, right, self.y + depth - grid.leading + 3, weight=0.3)
        if grid.rules == "boxes":
            top = self.y - grid.leading + 3
            edges = [left, right]
            edges += [c.x - 3 for c in grid.columns[1:] if c.align == "l"]
            for x in edges:
                self.box(x, top, 0.2, depth)

    def _start_page(self) -> None:
        self.page += 1
        self.y = self.top
        if self.on_page is not None:
            self.on_page(self)

    def _finish_page(self) -> None:
        self.canvas.saveState()
        if self.turned:
            self.canvas.setPageRotation(90)
            self.canvas.translate(self.height, 0)
            self.canvas.rotate(90)
        for _, draw in sorted(self._drawn, key=lambda entry: entry[0]):
            draw()
        self.canvas.restoreState()
        self._drawn.clear()
        self.canvas.showPage()
        new = self.rows[self._rows_before :]
        self.rows[self._rows_before :] = [replace(r, page=self.page) for r in new]
        self._rows_before = len(self.rows)
