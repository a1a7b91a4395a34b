"""Blocks that stand around the results: patient details, letterheads, footers.

What is printed here must never become a result row.
"""

from __future__ import annotations

from reportlab.lib.colors import Color

from tests.reports.corpus.sheet import BLACK, Sheet


def pairs_block(
    sheet: Sheet,
    x: float,
    pairs: list[tuple[str, str]],
    *,
    width: float = 90,
    gap: float = 11,
    size: float = 8,
    sep: str = ":",
    y: float | None = None,
) -> None:
    """Labels with their values in a second column; the cursor ends below."""
    if y is not None:
        sheet.y = y
    for label, value in pairs:
        sheet.text(x, sheet.y, label, size=size)
        sheet.text(x + width, sheet.y, f"{sep} {value}".strip(), size=size, bold=True)
        sheet.down(gap)


def two_blocks(
    sheet: Sheet,
    left: list[tuple[str, str]],
    right: list[tuple[str, str]],
    *,
    x: tuple[float, float] = (40, 320),
    width: float = 90,
    size: float = 8,
    gap: float = 11,
    sep: str = ":",
) -> None:
    start = sheet.y
    pairs_block(sheet, x[0], left, width=width, size=size, gap=gap, sep=sep)
    low = sheet.y
    pairs_block(sheet, x[1], right, width=width, size=size, gap=gap, sep=sep, y=start)
    sheet.y = max(low, sheet.y)


def letterhead(
    sheet: Sheet,
    name: str,
    *lines: str,
    x: float = 40,
    y: float = 40,
    size: float = 15,
    colour: Color = BLACK,
    align: str = "l",
) -> None:
    sheet.text(x, y, name, size=size, bold=True, colour=colour, align=align)
    for n, line in enumerate(lines):
        sheet.text(x, y + 12 + 9 * n, line, size=7, align=align)


def page_footer(sheet: Sheet, text: str, *, x: float = 40, size: float = 7) -> None:
    foot = sheet.height - 30
    total = sheet.pages_total or 1
    sheet.text(x, foot, text, size=size)
    sheet.text(
        sheet.width - 40, foot, f"Page {sheet.page} of {total}", size=size, align="r"
    )
