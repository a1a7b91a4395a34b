"""Every statement sent to PostgreSQL, also those that pass Django's own log by."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def count_statements() -> Iterator[list[str]]:
    """Collect statements while inside; savepoints of `atomic` are among them."""
    sent: list[str] = []
    execute = psycopg.Cursor.execute

    def collect(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        sent.append(query.decode() if isinstance(query, bytes) else str(query))
        return execute(self, query, *args, **options)

    with patch.object(psycopg.Cursor, "execute", collect):
        yield sent
