"""Finds the result rows on pages, and their parts."""

from __future__ import annotations

from reports.parser.readers.unread import find_unread_result_lines
from reports.parser.readers.walk import find_result_rows
from reports.parser.rows.row import KnownName, Row
from reports.parser.rows.settling import (
    deduplicate_rows_and_clean_names,
    keep_rows_of_grammar,
)

__all__ = [
    "KnownName",
    "Row",
    "deduplicate_rows_and_clean_names",
    "find_result_rows",
    "find_unread_result_lines",
    "keep_rows_of_grammar",
]
