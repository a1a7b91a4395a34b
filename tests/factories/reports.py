"""Parsing jobs, and files to upload, for tests."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import asdict, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pikepdf
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from reports.models import (
    LoincAlias,
    ParsingJob,
    ReportFile,
    ReportResult,
    Rereading,
    UnmatchedDocument,
)
from reports.operations.reading.files import store_files_on_success
from reports.operations.reading.parsed_rows import (
    build_unsaved_result_rows,
    serialize_check_notes,
)
from reports.operations.review.reviews import (
    build_initial_review_rows,
    claim_review,
    open_report_review,
)
from reports.parser.report import (
    Interpretation,
    LoincMatch,
    LoincMatchStatus,
    Metadata,
    ParsedReport,
    ParsedResult,
    Place,
    Point,
    Provenance,
    ResultType,
)
from reports.queries import list_report_results
from reports.states import (
    DocumentReason,
    DocumentStatus,
    ParsingJobStatus,
    ReviewKind,
)

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import Review
    from users.models import User

ROWS = (
    ("Glucose", "105", "mg/dL", "70 - 99"),
    ("Creatinine", "0.9", "mg/dL", "0.6 - 1.2"),
    ("Sodium", "140", "mmol/L", "135 - 145"),
    ("Potassium", "4.1", "mmol/L", "3.5 - 5.1"),
)


def make_pdf(*, rows: tuple[tuple[str, ...], ...] = ROWS, pages: int = 1) -> bytes:
    """A small text PDF of a metabolic panel of a person who does not exist."""
    written = BytesIO()
    canvas = Canvas(written, invariant=1)
    for _ in range(pages):
        lines = [
            (("Example Laboratory",), 780),
            (("Patient Name: Rosa Beispiel",), 750),
            (("Collected: 2026-03-02",), 735),
            (("Test", "Result", "Units", "Reference Range"), 700),
        ]
        lines += [(row, 680 - 16 * index) for index, row in enumerate(rows)]
        for cells, height in lines:
            for cell, left in zip(cells, (60, 240, 320, 420), strict=False):
                canvas.drawString(left, height, cell)
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def make_pdf_of(size: int) -> bytes:
    """A readable report of exactly this many bytes."""
    padding, content = size, b""
    for _ in range(3):
        document = pikepdf.open(BytesIO(make_pdf()))
        document.Root.Padding = pikepdf.Stream(document, b"x" * padding)
        content = _saved(document)
        padding -= len(content) - size
    assert len(content) == size
    return content


def make_picture(kind: str, *, size: tuple[int, int] = (8, 8)) -> bytes:
    """A white picture; `kind` as Pillow names it."""
    written = BytesIO()
    Image.new("L", size, 255).save(written, kind)
    return written.getvalue()


def encrypt(content: bytes) -> bytes:
    """The same PDF behind a password."""
    document = pikepdf.open(BytesIO(content))
    return _saved(document, encryption=pikepdf.Encryption(owner="o", user="u"))


def make_huge_page() -> bytes:
    """The small report on a sheet of a hundred kilometres."""
    document = pikepdf.open(BytesIO(make_pdf()))
    side = 10**5 * 1000 * 72 // 25
    document.pages[0].MediaBox = pikepdf.Array([0, 0, side, side])
    return _saved(document)


def compress_repeated(block: bytes, *, times: int) -> bytes:
    """What zlib makes of a block repeated, at the cost of compressing it once."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    once = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 1
    for _ in range(times):
        checksum = zlib.adler32(block, checksum)
    return b"\x78\xda" + once * times + b"\x03\x00" + checksum.to_bytes(4, "big")


def make_bomb() -> bytes:
    """A PDF of 14 kB whose one page unpacks to more than a gigabyte of blanks."""
    once = compress_repeated(b" " * 1024**2, times=1100)
    document = pikepdf.new()
    page = document.add_blank_page()
    content = pikepdf.Stream(document, b"")
    flate = pikepdf.Name.FlateDecode
    content.write(zlib.compress(once), filter=pikepdf.Array([flate, flate]))
    page.Contents = document.make_indirect(content)
    return _saved(document)


def make_endless_pdf() -> bytes:
    """A PDF of some 600 bytes whose page draws a form that draws itself a thousandfold.

    Whoever loads the page is busy for 20 s, and out of memory then.
    """
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(9, 9))
    packed = zlib.compress(b"/F Do " * 1000, 9)
    form = pikepdf.Stream(document, b"")
    form.write(packed, filter=pikepdf.Name.FlateDecode)
    form.Type, form.Subtype = pikepdf.Name.XObject, pikepdf.Name.Form
    form.BBox = pikepdf.Array([0, 0, 9, 9])
    form = document.make_indirect(form)
    form.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form))
    page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form))
    page.Contents = document.make_stream(b"/F Do")
    return _saved(document)


def _saved(document: pikepdf.Pdf, **options: Any) -> bytes:
    written = BytesIO()
    document.save(written, compress_streams=False, **options)
    return written.getvalue()


def make_letter() -> bytes:
    """A readable PDF that is no lab report."""
    written = BytesIO()
    canvas = Canvas(written, invariant=1)
    text = canvas.beginText(60, 760)
    for line in (
        "Dear neighbours,",
        "the garden party takes place on Saturday in the yard behind the house.",
        "Please bring a chair and something to drink, we shall see to the rest.",
        "With kind regards, the house community",
    ):
        text.textLine(line)
    canvas.drawText(text)
    canvas.save()
    return written.getvalue()


def make_document(*, tenant: Any, **changes: Any) -> UnmatchedDocument:
    """A document that matches no order, as it was read."""
    fields = {
        "status": DocumentStatus.UNMATCHED,
        "reason": DocumentReason.NO_ORDER,
        "content_type": "application/pdf",
        "stored_as": store_report_file(make_pdf()),
        "size": 1,
        "sha256": uuid4().hex,
        "pages": 1,
        "metadata": {"patient_last_name": "Beispiel", "specimen_number": "S-1"},
        "rows": [],
        "source_label": "lab.example",
    }
    document = UnmatchedDocument(tenant=tenant, **{**fields, **changes})
    document.save(force_insert=True)
    return document


def make_parsed(**changes: Any) -> ParsedReport:
    """What a parser would say of a report with one row."""
    fields = {
        "metadata": Metadata(patient_first_name="Rosa", lab_name="Example Laboratory"),
        "results": (make_parsed_result(),),
        "pages": 1,
    }
    return ParsedReport(**{**fields, **changes})


def make_parsed_result(**changes: Any) -> ParsedResult:
    fields = {
        "test_name": "Glucose",
        "value": "105",
        "type": ResultType.NUMERIC,
        "units": "mg/dL",
        "min_reference_range": 70.0,
        "max_reference_range": 99.0,
        "reference_range": "70 - 99",
        "loinc_matches": (
            LoincMatch(
                loinc_code="2345-7",
                loinc_name="Glucose [Mass/volume] in Serum or Plasma",
                display_name="Glucose",
                aliases=("Blood sugar",),
                confidence_score=0.97,
            ),
        ),
        "loinc_match_status": LoincMatchStatus.AUTO_MATCH,
        "interpretation": Interpretation.ABNORMAL,
        "is_above_max_range": True,
        "is_below_min_range": False,
        "provenance": Provenance(
            value=Place(1, (Point(240.0, 100.5), Point(260.0, 112.0)))
        ),
    }
    return ParsedResult(**{**fields, **changes})


def store_report_file(content: bytes) -> str:
    with store_files_on_success([content]) as (stored,):
        return stored.name


def make_parsing_job(
    *,
    user: User,
    status: str = ParsingJobStatus.UPLOAD_PENDING,
    content: bytes = b"%PDF-1.7\n%%EOF\n",
    report: ParsedReport | None = None,
    **fields: Any,
) -> ParsingJob:
    """A job with its stored file and, given a report, its rows; nothing emitted."""
    digest = hashlib.sha256(content).hexdigest()
    if report:
        fields.setdefault("metadata", {"patient_first_name": "Rosa"})
        fields.setdefault("notes", serialize_check_notes(report))
        fields.setdefault("unread", [asdict(place) for place in report.unread])
        fields.setdefault("page_sizes", [asdict(size) for size in report.page_sizes])
    job = ParsingJob(
        tenant=user.tenant, user=user, status=status, sha256=digest, **fields
    )
    job.save(force_insert=True)
    ReportFile(
        tenant=user.tenant,
        job=job,
        position=0,
        stored_as=store_report_file(content),
        content_type="application/pdf",
        size=len(content),
        sha256=digest,
    ).save(force_insert=True)
    for row in build_unsaved_result_rows(report) if report else []:
        row.tenant, row.job = user.tenant, job
        ReportResult.save(row, force_insert=True)
    return job


def make_review(
    *,
    user: User,
    report: ParsedReport | None = None,
    claimed_by: Actor | None = None,
    **fields: Any,
) -> Review:
    """A report of one page on the review desk, claimed by nobody unless named."""
    job = make_parsing_job(
        user=user,
        **{
            "status": ParsingJobStatus.PENDING_REVIEW,
            "report": report or make_parsed(),
            "pages": 1,
            "metadata": {},
            **fields,
        },
    )
    review = open_report_review(
        job=job,
        rows=build_initial_review_rows(list_report_results(job)),
        notes=job.notes,
    )
    if claimed_by is not None:
        claim_review(tenant=user.tenant, actor=claimed_by, review_id=review.id)
        review.refresh_from_db()
    return review


def make_dispute(*, user: User) -> Review:
    """A report that two readers dispute, with one row, claimed by nobody."""
    job = make_parsing_job(
        user=user,
        status=ParsingJobStatus.PENDING_REVIEW,
        report=make_parsed(),
        pages=1,
        content=b"%PDF-1.7 disputed",
    )
    (row,) = build_initial_review_rows(list_report_results(job))
    fields = {"values": row.values, "decision": "confirmed", "reason": ""}
    row = replace(row, disputed={"first": fields, "second": None})
    return open_report_review(
        job=job, rows=[row], notes=[], number=3, kind=ReviewKind.DISPUTE
    )


def make_alias(*, tenant: Tenant, **fields: Any) -> LoincAlias:
    """A proposal that waits for a second person."""
    match = asdict(make_parsed_result().loinc_matches[0])
    alias = LoincAlias(
        **{
            "tenant": tenant,
            "lab": "Example Laboratory",
            "lab_key": "examplelaboratory",
            "name": "Gluc.",
            "name_key": "gluc",
            "units": "mg/dL",
            "loinc_code": match["loinc_code"],
            "match": match,
            "proposed_by_key": "7",
            "proposed_by_label": "nora@assay.example",
            **fields,
        }
    )
    alias.save(force_insert=True)
    return alias


def make_rereading(*, job: ParsingJob, **fields: Any) -> Rereading:
    """What the machine reads of a report again; by default still to be read."""
    asked = {"asked_by_key": "7", "asked_by_label": "nora@assay.example"}
    reading = Rereading(tenant=job.tenant, job=job, **{**asked, **fields})
    reading.save(force_insert=True)
    return reading
