"""The laboratory requisition of an order.

It is printed in black on white, so that it can be faxed.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from PIL import Image
from reportlab.lib.utils import ImageReader

from labs.documents.codes import draw_barcode, draw_qr_code
from labs.documents.guides import COLLECTOR, FASTING, NOT_FASTING
from labs.documents.sheet import MARGIN, PAGE_HEIGHT, SOFT, WIDTH, Column, Sheet
from labs.documents.specimens import describe_marker_tube, describe_order_tubes
from labs.documents.typeface import (
    BOLD,
    break_text_into_lines,
    measure_text_width,
    replace_unprintable_characters,
)
from labs.states.accounts import Billing
from labs.states.catalogue import CollectionMethod
from portal.lib.english import in_english
from users.states import Gender

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from reportlab.pdfgen.canvas import Canvas

    from labs.models import Order
    from labs.queries.orders.answers import AnsweredQuestion

_RIGHT = MARGIN + WIDTH
_QR = 62.0
_TESTS = (
    Column("Code", 0.16, is_bold=True),
    Column("Test", 0.4),
    Column("Sample", 0.32),
    Column("Fasting", 0.12),
)
_DIAGNOSES = (Column("ICD-10-CM", 0.16, is_bold=True), Column("Diagnosis", 0.84))
_ANSWERS = (Column("Question", 0.62), Column("Answer", 0.38, is_bold=True))
_SIGNATURE_MAX_PIXELS = 4_000_000
# Pixels that are drawn, at 432 dpi: packing all that may come takes 1.5 s.
_SIGNATURE_SHOWN = (1200, 204)
_SIGNATURE_FORMATS = ("JPEG", "PNG")


@dataclass(frozen=True, slots=True)
class RequisitionContent:
    """Everything printed on a requisition besides the order itself.

    `ordered_at` is in the zone it is printed in. `comment` is already joined with the
    account's. `diagnoses` are codes with their descriptions, which may be empty. `url`
    is the order's page, for whoever may see it.
    """

    order: Order
    ordered_at: datetime
    comment: str
    answers: Sequence[AnsweredQuestion]
    diagnoses: Sequence[tuple[str, str]]
    url: str


def render_requisition_pdf(content: RequisitionContent) -> bytes:
    """Render the requisition as its own document."""
    return render_requisition(content).to_pdf()


@in_english
def render_requisition(content: RequisitionContent) -> Sheet:
    """Render the requisition of an order loaded by orders_with_details.

    Source: Contract 6.16; what stands on it is Ours, after 42 CFR 493.1241(c): who
    orders, patient's name, sex and birth date, tests, source and date of the sample.
    """
    order = content.order
    sheet = Sheet(
        title=f"Requisition {order.sample_id}",
        running_head=(
            f"Requisition, continued     sample {order.sample_id}     DOB"
            f" {_birth_date(order)}     {_patient_name(order)}"
        ),
        foot=f"Order {order.pk}     Sample {order.sample_id}",
    )
    _draw_head(sheet, content)
    _draw_notices(sheet, order)
    _draw_people(sheet, content)
    _draw_tests(sheet, order)
    if content.diagnoses:
        sheet.write_heading("Diagnoses", keep=40)
        sheet.write_table(_DIAGNOSES, content.diagnoses)
    if content.answers:
        sheet.write_heading("Lab questions", keep=40)
        sheet.write_table(
            _ANSWERS,
            [(f"{one.marker}: {one.question}", one.answer) for one in content.answers],
        )
    if content.comment:
        sheet.write_heading("Comments")
        sheet.write_paragraph(content.comment)
    _draw_collection(sheet, order)
    _draw_signature(sheet, order)
    return sheet


def _draw_head(sheet: Sheet, content: RequisitionContent) -> None:
    order = content.order
    sheet.write_line("Laboratory requisition", y=58, size=18, font=BOLD)
    lab = order.lab
    lines = break_text_into_lines(lab.name, 11, 250, font=BOLD)
    y = 78.0
    for line in lines:
        sheet.write_line(line, y=y, size=11, font=BOLD)
        y += 13
    sheet.write_line(
        f"{lab.first_line_address}, {lab.city} {lab.zipcode}", y=y, size=8.5, grey=SOFT
    )
    put_square = draw_qr_code(content.url, size=_QR)
    sheet.draw(lambda canvas: put_square(canvas, _RIGHT - _QR, MARGIN))
    edge = _RIGHT - _QR - 10
    barcode = draw_barcode(order.sample_id, width=250, height=36)
    if barcode:
        wide, put_bars = barcode
        sheet.draw(lambda canvas: put_bars(canvas, edge - wide, PAGE_HEIGHT - 78))
        middle = edge - wide / 2
    else:
        middle = edge - 60
    shown = order.sample_id or "No sample ID"
    half = measure_text_width(replace_unprintable_characters(shown), 10, font=BOLD) / 2
    sheet.write_line(shown, x=middle - half, y=92, size=10, font=BOLD)
    sheet.y = max(y, 102.0) + 8
    sheet.draw_rule(grey=0, width=1.2)


def _draw_notices(sheet: Sheet, order: Order) -> None:
    """Draw the warnings in boxes."""
    notices = [
        ("STAT: collect and process with priority", order.priority),
        ("CANCELLED: do not collect, do not process", _is_cancelled(order)),
        ("SANDBOX: not a real order, do not collect", order.tenant.is_sandbox),
    ]
    for text, holds in notices:
        if holds:
            sheet.draw_notice(text)


def _draw_people(sheet: Sheet, content: RequisitionContent) -> None:
    order = content.order
    account = order.lab_account
    details = order.patient_details or {}
    gender = Gender.known(str(details.get("gender", "")))
    proxy = details.get("medical_proxy") or {}
    physician = order.physician or {}
    insurance = order.health_insurance or {}
    billing = Billing.known(order.billing_type)
    sheet.y += 6
    sheet.write_pairs(
        (
            (
                "Patient",
                (
                    ("Name", _patient_name(order)),
                    ("DOB", _birth_date(order)),
                    ("Sex", str(gender.label) if gender else details.get("gender", "")),
                    ("Phone", details.get("phone_number") or ""),
                    ("Address", _format_address(order.patient_address)),
                    ("Medical proxy", _full_name(proxy)),
                ),
            ),
            (
                "Account",
                (
                    (
                        "Number",
                        account.provider_account_id if account else "Platform account",
                    ),
                    ("Name", account.account_name if account else ""),
                    ("Client", order.tenant.team.name),
                    ("Ordered", _format_moment(content.ordered_at)),
                ),
            ),
        )
    )
    sheet.write_pairs(
        (
            (
                "Ordering physician",
                (
                    ("Name", _full_name(physician) or "None named"),
                    ("NPI", physician.get("npi", "")),
                    ("Email", physician.get("email") or ""),
                ),
            ),
            (
                "Billing",
                (
                    ("Type", str(billing.label) if billing else order.billing_type),
                    ("Payor", insurance.get("payor_code") or ""),
                    ("Member ID", insurance.get("insurance_id") or ""),
                    ("Relationship", insurance.get("responsible_relationship") or ""),
                    ("Insured", _full_name(insurance.get("responsible_details") or {})),
                ),
            ),
        )
    )


def _draw_tests(sheet: Sheet, order: Order) -> None:
    markers = sorted(order.placed.markers, key=lambda one: (one.name, one.pk))
    sheet.write_heading(f"Tests ordered: {order.lab_test.name}", keep=40)
    sheet.write_table(
        _TESTS,
        [
            (
                marker.provider_id,
                marker.name,
                describe_marker_tube(marker),
                "Yes" if marker.fasting else "",
            )
            for marker in markers
        ],
    )
    sheet.ensure_room(12)
    sheet.y += 11
    many = "test" if len(markers) == 1 else "tests"
    sheet.write_line(f"{len(markers)} {many} in total", size=8, grey=SOFT)


def _draw_collection(sheet: Sheet, order: Order) -> None:
    method = CollectionMethod.known(order.method)
    fasting = order.placed.needs_fasting
    sheet.write_heading("Collection", keep=80)
    sentences = [
        f"{method.label if method else order.method}. {describe_order_tubes(order)}.",
        COLLECTOR.get(method, "") if method else "",
        f"For the patient: {FASTING if fasting else NOT_FASTING}",
    ]
    sheet.write_paragraph(" ".join(text for text in sentences if text))
    sheet.ensure_room(34)
    sheet.y += 22
    x = MARGIN
    for label, width in (
        ("Collected on", 150.0),
        ("Time", 90.0),
        ("Collected by", 168.0),
        ("Hours fasted", 124.0),
    ):
        _draw_blank_line(sheet, label, x=x, width=width - 10)
        x += width
    sheet.y += 6


def _draw_signature(sheet: Sheet, order: Order) -> None:
    sheet.ensure_room(54)
    sheet.y += 40
    image = _signature_image(order.physician or {})
    if image is not None:
        height = PAGE_HEIGHT - sheet.y + 2

        def put(canvas: Canvas) -> None:
            canvas.drawImage(
                image,
                MARGIN + 4,
                height,
                width=200,
                height=34,
                preserveAspectRatio=True,
                anchor="sw",
                mask="auto",
            )

        sheet.draw(put)
    _draw_blank_line(sheet, "Physician's signature", x=MARGIN, width=260)
    _draw_blank_line(sheet, "Date", x=MARGIN + 276, width=120)


def _draw_blank_line(sheet: Sheet, label: str, *, x: float, width: float) -> None:
    """Draw a line to write on, with its label beneath."""
    base = PAGE_HEIGHT - sheet.y

    def put(canvas: Canvas) -> None:
        canvas.setStrokeGray(0)
        canvas.setLineWidth(0.6)
        canvas.line(x, base, x + width, base)

    sheet.draw(put)
    sheet.write_line(label, x=x, y=sheet.y + 9, size=7.5, grey=SOFT)


def _signature_image(physician: Mapping[str, Any]) -> ImageReader | None:
    """Return the physician's signature image; None if it is no picture.

    It is decoded and drawn again: nothing else in the file gets into the document.
    """
    image = physician.get("signature_image") or {}
    try:
        raw = base64.b64decode(str(image.get("content", "")), validate=True)
        with Image.open(BytesIO(raw), formats=_SIGNATURE_FORMATS) as opened:
            if opened.width * opened.height > _SIGNATURE_MAX_PIXELS:
                return None
            shown = opened.convert("RGBA")
            shown.thumbnail(_SIGNATURE_SHOWN)
            return ImageReader(shown)
    except (
        binascii.Error,
        Image.DecompressionBombError,
        OSError,
        SyntaxError,
        ValueError,
    ):
        # What Pillow raises for files that are broken, or none of its own.
        return None


def _is_cancelled(order: Order) -> bool:
    return order.status_parts.top == "cancelled"


def _patient_name(order: Order) -> str:
    details = order.patient_details or {}
    last, first = details.get("last_name", ""), details.get("first_name", "")
    return f"{last}, {first}" if last and first else last or first


def _birth_date(order: Order) -> str:
    born = order.patient_dob
    return f"{born.day} {born:%b %Y}" if born else ""


def _format_moment(at: datetime) -> str:
    return f"{at.day} {at:%b %Y, %H:%M %Z}"


def _full_name(person: Mapping[str, Any]) -> str:
    return f"{person.get('first_name', '')} {person.get('last_name', '')}".strip()


def _format_address(address: Mapping[str, Any] | None) -> str:
    if not address:
        return ""
    place = f"{address.get('city', '')}, {address.get('state', '')}"
    lines = (
        address.get("first_line"),
        address.get("second_line"),
        f"{place} {address.get('zip', '')}",
        address.get("country"),
    )
    return "\n".join(str(line) for line in lines if line)
