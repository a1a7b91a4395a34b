"""Exported files of the audit log, as CSV and NDJSON.

Each entry has its values as they were sealed, and one sentence that says the same.
Entries come in chunks, so that a file of any length needs little memory.
"""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC
from typing import TYPE_CHECKING, Any

from accounts.web.audit.descriptions import describe_audit_entry
from portal.lib.web.csv_files import escape_spreadsheet_formula

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from accounts.models import AuditEntry


COLUMNS = (
    *("id", "tenant_id", "at", "verb", "subject", "subject_id", "user_id"),
    *("actor_kind", "actor_key", "actor_label", "address", "changes", "request_id"),
)


def _entry_cells(entry: AuditEntry) -> tuple[Any, ...]:
    """Return an entry's values in the order of COLUMNS, as sealed."""
    return (
        entry.pk,
        entry.tenant_id,
        entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        entry.verb,
        entry.subject,
        entry.subject_id,
        str(entry.user_uuid) if entry.user_uuid else None,
        entry.actor_kind,
        entry.actor_key,
        entry.actor_label,
        entry.address,
        entry.changes,
        entry.request_id,
    )


def write_ndjson(chunks: Iterable[Sequence[AuditEntry]]) -> Iterator[bytes]:
    """Yield the lines of each chunk, one JSON object for each entry."""
    for chunk in chunks:
        lines = (dict(zip(COLUMNS, _entry_cells(each), strict=True)) for each in chunk)
        yield "".join(
            json.dumps({**line, "says": describe_audit_entry(each)}, ensure_ascii=False)
            + "\n"
            for line, each in zip(lines, chunk, strict=True)
        ).encode()


def write_csv(chunks: Iterable[Sequence[AuditEntry]]) -> Iterator[bytes]:
    """Yield the header, then the rows of each chunk; no cell is a formula."""
    yield (",".join((*COLUMNS, "says")) + "\r\n").encode()
    for chunk in chunks:
        text = io.StringIO()
        writer = csv.writer(text)
        for each in chunk:
            *cells, changes, request_id = _entry_cells(each)
            changed = json.dumps(changes, ensure_ascii=False) if changes else ""
            cells += [changed, request_id, describe_audit_entry(each)]
            writer.writerow(
                "" if c is None else escape_spreadsheet_formula(str(c)) for c in cells
            )
        yield text.getvalue().encode()
