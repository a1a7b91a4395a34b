"""Statements that took longer than SLOW_QUERY_MS, logged without their values.

PostgreSQL's own log would quote the values, which are health data.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.backends.signals import connection_created
from psycopg import Cursor
from psycopg.rows import TupleRow

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)
_STATEMENT_MAX = 500


class WatchedCursor(Cursor[TupleRow]):
    """Psycopg's cursor, as `portal.lib.database.rows` uses it, which measures time."""

    def execute(self, query: Any, *args: Any, **options: Any) -> WatchedCursor:
        """As psycopg's own."""
        began = time.perf_counter()
        try:
            return super().execute(query, *args, **options)
        finally:
            log_if_slow(query, began)


def log_slow_queries() -> None:
    """Log slow queries on every database connection opened from now on."""
    connection_created.connect(_watch, dispatch_uid="slow_queries")


def _watch(connection: Any, **_: Any) -> None:
    if _timed not in connection.execute_wrappers:
        connection.execute_wrappers.append(_timed)


def _timed(
    execute: Callable[..., Any], query: Any, params: Any, many: bool, context: Any
) -> Any:
    began = time.perf_counter()
    try:
        return execute(query, params, many, context)
    finally:
        log_if_slow(query, began)


def log_if_slow(query: Any, began: float) -> None:
    """Log a statement that began then (time.perf_counter) if it took long."""
    ms = (time.perf_counter() - began) * 1000
    if ms < settings.SLOW_QUERY_MS:
        return
    text = query.decode() if isinstance(query, bytes) else str(query)
    logger.warning("%.0f ms: %s", ms, " ".join(text.split())[:_STATEMENT_MAX])
