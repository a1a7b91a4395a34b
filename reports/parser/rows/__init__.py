"""Result rows found on the pages: which lines are results, and their parts."""

from __future__ import annotations

from .row import KnownName, Row
from .settling import settle_rows
from .unread import find_unread
from .walk import find_rows

__all__ = ["KnownName", "Row", "find_rows", "find_unread", "settle_rows"]
