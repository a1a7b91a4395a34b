"""Psycopg's own cursor on Django's connection, for hot reads and bulk writes.

Django's cursors bind on the client and convert row by row; this one binds on the server
and fetches binary (performance.md 2b). Only measured hot paths use it; everything else
is the ORM.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Cursor
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import TupleRow, tuple_row

from portal.lib.database.slow_queries import WatchedCursor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from psycopg.abc import Buffer

_JSONB_OID = 3802
# Where PostgreSQL's clock starts.
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class PackedArray:
    """An array in PostgreSQL's binary form; its place in the statement names its type.

    Packing whole columns costs a fifth of binding lists, which psycopg does value by
    value.
    """

    data: bytes


class _PackedArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: PackedArray) -> bytes:
        return obj.data


class _JsonbLoader(Loader):
    """Decode `jsonb` as the API does, in a tenth of the time that `json` takes."""

    format = Format.BINARY

    def load(self, data: Buffer) -> Any:
        return orjson.loads(bytes(data)[1:])  # after the format's version, 1


def open_database_cursor() -> Cursor[TupleRow]:
    """Open a psycopg cursor in Django's transaction, results as tuples."""
    wrapper = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up each time
    wrapper.ensure_connection()
    adapters = wrapper.connection.adapters
    if adapters.get_loader(_JSONB_OID, Format.BINARY) is not _JsonbLoader:
        adapters.register_loader("jsonb", _JsonbLoader)
    kind = WatchedCursor if settings.SLOW_QUERY_MS else Cursor
    return kind(wrapper.connection, row_factory=tuple_row)


def fetch_rows(
    query: str, inputs: Sequence[Any] | Mapping[str, Any] = ()
) -> list[TupleRow]:
    """Run one statement with bound inputs and fetch all rows, in binary."""
    with open_database_cursor() as opened:
        opened.execute(query.encode(), inputs, binary=True)
        return opened.fetchall()


def fetch_rows_with_packed_arrays(
    query: str, inputs: Mapping[str, Any]
) -> list[TupleRow]:
    """Fetch rows as fetch_rows does, with PackedArrays among the inputs."""
    with open_database_cursor() as opened:
        opened.adapters.register_dumper(PackedArray, _PackedArrayDumper)
        opened.execute(query.encode(), inputs, binary=True)
        return opened.fetchall() if opened.description else []


def pack_smallint_array(values: Iterable[int]) -> PackedArray:
    """Return a `smallint[]`."""
    return _pack(array("h", values), oid=21)


def pack_integer_array(values: Iterable[int]) -> PackedArray:
    """Return an `integer[]`."""
    return _pack(array("i", values), oid=23)


def pack_double_array(values: Iterable[float]) -> PackedArray:
    """Return a `float8[]`."""
    return _pack(array("d", values), oid=701)


def pack_timestamp_array(values: Iterable[int]) -> PackedArray:
    """Return a `timestamptz[]` of what `convert_to_postgres_microseconds` gives."""
    return _pack(array("q", values), oid=1184)


def pack_text_array(values: Iterable[str]) -> PackedArray:
    """Return a `text[]`."""
    encoded = [value.encode() for value in values]
    parts = [_header(len(encoded), oid=25)]
    for each in encoded:
        parts += (len(each).to_bytes(4), each)
    return PackedArray(b"".join(parts))


def convert_to_postgres_microseconds(moments: Iterable[datetime]) -> list[int]:
    """Convert aware times to microseconds from 2000, as PostgreSQL stores them."""
    # By hand: a division by a microsecond takes twice as long.
    return [
        span.days * _DAY + span.seconds * 1_000_000 + span.microseconds
        for span in [moment - _EPOCH for moment in moments]
    ]


def _pack(values: array[Any], *, oid: int) -> PackedArray:
    """Pack values for `array_recv`: a header, then each value after its length."""
    size, number = values.itemsize, len(values)
    if sys.byteorder == "little":
        values.byteswap()
    raw = values.tobytes()
    step = 4 + size
    body = bytearray(step * number)
    body[3::step] = bytes((size,)) * number
    for place in range(size):
        body[4 + place :: step] = raw[place::size]
    return PackedArray(_header(number, oid=oid) + bytes(body))


def _header(number: int, *, oid: int) -> bytes:
    header = (int(number > 0), 0, oid) + ((number, 1) if number else ())
    return b"".join(each.to_bytes(4) for each in header)
