"""Page layout of documents: text flowing over numbered US Letter pages.

Measures are in points from the page's upper left corner. Pages are drawn once their
number is known, for "page 1 of 3".
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from reportlab.lib.pagesizes import LETTER
from reportlab.pdfgen.canvas import Canvas

from labs.documents.typeface import (
    BOLD,
    MISSING,
    REGULAR,
    break_text_into_lines,
    cut_line_to_width,
    register_pdf_typeface,
    replace_unprintable_characters,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PAGE_WIDTH, PAGE_HEIGHT = LETTER
MARGIN = 40.0
WIDTH = PAGE_WIDTH - 2 * MARGIN
# Below it stands the foot.
BOTTOM = PAGE_HEIGHT - 46.0
INK = 0.0
SOFT = 0.38
LINE = 0.72
LEADING = 1.3
# The column of labels of a block.
_LABEL = 62.0


@dataclass(frozen=True, slots=True)
class Document:
    """A finished PDF; `name` is its file name, without patient names."""

    name: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `share` is its part of the width."""

    title: str
    share: float
    is_bold: bool = False


class Sheet:
    """Pages filled from top to bottom; `y` is the current position.

    `running_head` is what pages after the first say on top, `foot` what each page says
    at its bottom, beside its number.
    """

    def __init__(self, *, title: str, running_head: str, foot: str) -> None:
        register_pdf_typeface()
        self.title = title
        self.running_head = running_head
        self.foot = foot
        self.y = MARGIN
        self.has_missing = False
        # In the language in which the sheet is written, not that of who combines it.
        self._page_words = _("Page %(number)d of %(count)d")
        self._missing_words = _(
            "%(sign)s marks a character that can't be printed; see the order."
        ) % {"sign": MISSING}
        self._pages: list[list[Callable[[Canvas], None]]] = [[]]

    def draw(self, what: Callable[[Canvas], None]) -> None:
        """Draw on the current page, in the library's own coordinates."""
        self._pages[-1].append(what)

    def write_line(
        self,
        text: str,
        *,
        x: float = MARGIN,
        y: float | None = None,
        size: float = 9,
        font: str = REGULAR,
        grey: float = INK,
    ) -> None:
        """Write one line with its base at `y`, by default the current position."""
        shown = self._replace_unprintable(text)
        base = PAGE_HEIGHT - (self.y if y is None else y)

        def put(canvas: Canvas) -> None:
            canvas.setFillGray(grey)
            canvas.setFont(font, size)
            canvas.drawString(x, base, shown)

        self.draw(put)

    def draw_rule(
        self, *, grey: float = LINE, width: float = 0.6, x: float = MARGIN
    ) -> None:
        """Draw a horizontal line at the current position."""
        height = PAGE_HEIGHT - self.y

        def put(canvas: Canvas) -> None:
            canvas.setStrokeGray(grey)
            canvas.setLineWidth(width)
            canvas.line(x, height, MARGIN + WIDTH, height)

        self.draw(put)

    def draw_box(
        self,
        *,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: float | None = None,
        stroke: float | None = LINE,
    ) -> None:
        """Draw a box whose upper left corner is at `x`, `y`."""
        base = PAGE_HEIGHT - y - height

        def put(canvas: Canvas) -> None:
            if fill is not None:
                canvas.setFillGray(fill)
            if stroke is not None:
                canvas.setStrokeGray(stroke)
                canvas.setLineWidth(0.6)
            canvas.rect(
                x,
                base,
                width,
                height,
                fill=int(fill is not None),
                stroke=int(stroke is not None),
            )

        self.draw(put)

    def draw_notice(self, text: str) -> None:
        """Draw a warning in a box."""
        self.y += 7
        self.ensure_room(18)
        self.draw_box(x=MARGIN, y=self.y, width=WIDTH, height=18, stroke=0, fill=0.92)
        self.write_line(text, x=MARGIN + 8, y=self.y + 12.5, size=10, font=BOLD)
        self.y += 18

    def split_lines(
        self, text: str, size: float, width: float, *, font: str = REGULAR
    ) -> list[str]:
        """Split a text into lines; record whether characters were replaced."""
        return break_text_into_lines(
            self._replace_unprintable(text), size, width, font=font
        )

    def ensure_room(self, height: float) -> bool:
        """Start a new page unless `height` is left; return whether it did."""
        if self.y + height <= BOTTOM:
            return False
        self._pages.append([])
        self.y = MARGIN + 4
        head = cut_line_to_width(
            self._replace_unprintable(self.running_head), 8.5, WIDTH, font=BOLD
        )
        self.write_line(head, size=8.5, font=BOLD)
        self.y += 7
        self.draw_rule()
        self.y += 14
        return True

    def write_heading(self, text: str, *, keep: float = 30) -> None:
        """Write a heading with at least `keep` of what follows on its page."""
        self.y += 7
        self.ensure_room(16 + keep)
        self.y += 8
        self.write_line(text, size=9.5, font=BOLD)
        self.y += 5
        self.draw_rule(grey=INK, width=0.8)
        self.y += 4

    def write_paragraph(
        self,
        text: str,
        *,
        size: float = 9,
        font: str = REGULAR,
        grey: float = INK,
        x: float = MARGIN,
        width: float | None = None,
    ) -> None:
        """Write text that breaks into lines and over pages."""
        room = MARGIN + WIDTH - x if width is None else width
        for line in self.split_lines(text, size, room, font=font):
            self.ensure_room(size * LEADING)
            self.y += size
            self.write_line(line, x=x, size=size, font=font, grey=grey)
            self.y += size * (LEADING - 1)

    def write_table(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[str]],
        *,
        size: float = 8.5,
    ) -> None:
        """Write rows that break into lines; the head repeats on each page."""
        widths = [column.share * WIDTH for column in columns]
        self._write_table_head(columns, widths)
        for row in rows:
            cells = [
                self.split_lines(text, size, width - 8, font=font)
                for text, width, font in zip(
                    row,
                    widths,
                    (_column_font(column) for column in columns),
                    strict=True,
                )
            ]
            # No row is higher than a page; the longest names take some ten lines.
            height = max(map(len, cells)) * size * LEADING + 3
            if self.ensure_room(height):
                self._write_table_head(columns, widths)
            self._write_table_row(columns, widths, cells, size)
            self.y += height
            self.draw_rule(grey=0.85, width=0.4)

    def write_pairs(
        self,
        blocks: Sequence[tuple[str, Sequence[tuple[str, str]]]],
        *,
        size: float = 8.5,
        gap: float = 14,
    ) -> None:
        """Write blocks side by side, each a title and pairs of label and text."""
        width = (WIDTH - gap * (len(blocks) - 1)) / len(blocks)
        laid = [
            [
                (label, self.split_lines(text, size, width - _LABEL))
                for label, text in pairs
                if text
            ]
            for _, pairs in blocks
        ]
        heights = [
            sum(len(lines) for _, lines in block) * size * LEADING for block in laid
        ]
        self.ensure_room(22 + max(heights))
        top = self.y + 9
        for number, ((title, _pairs), block) in enumerate(
            zip(blocks, laid, strict=True)
        ):
            x = MARGIN + number * (width + gap)
            self._write_block(title, block, x=x, y=top, width=width, size=size)
        self.y = top + 9 + max(heights)

    def to_pdf(self) -> bytes:
        """Return the PDF: the same bytes for the same drawing."""
        return combine_documents_into_pdf((self,), title=self.title)

    def draw_pages_on(self, canvas: Canvas) -> None:
        """Draw the pages on a canvas, after its earlier pages."""
        for number, page in enumerate(self._pages, 1):
            for put in page:
                put(canvas)
            self._write_foot(canvas, number)
            canvas.showPage()

    def _write_foot(self, canvas: Canvas, number: int) -> None:
        height = PAGE_HEIGHT - BOTTOM - 14
        canvas.setStrokeGray(LINE)
        canvas.setLineWidth(0.6)
        canvas.line(MARGIN, height + 10, MARGIN + WIDTH, height + 10)
        canvas.setFillGray(SOFT)
        canvas.setFont(REGULAR, 7.5)
        canvas.drawString(MARGIN, height, replace_unprintable_characters(self.foot))
        canvas.drawRightString(
            MARGIN + WIDTH,
            height,
            self._page_words % {"number": number, "count": len(self._pages)},
        )
        if self.has_missing:
            canvas.drawString(
                MARGIN,
                height - 10,
                self._missing_words,
            )

    def _write_block(
        self,
        title: str,
        pairs: Sequence[tuple[str, Sequence[str]]],
        *,
        x: float,
        y: float,
        width: float,
        size: float,
    ) -> None:
        self.write_line(title, x=x, y=y, size=9.5, font=BOLD)
        line = PAGE_HEIGHT - y - 4

        def put(canvas: Canvas) -> None:
            canvas.setStrokeGray(INK)
            canvas.setLineWidth(0.8)
            canvas.line(x, line, x + width, line)

        self.draw(put)
        base = y + 6
        for label, lines in pairs:
            self.write_line(label, x=x, y=base + size, size=size - 1, grey=SOFT)
            for text in lines:
                base += size * LEADING
                self.write_line(text, x=x + _LABEL, y=base - size * 0.3, size=size)

    def _write_table_head(
        self, columns: Sequence[Column], widths: Sequence[float]
    ) -> None:
        self.y += 9
        x = MARGIN
        for column, width in zip(columns, widths, strict=True):
            self.write_line(column.title, x=x, size=7.5, grey=SOFT)
            x += width
        self.y += 4
        self.draw_rule(grey=LINE, width=0.6)

    def _write_table_row(
        self,
        columns: Sequence[Column],
        widths: Sequence[float],
        cells: Sequence[Sequence[str]],
        size: float,
    ) -> None:
        x = MARGIN
        for column, width, lines in zip(columns, widths, cells, strict=True):
            base = self.y + size + 1.5
            for line in lines:
                self.write_line(line, x=x, y=base, size=size, font=_column_font(column))
                base += size * LEADING
            x += width

    def _replace_unprintable(self, text: str) -> str:
        shown = replace_unprintable_characters(text)
        self.has_missing = self.has_missing or MISSING in shown
        return shown


def combine_documents_into_pdf(sheets: Iterable[Sheet], *, title: str) -> bytes:
    """Combine several documents into one PDF, each with its own page numbers."""
    opened = BytesIO()
    canvas = Canvas(opened, pagesize=LETTER, invariant=1, pageCompression=1)
    canvas.setTitle(title)
    canvas.setAuthor("Assay")
    for sheet in sheets:
        sheet.draw_pages_on(canvas)
    canvas.save()
    return opened.getvalue()


def _column_font(column: Column) -> str:
    return BOLD if column.is_bold else REGULAR
