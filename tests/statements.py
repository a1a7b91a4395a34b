"""Every statement sent to PostgreSQL, also those that pass Django's own log by."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import psycopg

from portal.lib.database.prepared import PreparedStatement

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

    run = PreparedStatement._run

    def collect_prepared(self: Any, values: Any) -> Any:
        sent.append(self.sql.decode())
        return run(self, values)

    with (
        patch.object(psycopg.Cursor, "execute", collect),
        patch.object(PreparedStatement, "_run", collect_prepared),
    ):
        yield sent
