"""Psycopg's own cursor on Django's connection, for hot reads and COPY.

Django's cursors bind on the client and convert row by row; this one binds on the server
and fetches binary (performance.md 2b). Only measured hot paths use it; everything else
is the ORM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Cursor
from psycopg.rows import TupleRow, tuple_row

if TYPE_CHECKING:
    from collections.abc import Sequence


def cursor() -> Cursor[TupleRow]:
    """Open a psycopg cursor in Django's transaction, results as tuples."""
    wrapper = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up each time
    wrapper.ensure_connection()
    return Cursor(wrapper.connection, row_factory=tuple_row)


def fetch_rows(query: str, inputs: Sequence[Any] = ()) -> list[TupleRow]:
    """Run one statement with bound inputs and fetch all rows, in binary."""
    with cursor() as opened:
        opened.execute(query.encode(), inputs, binary=True)
        return opened.fetchall()
