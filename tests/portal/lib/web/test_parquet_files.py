from __future__ import annotations

import io
from datetime import UTC, datetime

from pyarrow.parquet import ParquetFile

from portal.lib.web.parquet_files import write_parquet_file

COLUMNS = {"at": "timestamp", "value": "double", "count": "int64", "what": "string"}


def written(*rows):
    """The parts of a file of these rows, and its rows as they are read."""
    parts = list(write_parquet_file(COLUMNS, iter(rows)))
    return parts, ParquetFile(io.BytesIO(b"".join(parts))).read().to_pylist()


def test_values_keep_their_types_and_others_are_json():
    at = datetime(2026, 2, 28, 10, tzinfo=UTC)
    row = {"at": "2026-02-28T11:00:00+01:00", "value": 1, "count": 2, "what": {"a": 1}}

    _, rows = written(row, dict.fromkeys(COLUMNS))

    assert rows == [
        {"at": at, "value": 1.0, "count": 2, "what": '{"a":1}'},
        dict.fromkeys(COLUMNS),
    ]


def test_a_file_of_nothing_opens():
    _, rows = written()

    assert rows == []
