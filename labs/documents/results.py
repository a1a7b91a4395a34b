"""The result report of an order or transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.documents.codes import draw_qr_code
from labs.documents.sheet import (
    LEADING,
    MARGIN,
    PAGE_HEIGHT,
    SOFT,
    WIDTH,
    Column,
    Sheet,
)
from labs.documents.typeface import BOLD, REGULAR, break_text_into_lines
from labs.states.catalogue import ResultType, SampleType
from labs.states.orders import Interpretation
from labs.states.results import FailureType, ResultStatus
from portal.lib.english import in_english
from portal.lib.units import format_unit
from portal.ui.charts import RANGE_BAR_WIDTH, compute_reference_range_bar
from users.states import Gender

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, tzinfo

    from reportlab.pdfgen.canvas import Canvas

    from labs.models import MissingResult, Result, SampleData
    from labs.queries.results.results import ResultSet
    from portal.ui.charts import RangeBar

_RIGHT = MARGIN + WIDTH
_QR = 56.0
_SIZE = 8.5
_NOTE_SIZE = 7.5
# Of the width: test, result, flag, unit, range as the lab wrote it, where it lies.
_TEST, _RESULT, _FLAG, _UNIT, _RANGE, _BAR = (
    share * WIDTH for share in (0.29, 0.17, 0.13, 0.11, 0.14, 0.16)
)
_ROOM = 8.0
_BAR_HEIGHT = 4.0
# A row of one result may not be higher: a longer text goes on beneath it.
_LINES_AT_MOST = 6
_MISSING = (
    Column("Test", 0.34, is_bold=True),
    Column("Reason", 0.28),
    Column("Note", 0.38),
)
_NORMAL_GREY, _OUTER_GREY = 0.62, 0.86


@dataclass(frozen=True, slots=True)
class ReportContent:
    """Current results; times are printed in `zone`, `url` is the order's page."""

    found: ResultSet
    zone: tzinfo
    url: str


@in_english
def render_results_pdf(content: ReportContent) -> bytes:
    """Render the result report of an order or transaction.

    Source: Contract 6.15, 6.16; what stands on it is Ours, after 42 CFR 493.1291(c):
    patient, laboratory, dates, specimen, test, result, unit, range, condition.
    """
    found = content.found
    order = found.order
    sheet = Sheet(
        title=f"Laboratory report {order.sample_id}",
        running_head=(
            f"Laboratory report, continued     sample {order.sample_id}     DOB"
            f" {_birth_date(found)}     {order.patient_name}"
        ),
        foot=f"Order {order.pk}     Report {found.version.number}"
        f" of {_format_moment(found.version.reported_at, content.zone)}",
    )
    _draw_head(sheet, content)
    _draw_notices(sheet, found)
    _draw_people(sheet, content)
    for name, rows in _group_results(found.rows).items():
        _draw_group(sheet, name, rows)
    if found.gaps:
        sheet.write_heading("Not resulted", keep=40)
        sheet.write_table(_MISSING, [_missing_result_cells(gap) for gap in found.gaps])
    for sample in found.samples:
        _draw_sample(sheet, sample, content.zone)
    _draw_laboratories(sheet, found)
    return sheet.to_pdf()


def _draw_head(sheet: Sheet, content: ReportContent) -> None:
    found = content.found
    lab = found.order.lab
    sheet.write_line("Laboratory report", y=58, size=18, font=BOLD)
    y = 78.0
    for line in break_text_into_lines(
        found.version.laboratory or lab.name, 11, WIDTH - _QR - 20, font=BOLD
    ):
        sheet.write_line(line, y=y, size=11, font=BOLD)
        y += 13
    about = f"{lab.first_line_address}, {lab.city} {lab.zipcode}"
    if found.version.clia_number:
        about += f"     CLIA {found.version.clia_number}"
    sheet.write_line(about, y=y, size=_SIZE, grey=SOFT)
    put_square = draw_qr_code(content.url, size=_QR)
    sheet.draw(lambda canvas: put_square(canvas, _RIGHT - _QR, MARGIN))
    sheet.y = max(y, MARGIN + _QR) + 8
    sheet.draw_rule(grey=0, width=1.2)


def _draw_notices(sheet: Sheet, found: ResultSet) -> None:
    critical = sum(row.interpretation == Interpretation.CRITICAL for row in found.rows)
    many = "result" if critical == 1 else "results"
    notices = (
        (f"CRITICAL: {critical} {many}", critical > 0),
        (
            "PARTIAL: more results to follow",
            found.status == ResultStatus.PARTIAL,
        ),
        (
            f"CORRECTED: report {found.version.number} replaces all earlier reports",
            found.version.is_correction,
        ),
        ("SANDBOX: made-up results, no real patient", found.order.tenant.is_sandbox),
    )
    for text, holds in notices:
        if holds:
            sheet.draw_notice(text)


def _draw_people(sheet: Sheet, content: ReportContent) -> None:
    found = content.found
    order, version = found.order, found.version
    details = order.patient_details or {}
    gender = Gender.known(str(details.get("gender", "")))
    physician = order.physician or {}
    account = order.lab_account
    kind = SampleType.known(order.lab_test.sample_type)
    sheet.y += 6
    sheet.write_pairs(
        (
            (
                "Patient",
                (
                    ("Name", order.patient_name),
                    ("DOB", _birth_date(found)),
                    ("Sex", str(gender.label) if gender else details.get("gender", "")),
                    ("Patient ID", str(order.user.uuid)),
                    ("Physician", _full_name(physician)),
                    ("Client", order.tenant.team.name),
                    ("Account", account.provider_account_id if account else ""),
                ),
            ),
            (
                "Specimen",
                (
                    ("Sample ID", order.sample_id),
                    ("Sample", str(kind.label) if kind else order.lab_test.sample_type),
                    ("Collected", _format_moment(version.collected_at, content.zone)),
                    ("Received", _format_moment(version.received_at, content.zone)),
                    ("Reported", _format_moment(version.reported_at, content.zone)),
                    ("Tests", order.lab_test.name),
                ),
            ),
        )
    )


def _group_results(rows: Sequence[Result]) -> dict[str, list[Result]]:
    """Group results by what was ordered, in the lab's order."""
    groups: dict[str, list[Result]] = {}
    for row in rows:
        source = row.source_markers[0] if row.source_markers else {}
        groups.setdefault(str(source.get("name") or "Results"), []).append(row)
    return groups


def _draw_group(sheet: Sheet, name: str, rows: Sequence[Result]) -> None:
    sheet.write_heading(name, keep=40)
    _draw_row_head(sheet)
    for row in rows:
        _draw_row(sheet, row)


def _draw_row_head(sheet: Sheet) -> None:
    sheet.y += 9
    x = MARGIN
    for title, width in (
        ("Test", _TEST),
        ("Result", _RESULT),
        ("Flag", _FLAG),
        ("Unit", _UNIT),
        ("Reference", _RANGE),
        ("Position", _BAR),
    ):
        sheet.write_line(title, x=x, size=7.5, grey=SOFT)
        x += width
    sheet.y += 4
    sheet.draw_rule()


def _draw_row(sheet: Sheet, row: Result) -> None:
    """Draw one result; text too long for its column continues beneath."""
    is_text = row.type == ResultType.COMMENT
    result = row.result
    below = [note for note in (row.notes,) if note]
    lines = sheet.split_lines(result, _SIZE, _RESULT - _ROOM, font=BOLD)
    if (is_text and len(lines) > 1) or len(lines) > _LINES_AT_MOST:
        below.insert(0, result)
        lines = ["See below"]
    name = f"{row.name} (preliminary)" if row.is_preliminary else row.name
    ranges = sheet.split_lines(row.reference_range, _SIZE, _RANGE - _ROOM)
    if len(ranges) > _LINES_AT_MOST:
        below.append(f"Reference: {row.reference_range}")
        ranges = ["See below"]
    flag = describe_result_flag(row)
    cells = (
        (sheet.split_lines(name, _SIZE, _TEST - _ROOM), _TEST, REGULAR),
        (lines, _RESULT, BOLD),
        (sheet.split_lines(flag, _SIZE, _FLAG - _ROOM, font=BOLD), _FLAG, BOLD),
        (
            sheet.split_lines(format_unit(row.unit), _SIZE, _UNIT - _ROOM),
            _UNIT,
            REGULAR,
        ),
        (ranges, _RANGE, REGULAR),
    )
    height = max(len(each) for each, *_ in cells) * _SIZE * LEADING + 4
    if sheet.ensure_room(height):
        _draw_row_head(sheet)
    if row.interpretation == Interpretation.CRITICAL:
        sheet.draw_box(
            x=MARGIN, y=sheet.y, width=WIDTH, height=height, fill=0.92, stroke=None
        )
    x = MARGIN
    for shown, width, font in cells:
        base = sheet.y + _SIZE + 2
        for line in shown:
            sheet.write_line(line, x=x, y=base, size=_SIZE, font=font)
            base += _SIZE * LEADING
        x += width
    _draw_range_bar(sheet, row, x=x)
    sheet.y += height
    for text in below:
        sheet.write_paragraph(
            text, size=_NOTE_SIZE, grey=0.2, x=MARGIN + 12, width=WIDTH - 12
        )
        sheet.y += 2
    sheet.draw_rule(grey=0.85, width=0.4)


def describe_result_flag(row: Result) -> str:
    """Return a result's flag in words: color would be lost on a fax."""
    side = "high" if row.is_above_max_range else "low" if row.is_below_min_range else ""
    match row.interpretation:
        case Interpretation.CRITICAL:
            return f"CRITICAL {side}".strip()
        case Interpretation.ABNORMAL:
            return side.capitalize() or "Abnormal"
        case _:
            # Nothing beside a normal one, so that what stands out does.
            return ""


def _draw_range_bar(sheet: Sheet, row: Result, *, x: float) -> None:
    if row.type != ResultType.NUMERIC or row.value is None:
        return
    bar = compute_reference_range_bar(
        row.value, low=row.min_range_value, high=row.max_range_value
    )
    if bar is not None:
        base = PAGE_HEIGHT - sheet.y - _SIZE - 1
        sheet.draw(lambda canvas: _draw_bar_shapes(canvas, bar, x=x, y=base))


def _draw_bar_shapes(canvas: Canvas, bar: RangeBar, *, x: float, y: float) -> None:
    scale = _BAR / RANGE_BAR_WIDTH
    for zone in bar.zones:
        if not zone.width:
            continue
        canvas.setFillGray(_NORMAL_GREY if zone.name == "ok" else _OUTER_GREY)
        canvas.rect(
            x + (zone.x + 1) * scale,
            y,
            (zone.width - 2) * scale,
            _BAR_HEIGHT,
            stroke=0,
            fill=1,
        )
    canvas.setFillGray(0)
    canvas.setStrokeGray(1)
    canvas.setLineWidth(0.8)
    canvas.circle(x + bar.mark * scale, y + _BAR_HEIGHT / 2, 3.2, stroke=1, fill=1)


def _missing_result_cells(gap: MissingResult) -> tuple[str, str, str]:
    known = FailureType.known(gap.failure_type)
    return gap.name, str(known.label) if known else gap.failure_type, gap.note


def _draw_sample(sheet: Sheet, sample: SampleData, zone: tzinfo) -> None:
    fasting = "" if sample.fasting is None else "Yes" if sample.fasting else "No"
    rows = (
        ("Control no.", sample.control_number),
        ("Collected", _format_moment(sample.collected_at, zone)),
        ("Received", _format_moment(sample.received_at, zone)),
        ("Fasting", fasting),
        ("Volume", sample.total_volume),
        ("Notes", sample.notes),
        ("Clinical notes", sample.information),
    )
    if any(text for _, text in rows):
        sheet.y += 8
        sheet.write_pairs(((f"Sample {sample.sample_id}", rows),))


def _draw_laboratories(sheet: Sheet, found: ResultSet) -> None:
    """Draw the performing laboratories, each once."""
    held: dict[str, Mapping[str, Any]] = {}
    for sample in found.samples:
        held |= {code: lab for code, lab in sample.laboratories.items() if lab}
    if not held:
        return
    sheet.write_heading("Performed by", keep=14)
    for code, lab in sorted(held.items()):
        address = lab.get("address") or {}
        parts = (
            code,
            lab.get("name"),
            address.get("first_line"),
            address.get("second_line"),
            " ".join(
                str(address[key])
                for key in ("city", "state", "zip")
                if address.get(key)
            ),
            lab.get("phone_number"),
            f"director {lab['medical_director']}"
            if lab.get("medical_director")
            else "",
        )
        text = ", ".join(str(part) for part in parts if part)
        sheet.write_paragraph(text, size=_NOTE_SIZE)


def _birth_date(found: ResultSet) -> str:
    born = found.order.patient_dob
    return f"{born.day} {born:%b %Y}" if born else ""


def _format_moment(at: datetime | None, zone: tzinfo) -> str:
    if at is None:
        return ""
    here = at.astimezone(zone)
    return f"{here.day} {here:%b %Y, %H:%M %Z}"


def _full_name(person: Mapping[str, Any]) -> str:
    return f"{person.get('first_name', '')} {person.get('last_name', '')}".strip()
