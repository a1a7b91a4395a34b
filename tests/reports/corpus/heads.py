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


def clinic_page(sheet: Sheet, name: str, patient: str, age: str) -> None:
    middle = sheet.width / 2
    letterhead(
        sheet,
        name,
        "Near Bus Stand, Udaharanpur   Mob: 90000 00000",
        x=middle,
        align="c",
    )
    sheet.y = 72
    two_blocks(
        sheet,
        [("Patient Name", patient), ("Age/Gender", age), ("Referred By", "Self")],
        [("Sample Id", "0031442"), ("Date", "12/08/2023"), ("UHID", "U-551020")],
        sep=": -",
    )
    sheet.rule(40, 555, sheet.y - 5)
    sheet.down(12)
    page_footer(sheet, "Timings : 7.00 am to 9.00 pm   Sunday : 7.00 am to 1.00 pm")


def ward_page(sheet: Sheet, lab: str, patient: str) -> None:
    letterhead(sheet, lab, "7 Placeholder Street   Tel 555 010 7000")
    sheet.y = 70
    two_blocks(
        sheet,
        [
            ("Patient", patient),
            ("Age", "63 Years 4 Months"),
            ("Sex", "Female"),
            ("Height", "164 cm"),
        ],
        [
            ("Accession No", "902 1187 44"),
            ("Sample Id", "7731209"),
            ("Collected", "04-06-2024 09:12"),
            ("Ward / Bed", "5 / 12"),
        ],
    )
    sheet.down(10)
    page_footer(sheet, f"{lab}  Form 12 Rev 3  Printed 05-06-2024 11:20:44")


def office_page(sheet: Sheet, lab: str, patient: str, *, y: float = 66) -> None:
    letterhead(sheet, lab, "CLIA 00D0000000   Director: P. Nobody, MD")
    sheet.y = y
    two_blocks(
        sheet,
        [
            ("Patient Name", patient),
            ("Date of Birth", "09/22/1981"),
            ("Age", "42"),
            ("Account", "10-4471"),
        ],
        [
            ("Accession No", "T2405521"),
            ("Collected", "05/30/2024 10:15 AM"),
            ("Received", "05/30/2024 06:40 PM"),
            ("Final", "05/31/2024 07:02 AM"),
        ],
    )
    sheet.down(10)
    page_footer(sheet, f"{lab}   Phone 555-010-2299   Fax 555-010-2298")
