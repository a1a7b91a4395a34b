"""Finds the result rows on pages, and their parts."""

from __future__ import annotations

from .row import KnownName, Row
from .settling import deduplicate_rows_and_clean_names
from .unread import find_unread_result_lines
from .walk import find_result_rows

__all__ = [
    "KnownName",
    "Row",
    "deduplicate_rows_and_clean_names",
    "find_result_rows",
    "find_unread_result_lines",
]
