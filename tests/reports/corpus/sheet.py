"""The paper a layout prints on: text, rules and tables at fixed places, page breaks.

Draws with reportlab and collects the truth of each row as it is printed. How a report
looks belongs to the layouts; nothing here knows one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from tests.reports.corpus.printed import (
    BREAK,
    KERN,
    Row,
    plain_text,
    read_rows,
    truth_of,
)
from tests.reports.corpus.truth import TrueRow

BLACK = HexColor("#000000")
GREY = HexColor("#777777")
RED = HexColor("#c00000")
FAINT = HexColor("#dddddd")
BLUE = HexColor("#1f4e79")

_BOLD = {
    "Helvetica": "Helvetica-Bold",
    "Times-Roman": "Times-Bold",
    "Courier": "Courier-Bold",
    "Vera": "VeraBd",
    "STSong-Light": "STSong-Light",
}
_SYMBOL = set("≥≤↑↓βα")
_DINGBATS = set("▲▼●✓")
_WIDE = set("μ⁹⁶¹²")


def _register_fonts() -> None:
    known = pdfmetrics.getRegisteredFontNames()
    if "Vera" not in known:
        pdfmetrics.registerFont(TTFont("Vera", "Vera.ttf"))
        pdfmetrics.registerFont(TTFont("VeraBd", "VeraBd.ttf"))
    if "STSong-Light" not in known:
        pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))


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
    """A table's look. `order` is the order in which cells enter the page's stream."""

    columns: tuple[Column, ...]
    font: str = "Helvetica"
    size: float = 9
    leading: float = 12
    order: str = "row"
    rules: str = "none"
    titles_bold: bool = True
    titles_again: bool = True
    cells: CellsOf = plain_cells
    left: float = 0
    right: float = 0


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
        _register_fonts()
        paper = self.page_size[::-1] if self.turned else self.page_size
        self.canvas = Canvas(
            str(self.path), pagesize=paper, invariant=1, pageCompression=0
        )
        self.canvas.setTitle(self.layout)
        self.dice: random.Random | None = None
        if self.seed:
            # repeatable throws, nothing secret
            self.dice = random.Random(f"{self.layout}:{self.seed}")  # noqa: S311
        self.width, self.height = self.page_size
        self.on_page: Callable[[Sheet], None] | None = None
        self._drawn: list[tuple[float, Callable[[], None]]] = []
        self._open: Grid | None = None
        self.pages_total = 0

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
        face = _BOLD.get(face, face) if bold else face
        points = size or self.size
        if align != "l":
            width = _width_of(text, face, points)
            x -= width if align == "r" else width / 2

        def draw() -> None:
            self.canvas.saveState()
            self.canvas.setFillColor(colour)
            self.canvas.translate(x, self.height - y)
            if angle:
                self.canvas.rotate(angle)
            if self.wordwise and face != "Courier":
                _draw_words(self.canvas, text, face, points)
            else:
                _draw_run(self.canvas, text, face, points, self.spacing)
            self.canvas.restoreState()

        self._drawn.append((rank, draw))

    def say(self, x: float, text: str, *, gap: float = 12, **look: object) -> None:
        """Put a line of text at the cursor and move below it."""
        self.need(gap)
        self.text(x, self.y, text, **look)  # type: ignore[arg-type]
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

    def read(self, text: str, *, decimal_comma: bool = False) -> list[Row]:
        return read_rows(text, dice=self.dice, decimal_comma=decimal_comma)

    def titles(self, grid: Grid) -> None:
        """Print the column titles; they return on each new page until `close`."""
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
        self.say(x, text, gap=gap, **{"bold": True, **look})  # type: ignore[arg-type]
        self.panel = text if panel == "" else panel

    def print_rows(self, grid: Grid, rows: list[Row] | str) -> None:
        for row in self.read(rows) if isinstance(rows, str) else rows:
            self.print_row(grid, row)

    def print_row(self, grid: Grid, row: Row) -> None:
        cells = grid.cells(row)
        below = row.option("below")
        depth = max(
            len(self._lines(c, cells.get(c.key, ""), grid)) for c in grid.columns
        )
        self.need(grid.leading * (depth + bool(below)))
        for rank, column in enumerate(grid.columns):
            cell = cells.get(column.key, "")
            cell = Cell(cell) if isinstance(cell, str) else cell
            for n, line in enumerate(self._lines(column, cell, grid)):
                self._print_line(grid, column, cell, line, n, rank)
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
        self, grid: Grid, column: Column, cell: Cell, line: str, n: int, rank: int
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
        if cell.raised and n == 0:
            face = _BOLD[grid.font] if cell.bold else grid.font
            end = column.x + _width_of(line, face, size)
            small = size * 0.65
            self.text(end, y - 3, cell.raised, font=grid.font, size=small, rank=order)
            end += _width_of(cell.raised, grid.font, small)
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


def shifted(grid: Grid, by: float) -> Grid:
    """The same table further right."""
    return replace(grid, columns=tuple(replace(c, x=c.x + by) for c in grid.columns))


def text_of(cell: str | Cell) -> str:
    return plain_text(cell if isinstance(cell, str) else cell.text)


def _runs(text: str, face: str) -> list[tuple[str, str]]:
    """Split by the font that has the glyphs: the standard fonts lack some signs."""
    if face == "STSong-Light":
        return [(face, text)]
    runs: list[tuple[str, str]] = []
    for sign in text:
        own = face
        if sign in _SYMBOL:
            own = "Symbol"
        elif sign in _DINGBATS:
            own = "ZapfDingbats"
        elif (sign in _WIDE and sign not in "²¹") or ord(sign) > 0x2E80:
            own = "STSong-Light"
        if runs and runs[-1][0] == own:
            runs[-1] = (own, runs[-1][1] + sign)
        else:
            runs.append((own, sign))
    return runs


def _width_of(text: str, face: str, size: float) -> float:
    total = text.count(KERN) * size * 0.22
    for own, run in _runs(text.replace(KERN, ""), face):
        total += pdfmetrics.stringWidth(run, own, size)
    return total


def _draw_words(canvas: Canvas, text: str, face: str, size: float) -> None:
    """One show operator a word, as many report engines print."""
    x = 0.0
    for word in text.split(" "):
        canvas.saveState()
        canvas.translate(x, 0)
        _draw_run(canvas, word, face, size, 0)
        canvas.restoreState()
        x += _width_of(word + " ", face, size)


def _draw_run(
    canvas: Canvas, text: str, face: str, size: float, spacing: float
) -> None:
    x = 0.0
    for n, part in enumerate(text.split(KERN)):
        x += size * 0.22 if n else 0
        for own, run in _runs(part, face):
            canvas.setFont(own, size)
            canvas.drawString(x, 0, run, charSpace=spacing)
            x += pdfmetrics.stringWidth(run, own, size) + spacing * len(run)
