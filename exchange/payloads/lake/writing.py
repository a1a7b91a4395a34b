"""Write a month's rows of a dataset as Parquet, row group by row group.

The same rows make the same bytes: nothing in a file says when or where it was made.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from exchange.payloads.lake.schema import DATASETS, build_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyarrow.parquet import ParquetWriter

    from users.store.months import SeriesColumns

# Ours: readers skip groups by user and time; a group of samples is held in memory whole
# while it is made, at some 70 bytes a row.
GROUP_SAMPLES = 500_000
_GROUP_ROWS = 20_000
_LEVEL = 9  # of zstd: a tenth smaller than 3, and reading takes no longer
# Its clock starts in 1970, that of the store in 2000.
_EPOCH = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
# Times of one source follow in equal steps: deltas, not a dictionary.
_DELTAS = {
    "samples": ("timestamp",),
    "summaries": ("starts_at",),
    "results": ("reported_at",),
}
# What is of all samples of a series and source.
_CONSTANTS = (
    *("user_id", "resource", "type", "unit", "provider", "source_type"),
    *("app_id", "device_id", "workout_id", "sport"),
)


@contextmanager
def open_sample_writer(target: BinaryIO) -> Iterator[SampleWriter]:
    """Write samples to a file, which is whole when the block has ended."""
    with _open_writer(target, "samples") as writer:
        samples = SampleWriter(writer)
        yield samples
        samples.flush()


class SampleWriter:
    """Samples in the order in which they are added; see `open_sample_writer`."""

    def __init__(self, writer: ParquetWriter) -> None:
        self._writer = writer
        self._arrays: dict[str, list[Any]] = defaultdict(list)
        self._words: dict[str, dict[str | None, int]] = defaultdict(dict)
        self._extras: list[tuple[int, str]] = []
        self._waiting = 0
        self.rows = 0

    def add(
        self,
        part: SeriesColumns,
        origins: Mapping[int, Mapping[str, str | None]],
        words: Mapping[str, str | None],
    ) -> None:
        """Add samples of one series and source.

        `origins` has app_id, device_id, workout_id and sport by number, `words` the
        other constants.
        """
        import numpy as np

        columns, number = part.columns, len(part.columns.ts)
        place = 0
        while place < number:
            taken = min(GROUP_SAMPLES - self._waiting, number - place)
            step = slice(place, place + taken)
            self._arrays["timestamp"].append(columns.ts[step] + _EPOCH)
            self._arrays["value"].append(columns.value[step])
            self._arrays["duration"].append(columns.duration[step])
            self._arrays["timezone_offset"].append(columns.tz_offset[step])
            for name, word in words.items():
                self._arrays[name].append(
                    np.full(taken, self._number(name, word), np.int32)
                )
            numbers, where = np.unique(columns.origin[step], return_inverse=True)
            found = [origins[each] for each in numbers.tolist()]
            for name in _CONSTANTS[-4:]:
                codes = [self._number(name, each[name]) for each in found]
                self._arrays[name].append(np.array(codes, np.int32)[where])
            self._extras.extend(
                (self._waiting + index - place, orjson.dumps(extra).decode())
                for index, extra in part.extras.items()
                if place <= index < place + taken
            )
            place += taken
            self._waiting += taken
            if self._waiting == GROUP_SAMPLES:
                self.flush()

    def _number(self, column: str, word: str | None) -> int:
        """Return the number of a word in the group's dictionary; -1 stands for null."""
        if word is None:
            return -1
        known = self._words[column]
        return known.setdefault(word, len(known))

    def flush(self) -> None:
        """Write what was added as a row group."""
        import numpy as np
        import pyarrow as pa

        if not self._waiting:
            return
        schema = self._writer.schema
        columns: dict[str, Any] = {}
        for name, parts in self._arrays.items():
            column = np.concatenate(parts)
            parts.clear()
            if name in _CONSTANTS:
                codes = pa.array(column, mask=column < 0)
                known = pa.array(list(self._words[name]), pa.string())
                columns[name] = pa.DictionaryArray.from_arrays(codes, known)
            elif name == "timestamp":
                kind = schema.field("timestamp").type
                columns[name] = pa.array(column).view(kind)
            else:
                columns[name] = pa.array(column)
        columns["extra"] = pa.nulls(self._waiting, pa.string())
        if self._extras:
            extras: list[str | None] = [None] * self._waiting
            for place, text in self._extras:
                extras[place] = text
            columns["extra"] = pa.array(extras, pa.string())
        table = pa.Table.from_arrays(
            [columns[name] for name in schema.names], schema=schema
        )
        self._writer.write_table(table, row_group_size=GROUP_SAMPLES)
        self.rows += self._waiting
        self._waiting = 0
        self._words.clear()
        self._extras.clear()


def write_records(
    target: BinaryIO, dataset: str, records: Iterable[Mapping[str, Any]]
) -> int:
    """Write rows of a dataset, each with every column; return how many."""
    import pyarrow as pa

    number = 0
    left: Iterator[Mapping[str, Any]] = iter(records)
    with _open_writer(target, dataset) as writer:
        while group := list(islice(left, _GROUP_ROWS)):
            writer.write_table(pa.Table.from_pylist(group, schema=writer.schema))
            number += len(group)
    return number


@contextmanager
def _open_writer(target: BinaryIO, dataset: str) -> Iterator[ParquetWriter]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = build_arrow_schema(dataset)
    if dataset == "samples":
        # Words are handed over by number, which the writer keeps as they are.
        words = pa.dictionary(pa.int32(), pa.string())
        for name in _CONSTANTS:
            place = schema.get_field_index(name)
            schema = schema.set(place, schema.field(place).with_type(words))
    deltas = _DELTAS[dataset]
    with ParquetWriter(
        target,
        schema,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[
            each.name for each in DATASETS[dataset].columns if each.name not in deltas
        ],
        column_encoding=dict.fromkeys(deltas, "DELTA_BINARY_PACKED"),
        # Readers see the types of the schema, not those of Arrow's memory.
        store_schema=False,
    ) as writer:
        yield writer
