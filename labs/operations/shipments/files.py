"""Record shipment events from a CSV file, row by row, after a dry run."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from labs.operations.shipments.events import ReportedShipment, record_shipment_event
from labs.queries.orders.shipments import get_order_of_shipment
from labs.states.shipments import ShipmentReporter, ShipmentStatus
from portal.lib.errors import DomainError, TooLarge

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor

COLUMNS = (
    *("order_id", "sample_id", "tracking_number"),
    *("status", "occurred_at", "note"),
)
ROWS_MAX = 500
BYTES_MAX = 512 * 1024


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row of a file, its line from 2 on, and what keeps it from being recorded."""

    line: int
    named: str
    status: str
    occurred_at: str
    fault: str = ""


def preview_shipment_file(
    *, tenant: Tenant, actor: Actor, content: bytes
) -> list[FileRow]:
    """Return what each row of a file would do; nothing is recorded or sent.

    Rows are recorded one after another and all undone, so that a later row is judged by
    the earlier ones. Raises: file_too_large (413); file_unreadable, columns_missing,
    too_many_rows. Source: Ours.
    """
    with transaction.atomic():
        rows = [
            _record_row(tenant, actor, line, cells)
            for line, cells in _read_rows(content)
        ]
        transaction.set_rollback(True)
    return rows


def apply_shipment_file(
    *, tenant: Tenant, actor: Actor, content: bytes
) -> list[FileRow]:
    """Record the rows of a file that can be; return all with their faults.

    Each row is a transaction of its own: a file that was cut off is sent again whole,
    as what is recorded already changes nothing. Raises: as preview_shipment_file.
    """
    return [
        _record_row(tenant, actor, line, cells) for line, cells in _read_rows(content)
    ]


def _read_rows(content: bytes) -> list[tuple[int, dict[str, str]]]:
    if len(content) > BYTES_MAX:
        raise TooLarge(
            "file_too_large",
            _("Choose a file of at most %(most)d KB.") % {"most": BYTES_MAX // 1024},
            "file",
        )
    try:
        text = content.replace(b"\x00", b"").decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        names = {name.strip() for name in reader.fieldnames or () if name}
        rows = [
            (
                number,
                {
                    str(name).strip(): cell.strip()
                    for name, cell in row.items()
                    if isinstance(cell, str)
                },
            )
            for number, row in enumerate(reader, start=2)
        ]
    except (UnicodeDecodeError, csv.Error):
        raise DomainError(
            "file_unreadable", _("Choose a CSV file in UTF-8."), "file"
        ) from None
    if not {"status", "occurred_at"} <= names or not names & set(COLUMNS[:3]):
        raise DomainError(
            "columns_missing",
            _(
                "The first line must name status, occurred_at and one of order_id,"
                " sample_id and tracking_number."
            ),
            "file",
        )
    if len(rows) > ROWS_MAX:
        raise DomainError(
            "too_many_rows",
            _("Choose a file of at most %(most)d rows.") % {"most": ROWS_MAX},
            "file",
        )
    return rows


def _record_row(
    tenant: Tenant, actor: Actor, line: int, cells: dict[str, str]
) -> FileRow:
    named = next((cells[name] for name in COLUMNS[:3] if cells.get(name)), "")
    fault = ""
    try:
        with transaction.atomic():
            record_shipment_event(
                order=get_order_of_shipment(
                    tenant=tenant,
                    order_id=_parse_order_id(cells.get("order_id", "")),
                    sample_id=cells.get("sample_id", ""),
                    tracking_number=cells.get("tracking_number", ""),
                ),
                actor=actor,
                reported=_parse_report(cells),
                reporter=ShipmentReporter.FILE,
            )
    except DomainError as refusal:
        fault = refusal.message
    return FileRow(
        line, named, cells.get("status", ""), cells.get("occurred_at", ""), fault
    )


def _parse_order_id(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        raise DomainError(
            "order_id_invalid", _("order_id must be a UUID."), "order_id"
        ) from None


def _parse_report(cells: dict[str, str]) -> ReportedShipment:
    status = ShipmentStatus.known(cells.get("status", "").lower())
    if status is None:
        raise DomainError(
            "shipment_status_unknown",
            _("status must be one of %(statuses)s.")
            % {"statuses": ", ".join(ShipmentStatus.values)},
            "status",
        )
    try:
        occurred_at = datetime.fromisoformat(cells.get("occurred_at", ""))
    except ValueError:
        occurred_at = None
    if occurred_at is None or occurred_at.tzinfo is None:
        raise DomainError(
            "occurred_at_invalid",
            _(
                "occurred_at must be a date-time with its offset, such as"
                " 2026-11-23T14:05:00Z."
            ),
            "occurred_at",
        )
    return ReportedShipment(
        status, occurred_at, cells.get("tracking_number", ""), cells.get("note", "")
    )
