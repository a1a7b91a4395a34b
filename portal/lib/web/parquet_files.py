"""Rows as a Parquet file, streamed by row group."""

from __future__ import annotations

import io
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _typeshed import ReadableBuffer

# Ours: a group of some 2 MB, in which readers skip by time.
_GROUP_ROWS = 20_000


def write_parquet_file(
    columns: Mapping[str, str], rows: Iterator[Mapping[str, Any]]
) -> Iterator[bytes]:
    """Yield a Parquet file of rows in parts, in bounded memory.

    `columns` names the type of each: string, int64, double or timestamp, which is in
    microseconds UTC. Texts of times are ISO 8601 with an offset; what is no text in a
    column of texts is JSON. Source: Apache Parquet, by its own library pyarrow.
    """
    # Tens of MB, which only a download needs.
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    types = {"timestamp": pa.timestamp("us", tz="UTC")}
    schema = pa.schema(
        [(name, types.get(kind) or kind) for name, kind in columns.items()]
    )
    sink = _Sink()
    with ParquetWriter(sink, schema, compression="zstd") as writer:
        while part := list(islice(rows, _GROUP_ROWS)):
            cells = {
                name: [_cell(row[name], kind) for row in part]
                for name, kind in columns.items()
            }
            writer.write_table(pa.Table.from_pydict(cells, schema=schema))
            yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """A file whose written bytes are taken out as it grows."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._length += len(part)
        return len(part)

    def position(self) -> int:
        """Return the number of bytes written."""
        return self._length

    tell = position  # the name that files have

    def take(self) -> bytes:
        """Return what was written since the last call."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def _cell(value: Any, kind: str) -> Any:
    if value is None:
        return None
    match kind:
        case "timestamp":
            return datetime.fromisoformat(value) if isinstance(value, str) else value
        case "string" if not isinstance(value, str):
            return str(value) if not isinstance(value, dict) else _json(value)
        case _:
            return value


def _json(value: dict[str, Any]) -> str:
    return orjson.dumps(value, default=str).decode()
