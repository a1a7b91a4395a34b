"""Finds the result rows on pages, and their parts."""

from __future__ import annotations

from .row import KnownName, Row
from .settling import clean_up_rows
from .unread import find_unread
from .walk import find_rows

__all__ = ["KnownName", "Row", "clean_up_rows", "find_rows", "find_unread"]
