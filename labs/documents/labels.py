"""Specimen labels, for sheets of 30 or a label printer."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from reportlab.lib.pagesizes import LETTER
from reportlab.pdfgen.canvas import Canvas

from labs.documents.codes import draw_barcode
from labs.documents.specimens import describe_order_specimen
from labs.documents.typeface import (
    BOLD,
    REGULAR,
    cut_line_to_width,
    measure_text_width,
    register_pdf_typeface,
    replace_unprintable_characters,
)
from portal.lib.choices import OpenChoices
from portal.lib.english import in_english
from users.states import Gender

if TYPE_CHECKING:
    from datetime import date

    from labs.models import Order

_INCH = 72.0
LABEL_WIDTH, LABEL_HEIGHT = 2.625 * _INCH, 1.0 * _INCH
# The common sheet: three columns of ten, 1/8 inch between the columns.
_COLUMNS, _ROWS = 3, 10
_LEFT, _TOP, _STEP = 0.1875 * _INCH, 0.5 * _INCH, 2.75 * _INCH
_PAD = 7.0


class LabelStock(OpenChoices):
    """The stock labels are printed on."""

    SHEET = "sheet", "Sheets of 30 labels (US Letter, 2 5/8 by 1 inch)"
    ROLL = "roll", "Label printer, one label at a time (2 5/8 by 1 inch)"


@in_english
def render_specimen_labels(
    order: Order,
    *,
    collected_on: date,
    number: int,
    stock: LabelStock = LabelStock.SHEET,
) -> bytes:
    """Render numbered labels of an order with the patient's name and birth date.

    Source: Contract 6.16; Ours: the label sizes, and what stands on them.
    """
    register_pdf_typeface()
    opened = BytesIO()
    size = LETTER if stock == LabelStock.SHEET else (LABEL_WIDTH, LABEL_HEIGHT)
    canvas = Canvas(opened, pagesize=size, invariant=1, pageCompression=1)
    canvas.setTitle(f"Labels {order.sample_id}")
    canvas.setAuthor("Assay")
    for label in range(number):
        x, y, fills_page = _label_position(label, stock)
        if label and fills_page:
            canvas.showPage()
        _draw_label(
            canvas,
            order,
            collected_on=collected_on,
            count=f"{label + 1} of {number}",
            x=x,
            y=y,
        )
    canvas.showPage()
    canvas.save()
    return opened.getvalue()


def _label_position(label: int, stock: LabelStock) -> tuple[float, float, bool]:
    """Return a label's lower left corner, and whether it starts a page."""
    if stock != LabelStock.SHEET:
        return 0.0, 0.0, True
    on_page = label % (_COLUMNS * _ROWS)
    row, column = divmod(on_page, _COLUMNS)
    y = LETTER[1] - _TOP - (row + 1) * LABEL_HEIGHT
    return _LEFT + column * _STEP, y, on_page == 0


def _draw_label(
    canvas: Canvas, order: Order, *, collected_on: date, count: str, x: float, y: float
) -> None:
    details = order.patient_details or {}
    gender = Gender.known(str(details.get("gender", "")))
    born = order.patient_dob
    left, right = x + _PAD, x + LABEL_WIDTH - _PAD
    room = right - left
    first, last = details.get("first_name", ""), details.get("last_name", "")
    name = f"{last}, {first}" if first and last else last or first
    canvas.setFillGray(0)
    _write_fitted_line(canvas, name, x=left, y=y + 56, size=10, width=room, font=BOLD)
    about = [
        f"DOB {_format_day(born)}" if born else "",
        str(gender.label) if gender else str(details.get("gender", "")),
        describe_order_specimen(order),
    ]
    line = "   ".join(text for text in about if text)
    _write_fitted_line(canvas, line, x=left, y=y + 46, size=7.5, width=room)
    barcode = draw_barcode(order.sample_id, width=LABEL_WIDTH - 6, height=18)
    if barcode:
        wide, put_bars = barcode
        put_bars(canvas, x + (LABEL_WIDTH - wide) / 2, y + 25)
    _write_fitted_line(
        canvas, order.sample_id, x=left, y=y + 16, size=8, width=room, font=BOLD
    )
    drawn = f"Collected {_format_day(collected_on)}"
    shift = right - measure_text_width(drawn, 7)
    _write_fitted_line(canvas, drawn, x=shift, y=y + 16, size=7, width=room)
    _write_fitted_line(
        canvas,
        f"{order.lab.name}   order {str(order.pk)[:8]}",
        x=left,
        y=y + 7,
        size=6.5,
        width=room - 32,
    )
    canvas.setFont(REGULAR, 6.5)
    canvas.drawRightString(right, y + 7, count)


def _write_fitted_line(
    canvas: Canvas,
    text: str,
    *,
    x: float,
    y: float,
    size: float,
    width: float,
    font: str = REGULAR,
) -> None:
    """Write one line; shrink a long one to two thirds, then cut it."""
    shown = replace_unprintable_characters(text).replace("\n", " ")
    least = size * 2 / 3
    while size > least and measure_text_width(shown, size, font=font) > width:
        size -= 0.25
    canvas.setFont(font, size)
    canvas.drawString(x, y, cut_line_to_width(shown, size, width, font=font))


def _format_day(day: date) -> str:
    return f"{day.day} {day:%b %Y}"
