"""An order at a lab that reports by document, and reports of it as they are read."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from reportlab.pdfgen.canvas import Canvas

from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.orders import get_order_with_details
from portal.lib.actor import Actor
from reports.models import Review
from reports.operations.jobs.parsing import store_parsing_results
from reports.operations.review.reviews import claim_review
from reports.parser.report import (
    Interpretation,
    LoincMatch,
    LoincMatchStatus,
    Metadata,
    ParsedResult,
)
from reports.states import ParsingJobStatus
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)
from tests.factories.reports import make_parsed, make_parsed_result, make_parsing_job
from tests.factories.results import make_expected_result
from tests.reports.desk import NORA, decide_all, sign

# Name, LOINC code, unit: what the panel of these orders reports.
ORDERED = (
    ("Glucose", "2345-7", "mg/dL"),
    ("Potassium", "2823-3", "mmol/L"),
    ("Sodium", "2951-2", "mmol/L"),
)
PARSER = Actor.system("reports.parse")


def make_order_by_document(*, tenant: Any, **wanted: Any) -> Any:
    """An order of ORDERED with its requisition, at a lab that reports by document."""
    lab = make_lab(tenant=tenant)
    account = make_lab_account(tenant=tenant, lab=lab, gateway="reports")
    markers = []
    for name, loinc, unit in ORDERED:
        marker = make_marker(lab=lab, name=name, unit=unit)
        make_expected_result(marker=marker, name=name, loinc_code=loinc, unit=unit)
        markers.append(marker)
    panel = make_lab_test(tenant=tenant, lab=lab, markers=tuple(markers))
    order = make_order(
        tenant=tenant, lab_test=panel, lab_account_id=account.pk, **wanted
    )
    create_requisition(tenant=tenant, actor=ACTOR, order_id=order.pk)
    return get_order_with_details(tenant=tenant, order_id=order.pk)


def read_row(name: str, value: str, **changes: Any) -> ParsedResult:
    """A row as the reader returns it; its code and unit are those of ORDERED."""
    loinc, unit = {one[0]: one[1:] for one in ORDERED}.get(name, ("", ""))
    fields: dict[str, Any] = {
        "test_name": name,
        "value": value,
        "units": unit or None,
        "min_reference_range": None,
        "max_reference_range": None,
        "reference_range": None,
        "interpretation": Interpretation.NORMAL,
        "is_above_max_range": None,
        "is_below_min_range": None,
        "loinc_matches": (LoincMatch(loinc, name, name, (), 0.98),) if loinc else (),
        "loinc_match_status": LoincMatchStatus.AUTO_MATCH
        if loinc
        else LoincMatchStatus.NO_MATCH,
    }
    return make_parsed_result(**{**fields, **changes})


def read_report(
    order: Any, *rows: ParsedResult, metadata: dict[str, Any] | None = None, **job: Any
) -> Review:
    """Read a report of an order as the worker does; return its review, Nora's."""
    header = {
        "patient_first_name": "Ada",
        "patient_last_name": "Example",
        "dob": "1990-05-17",
        "date_collected": "2026-11-20",
        "date_reported": "2026-11-21",
        **(metadata or {}),
    }
    job_row = make_parsing_job(
        user=order.user,
        order=order,
        needs_human_review=True,
        **{
            "status": ParsingJobStatus.STARTED,
            "content": repr((rows, header)).encode(),
            **job,
        },
    )
    report = make_parsed(results=rows, metadata=Metadata(**header))
    store_parsing_results(job=job_row, actor=PARSER, report=report)
    review = Review.objects.for_tenant(order.tenant).get(job=job_row)
    claim_review(tenant=order.tenant, actor=NORA, review_id=review.id)
    return Review.objects.for_tenant(order.tenant).get(pk=review.pk)


def report_pdf(order, rows):
    """The PDF that the order's lab would send."""
    written = BytesIO()
    canvas = Canvas(written, invariant=1)
    lines = [
        (("Lakeside Laboratory",), 780),
        (("Patient Name: Ada Example",), 750),
        (("Date of Birth: 1990-05-17",), 735),
        ((f"Specimen ID: {order.sample_id}",), 720),
        (("Collected: 2026-11-20",), 705),
        (("Test", "Result", "Units", "Reference Range"), 680),
    ]
    lines += [(row, 660 - 16 * index) for index, row in enumerate(rows)]
    for cells, height in lines:
        for cell, left in zip(cells, (60, 240, 320, 420), strict=False):
            canvas.drawString(left, height, cell)
    canvas.save()
    return written.getvalue()


def sign_only_review(tenant):
    review = Review.objects.for_tenant(tenant).get()
    claim_review(tenant=tenant, actor=NORA, review_id=review.id)
    review = Review.objects.for_tenant(tenant).get()
    decide_all(review)
    sign(review)
