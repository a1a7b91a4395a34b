"""Statements that every call makes, past psycopg's own machinery.

For a statement of a dozen small values psycopg's cursor costs six times what libpq
does: it looks for a dumper of each value, and waits in Python. Here a statement is
prepared once for each connection, and its values are text that PostgreSQL reads.
"""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import DataError, Error, pq
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import fetch

from portal.lib.database.rows import PackedArray
from portal.lib.database.slow_queries import log_if_slow

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from psycopg import Connection
    from psycopg.pq.abc import PGconn, PGresult

    Value = str | bytes | None

_IDLE = pq.TransactionStatus.IDLE
_NAMED = re.compile(r"%\((\w+)\)[sb]")
# What Citus says of a plan for any values; noted on the connection.
_NOT_SUPPORTED = b"0A000"
_IS_SPREAD = "assay_is_spread"
_DONE = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
# Where a connection keeps what was read on it ahead.
_AHEAD = "assay_ahead"


class PreparedStatement:
    """A statement with `$1`, `$2`, and so on; no other has its `name`."""

    def __init__(self, name: str, sql: str) -> None:
        self.name = name.encode()
        self.sql = sql.encode()

    def execute(self, values: Sequence[Value]) -> None:
        """Run it on Django's connection, in its transaction; None is NULL.

        Bytes are in PostgreSQL's binary form. Raises what psycopg's cursor raises;
        DataError for a text with a NUL, which libpq would cut there.
        """
        self._run(values)

    def fetch_rows(self, values: Sequence[Value]) -> list[tuple[Any, ...]]:
        """Run it as `execute` does and fetch all rows, which come in binary."""
        raw, result = self._run(values)
        loading = Transformer(raw)
        loading.set_pgresult(result)
        return loading.load_rows(0, result.ntuples, tuple)

    def _run(self, values: Sequence[Value]) -> tuple[Connection[object], PGresult]:
        given = [_encode(value) for value in values]
        formats = [
            pq.Format.BINARY if isinstance(value, bytes) else pq.Format.TEXT
            for value in values
        ]
        wrapper = connections[DEFAULT_DB_ALIAS]  # `connection` looks it up each time
        wrapper.ensure_connection()
        raw: Connection[object] = wrapper.connection
        if (ahead := vars(raw).pop(_AHEAD, None)) is not None:
            read, result = ahead
            if read == (self, values):
                return raw, result
        _begin_transaction(raw)
        began = time.perf_counter()
        result = self.ask(raw, given, formats)
        if settings.SLOW_QUERY_MS:
            log_if_slow(self.sql, began)
        return raw, _check(raw, result)

    def ask(
        self,
        raw: Connection[Any],
        given: Sequence[Any],
        formats: list[pq.Format] | None = None,
    ) -> PGresult:
        """Run it on this connection as it is, and return what libpq says."""
        return self.prepare(raw) or raw.pgconn.exec_prepared(
            self.name, given, formats, result_format=pq.Format.BINARY
        )

    def prepare(self, raw: Connection[Any]) -> PGresult | None:
        """Let the connection know it; return the result if that failed."""
        # Kept by the connection itself, as what PostgreSQL knows ends with it.
        known: set[bytes] = vars(raw).setdefault("assay_prepared", set())
        if self.name in known:
            return None
        result = raw.pgconn.prepare(self.name, self.sql)
        if result.status not in _DONE:
            return result
        known.add(self.name)
        return None


class Read(NamedTuple):
    """What a prepared statement is to read."""

    statement: PreparedStatement
    values: Sequence[Value]


def ask_together(
    raw: Connection[Any],
    *questions: tuple[PreparedStatement, Sequence[Any], list[pq.Format] | None],
) -> list[PGresult]:
    """Run prepared statements in one round trip, and return what libpq says of each.

    Of each its values, and their formats, None if all are text. Outside of a
    transaction they are one: where one is refused, none has done anything. Raises: as
    psycopg, where the connection is lost; it is closed then.
    """
    connection = raw.pgconn
    try:
        connection.enter_pipeline_mode()
        for statement, given, formats in questions:
            connection.send_query_prepared(
                statement.name, given, formats, result_format=pq.Format.BINARY
            )
        connection.pipeline_sync()
        results = raw.wait(_fetch_until_synced(connection))
        connection.exit_pipeline_mode()
    except BaseException:
        raw.close()  # which answer is next on it is not known
        raise
    return results


def read_ahead(
    raw: Connection[Any],
    statement: PreparedStatement,
    values: Sequence[Any],
    read: Read,
) -> PGresult | None:
    """Run a statement, and in the same round trip what will be read right after it.

    The next prepared statement of this connection finds the rows there, if it is that
    one. Returns the result of the first; None where nothing was run, as both failed,
    or the connection.
    """
    if raw.closed or (not raw.autocommit and raw.pgconn.transaction_status == _IDLE):
        return None
    try:
        if statement.prepare(raw) or read.statement.prepare(raw):
            return None
        given = [_encode(value) for value in read.values]
        results = ask_together(
            raw, (statement, values, None), (read.statement, given, None)
        )
    except Error:
        return None
    if any(each.status not in _DONE for each in results):
        return None
    done, found = results
    vars(raw)[_AHEAD] = read, found
    return done


def forget_what_was_read_ahead(raw: Connection[Any]) -> None:
    """Let no later statement find what nothing has asked for."""
    vars(raw).pop(_AHEAD, None)


def _fetch_until_synced(connection: PGconn) -> Generator[Any, Any, list[PGresult]]:
    """Fetch the results of a round trip, as psycopg waits for them."""
    results: list[PGresult] = []
    while True:
        result = yield from fetch(connection)
        if result is None:
            continue  # between two statements
        if result.status == pq.ExecStatus.PIPELINE_SYNC:
            return results
        results.append(result)


class StatementByIndex(PreparedStatement):
    """A prepared statement of partitions, planned once and along their indexes.

    To plan it for each call's values would cost several times what it reads, and a plan
    for any values would sort, as it costs nothing to look through months that are empty
    yet. So sorts and scans of tables are switched off for this statement, in the same
    round trip. Within a transaction of the caller's it runs as any other, as the switch
    would hold to that transaction's end; and where its tables are spread over machines,
    as which of them to ask depends on the values.
    """

    def ask(
        self,
        raw: Connection[Any],
        given: Sequence[Any],
        formats: list[pq.Format] | None = None,
    ) -> PGresult:
        if raw.pgconn.transaction_status != _IDLE or _IS_SPREAD in vars(raw):
            return super().ask(raw, given, formats)
        refusal = self.prepare(raw) or _BY_INDEX.prepare(raw)
        if refusal is not None:
            return refusal
        settled, read = ask_together(raw, (_BY_INDEX, (), None), (self, given, formats))
        if read.error_field(pq.DiagnosticField.SQLSTATE) == _NOT_SUPPORTED:
            vars(raw)[_IS_SPREAD] = True
            return super().ask(raw, given, formats)
        return read if settled.status in _DONE else settled


# Local to the transaction, which is that of the round trip.
_BY_INDEX = PreparedStatement(
    "by_index",
    "SELECT set_config('plan_cache_mode', 'force_generic_plan', true),"
    " set_config('enable_sort', 'off', true),"
    " set_config('enable_seqscan', 'off', true)",
)


class NamedStatement(PreparedStatement):
    """A prepared statement that is written as psycopg's are, with `%(name)s`."""

    def __init__(self, name: str, sql: str) -> None:
        self.inputs = list(dict.fromkeys(_NAMED.findall(sql)))
        places = {each: f"${place}" for place, each in enumerate(self.inputs, 1)}
        numbered = _NAMED.sub(lambda found: places[found[1]], sql)
        super().__init__(name, numbered.replace("%%", "%"))

    def fetch(self, inputs: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """Run it with these inputs, of which it may need some, and fetch all rows.

        Takes text, numbers, times, UUIDs and PackedArrays.
        """
        return self.fetch_rows([_write(inputs[name]) for name in self.inputs])


def _begin_transaction(raw: Connection[object]) -> None:
    """Open the transaction that psycopg opens with its first statement.

    Outside of it a lock would not last as long as the caller thinks.
    """
    if raw.autocommit or raw.pgconn.transaction_status != _IDLE:
        return
    if raw.isolation_level or raw.read_only or raw.deferrable:
        raw.execute("")  # psycopg knows how
    else:
        _check(raw, raw.pgconn.exec_(b"BEGIN"))


def _write(value: object) -> Value:
    if isinstance(value, PackedArray):
        return value.data
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, str) else str(value)


def _encode(value: Value) -> Any:
    # Psycopg's own type leaves None out, which it takes for NULL.
    if value is None or isinstance(value, bytes):
        return value
    if "\0" in value:
        raise DataError("PostgreSQL text can't contain NUL")
    return value.encode()


def _check(raw: Connection[object], result: PGresult) -> PGresult:
    if result.status not in _DONE:
        raise error_from_result(result, raw.info.encoding)
    return result
