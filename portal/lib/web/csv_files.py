"""A table as a CSV file to download."""

from __future__ import annotations

import csv
from datetime import UTC
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.utils import timezone

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def build_csv_download(
    *, name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> HttpResponse:
    """Build a CSV download named after `name` and today, safe to open."""
    day = timezone.localdate().isoformat()
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-{day}.csv"'
    writer = csv.writer(response)
    writer.writerow(columns)
    writer.writerows([escape_spreadsheet_formula(cell) for cell in row] for row in rows)
    return response


def format_csv_timestamp(at: datetime | None) -> str:
    """Return a moment in UTC to the second, as the API writes it; empty for none."""
    if at is None:
        return ""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def escape_spreadsheet_formula(cell: str) -> str:
    """Return a cell of text that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
