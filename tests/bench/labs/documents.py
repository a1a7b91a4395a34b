"""How long a requisition takes, beside the library's bare render of the same page.

    uv run python -m tests.bench.labs.documents

Bare draws the same strings, lines and boxes where ours put them, with the library's own
bar code and QR code, without looking up, breaking or placing anything. Both run in
turns; the median of the rounds is told. No database is used.
"""

from __future__ import annotations

import os
import statistics
import time
import uuid
from datetime import UTC, date, datetime
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from reportlab.graphics.barcode.code128 import Code128  # noqa: E402
from reportlab.graphics.barcode.qr import QrCode  # noqa: E402
from reportlab.lib.pagesizes import LETTER  # noqa: E402
from reportlab.pdfgen.canvas import Canvas  # noqa: E402

from labs.documents import requisition, sheet  # noqa: E402
from labs.documents.requisition import RequisitionContent, render_requisition_pdf  # noqa: E402
from labs.queries.orders.answers import AnsweredQuestion  # noqa: E402

ROUNDS = 60
LIMIT = 2.0
URL = "https://assay.example/t/clinic/production/orders/5b1f4c7e-93a2-4f0e-8a11-3f5a12"


class Recorder:
    """A canvas that keeps what is called of it, for the last page."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        kept.append(self)

    def __getattr__(self, name: str) -> Any:
        def keep(*args: Any, **options: Any) -> None:
            if name not in {"save", "setTitle", "setAuthor"}:
                self.calls.append((name, args, options))

        return keep


kept: list[Recorder] = []


def make_content() -> RequisitionContent:
    """A usual order: eight tests, two diagnoses, an answer and a comment."""
    lab = SimpleNamespace(
        name="Northgate Diagnostics",
        first_line_address="2 Sample Street",
        city="Phoenix",
        zipcode="85004",
    )
    markers = [
        SimpleNamespace(
            pk=number,
            name=f"A marker of the usual length, number {number}",
            provider_id=str(6399 + number),
            sample_type="serum",
            fasting=number % 3 == 0,
        )
        for number in range(8)
    ]
    panel = SimpleNamespace(
        name="Essential health",
        sample_type="serum",
        fasting=True,
        markers=SimpleNamespace(all=lambda: markers),
    )
    order: Any = SimpleNamespace(
        pk=uuid.UUID("5b1f4c7e-93a2-4f0e-8a11-3f5a12c44b36"),
        sample_id="SB7AF6C3CB1",
        lab=lab,
        lab_test=panel,
        lab_account=SimpleNamespace(provider_account_id="2001", account_name="Main"),
        tenant=SimpleNamespace(is_sandbox=False, team=SimpleNamespace(name="Clinic")),
        patient_details={
            "first_name": "Ada",
            "last_name": "Example",
            "gender": "female",
            "phone_number": "+15550101",
        },
        patient_address={
            "first_line": "1 Sample Street",
            "city": "Phoenix",
            "state": "AZ",
            "zip": "85004",
            "country": "US",
        },
        patient_dob=date(1990, 5, 17),
        physician={"first_name": "Noor", "last_name": "Haddad", "npi": "1234567893"},
        health_insurance=None,
        billing_type="client_bill",
        priority=True,
        method="walk_in_test",
        status_parts=SimpleNamespace(top="received"),
    )
    return RequisitionContent(
        order=order,
        ordered_at=datetime(2026, 11, 21, 14, 5, tzinfo=UTC),
        comment="Call the clinic with any critical value. Fasting draw.",
        answers=(AnsweredQuestion("Lead", "Purpose of the test", "Initial"),),
        diagnoses=(
            ("E11.9", "Type 2 diabetes mellitus without complications"),
            ("E78.5", "Hyperlipidemia, unspecified"),
        ),
        url=URL,
    )


def record(content: RequisitionContent) -> Recorder:
    """What ours draws, its codes left out."""
    own = requisition.draw_barcode, requisition.draw_qr_code, sheet.Canvas
    try:
        requisition.draw_barcode = lambda *args, **options: None
        requisition.draw_qr_code = lambda *args, **options: lambda *place: None
        sheet.Canvas = Recorder
        render_requisition_pdf(content)
    finally:
        requisition.draw_barcode, requisition.draw_qr_code, sheet.Canvas = own
    return kept[-1]


def draw_bare(recorded: Recorder) -> bytes:
    """The same page by the library alone."""
    opened = BytesIO()
    canvas = Canvas(opened, pagesize=LETTER, invariant=1, pageCompression=1)
    Code128("SB7AF6C3CB1", barWidth=0.96, barHeight=36).drawOn(canvas, 350, 714)
    QrCode(URL, width=62, height=62, qrLevel="M").drawOn(canvas, 510, 690)
    for name, args, options in recorded.calls:
        getattr(canvas, name)(*args, **options)
    canvas.save()
    return opened.getvalue()


def timed(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    content = make_content()
    recorded = record(content)
    pages = sum(name == "showPage" for name, *_ in recorded.calls)
    render_requisition_pdf(content)
    draw_bare(recorded)
    ours, bare = [], []
    for _ in range(ROUNDS):
        ours.append(timed(lambda: render_requisition_pdf(content)))
        bare.append(timed(lambda: draw_bare(recorded)))
    mine, limit = statistics.median(ours), statistics.median(bare)
    ratio = mine / limit
    print(f"pages {pages}, {len(recorded.calls)} calls, {ROUNDS} rounds each")
    print(f"requisition {mine * 1000:.1f} ms, bare {limit * 1000:.1f} ms")
    print(f"ratio {ratio:.2f}, at most {LIMIT}: {'ok' if ratio <= LIMIT else 'OVER'}")


if __name__ == "__main__":
    main()
