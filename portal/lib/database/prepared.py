"""Statements that every call makes, past psycopg's own machinery.

For a statement of a dozen small values psycopg's cursor costs six times what libpq
does: it looks for a dumper of each value, and waits in Python. Here a statement is
prepared once for each connection, and its values are text that PostgreSQL reads.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import DataError, pq
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result

from portal.lib.database.slow_queries import log_if_slow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection
    from psycopg.pq.abc import PGresult

_IDLE = pq.TransactionStatus.IDLE
_DONE = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)


class PreparedStatement:
    """A statement with `$1`, `$2`, and so on; no other has its `name`."""

    def __init__(self, name: str, sql: str) -> None:
        self.name = name.encode()
        self.sql = sql.encode()
        self._known: WeakKeyDictionary[Connection[object], bool] = WeakKeyDictionary()

    def execute(self, values: Sequence[str | None]) -> None:
        """Run it on Django's connection, in its transaction; None is NULL.

        Raises what psycopg's cursor raises; DataError for a text with a NUL, which
        libpq would cut there.
        """
        self._run(values)

    def fetch_rows(self, values: Sequence[str | None]) -> list[tuple[Any, ...]]:
        """Run it as `execute` does and fetch all rows, which come in binary."""
        raw, result = self._run(values)
        loading = Transformer(raw)
        loading.set_pgresult(result)
        return loading.load_rows(0, result.ntuples, tuple)

    def _run(self, values: Sequence[str | None]) -> tuple[Connection[object], PGresult]:
        # Psycopg's own type leaves None out, which it takes for NULL.
        given: list[Any] = [
            None if value is None else value.encode() for value in values
        ]
        if any(value is not None and b"\0" in value for value in given):
            raise DataError("PostgreSQL text can't contain NUL")
        wrapper = connections[DEFAULT_DB_ALIAS]  # `connection` looks it up each time
        wrapper.ensure_connection()
        raw: Connection[object] = wrapper.connection
        if not raw.autocommit and raw.pgconn.transaction_status == _IDLE:
            raw.execute("")  # psycopg opens the transaction with its first statement
        began = time.perf_counter()
        if raw not in self._known:
            _check(raw, raw.pgconn.prepare(self.name, self.sql))
            self._known[raw] = True
        result = raw.pgconn.exec_prepared(
            self.name, given, result_format=pq.Format.BINARY
        )
        if settings.SLOW_QUERY_MS:
            log_if_slow(self.sql, began)
        return raw, _check(raw, result)


def _check(raw: Connection[object], result: PGresult) -> PGresult:
    if result.status not in _DONE:
        raise error_from_result(result, raw.info.encoding)
    return result
