"""The form of a packed day, version 1: five columns, coded without loss.

docs/explanation/packed-days.md describes it, with a script that reads it without this
code. NumPy and pcodec are imported with this module alone, when a packed day is met.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from pcodec import ChunkConfig, DeltaSpec, ModeSpec, standalone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

VERSION = 1
DAY = 86_400_000_000  # microseconds
_SECOND = 1_000_000
# PostgreSQL's clock starts then; numbers of days count from it too.
EPOCH = date(2000, 1, 1)
_EPOCH = np.datetime64("2000-01-01", "us")
# Level 4 packs twice as fast as the library's 8 and into the same bytes within 2 %.
_CONFIG = ChunkConfig(compression_level=4)
# Seconds ascend by steps that repeat; to look for a better way takes as long again.
_SECONDS_CONFIG = ChunkConfig(
    compression_level=4,
    mode_spec=ModeSpec.classic(),
    delta_spec=DeltaSpec.try_consecutive(1),
)
# A part: how it is coded, its bytes. A constant is stored once, as a float64 or int64.
_PART = struct.Struct("<cI")
_FLOAT, _INTEGER = struct.Struct("<d"), struct.Struct("<q")
_CONSTANT_FLOAT, _CONSTANT_INTEGER = b"d", b"q"
_PACKED, _PACKED_SECONDS = b"p", b"s"


class CorruptDayError(Exception):
    """A packed day does not decode to what was packed; names its place."""


@dataclass(frozen=True, slots=True)
class DayColumns:
    """Samples of one user, series, feed and UTC day, ascending by time.

    `ts` counts microseconds from 2000; the rest as in users.models.Sample.
    """

    ts: NDArray[np.int64]
    value: NDArray[np.float64]
    tz_offset: NDArray[np.int32]
    duration: NDArray[np.int32]
    origin: NDArray[np.int32]

    def all(self) -> tuple[NDArray[Any], ...]:
        """Return the columns in the order in which they are packed."""
        return self.ts, self.value, self.tz_offset, self.duration, self.origin

    def take(self, which: Any) -> DayColumns:
        """Return the samples that an index array, a mask or a slice selects."""
        return DayColumns(*(column[which] for column in self.all()))

    def equals(self, other: DayColumns) -> bool:
        """Return whether both are the same to the bit."""
        return all(
            one.tobytes() == two.tobytes()
            for one, two in zip(self.all(), other.all(), strict=True)
        )


def join_days(older: DayColumns, newer: DayColumns) -> DayColumns:
    """Return the samples of both, ascending; of one time the newer wins."""
    joined = DayColumns(
        *(np.concatenate(pair) for pair in zip(older.all(), newer.all(), strict=True))
    )
    ordered = joined.take(np.argsort(joined.ts, kind="stable"))
    is_last = np.append(ordered.ts[1:] != ordered.ts[:-1], True)
    return ordered if is_last.all() else ordered.take(is_last)


def encode_day(columns: DayColumns, day: date) -> bytes:
    """Pack samples of a UTC day."""
    return b"".join(
        (
            _encode_times(columns.ts - convert_to_microseconds(day)),
            _encode_values(columns.value),
            *map(_encode_integers, columns.all()[2:]),
        )
    )


def decode_day(
    payload: bytes, *, day: date, count: int, codec: int, checksum: int
) -> DayColumns:
    """Unpack a day. Raises: CorruptDayError."""
    if codec != VERSION:
        raise CorruptDayError(f"{day}: unknown codec {codec}")
    if compute_checksum(payload) != checksum:
        raise CorruptDayError(f"{day}: the checksum differs")
    try:
        ts, value, *integers = _decode_parts(payload, count)
    except (RuntimeError, TypeError, ValueError, struct.error) as error:
        raise CorruptDayError(f"{day}: {type(error).__name__}") from error
    columns = DayColumns(
        ts.astype(np.int64) + convert_to_microseconds(day),
        value.astype(np.float64, copy=False),
        *(each.astype(np.int32, copy=False) for each in integers),
    )
    if any(len(column) != count for column in columns.all()):
        raise CorruptDayError(f"{day}: not {count} samples")
    return columns


def compute_checksum(payload: bytes) -> int:
    """Return the CRC-32 of a payload as PostgreSQL's integer, which has a sign."""
    found = zlib.crc32(payload)
    return found - 2**32 if found >= 2**31 else found


def convert_to_microseconds(day: date) -> int:
    """Return where a UTC day begins, in microseconds from 2000."""
    return (day - EPOCH).days * DAY


def convert_to_day(moment: int) -> date:
    """Return the UTC day of a number of microseconds from 2000."""
    return EPOCH + timedelta(days=moment // DAY)


def convert_to_datetimes(ts: NDArray[np.int64]) -> list[datetime]:
    """Return times as aware datetimes, UTC."""
    moments: list[datetime] = (_EPOCH + ts.astype("timedelta64[us]")).tolist()
    return [moment.replace(tzinfo=UTC) for moment in moments]


def _encode_times(ts: NDArray[np.int64]) -> bytes:
    if _is_constant(ts):
        return _part(_CONSTANT_INTEGER, _INTEGER.pack(ts[0]))
    seconds, rest = np.divmod(ts, _SECOND)
    if rest.any():
        return _part(_PACKED, standalone.simple_compress(ts, _CONFIG))
    packed = standalone.simple_compress(seconds.astype(np.uint32), _SECONDS_CONFIG)
    return _part(_PACKED_SECONDS, packed)


def _encode_values(value: NDArray[np.float64]) -> bytes:
    """Pack values, whole numbers as integers: a quarter less, and exact as well."""
    bits = value.view(np.int64)
    if _is_constant(bits):
        return _part(_CONSTANT_FLOAT, _FLOAT.pack(value[0]))
    with np.errstate(invalid="ignore"):
        whole = value.astype(np.int32)
    # By bits: a negative zero is no integer.
    is_whole = np.array_equal(whole.astype(np.float64).view(np.int64), bits)
    kept = whole if is_whole else np.ascontiguousarray(value)
    return _part(_PACKED, standalone.simple_compress(kept, _CONFIG))


def _encode_integers(column: NDArray[np.int32]) -> bytes:
    if _is_constant(column):
        return _part(_CONSTANT_INTEGER, _INTEGER.pack(column[0]))
    kept = np.ascontiguousarray(column)
    return _part(_PACKED, standalone.simple_compress(kept, _CONFIG))


def _is_constant(column: NDArray[Any]) -> bool:
    # Most that differ do so at their ends.
    return bool(column[0] == column[-1] and (column == column[0]).all())


def _part(kind: bytes, content: bytes) -> bytes:
    return _PART.pack(kind, len(content)) + content


def _decode_parts(payload: bytes, count: int) -> Sequence[NDArray[Any]]:
    columns: list[NDArray[Any]] = []
    place = 0
    while place < len(payload):
        kind, size = _PART.unpack_from(payload, place)
        place += _PART.size
        content = payload[place : place + size]
        place += size
        if kind == _CONSTANT_FLOAT:
            columns.append(np.full(count, _FLOAT.unpack(content)[0]))
        elif kind == _CONSTANT_INTEGER:
            columns.append(np.full(count, _INTEGER.unpack(content)[0]))
        elif kind == _PACKED:
            columns.append(_unpack(content))
        elif kind == _PACKED_SECONDS:
            columns.append(_unpack(content).astype(np.int64) * _SECOND)
        else:
            raise ValueError("unknown part")
    return columns


def _unpack(content: bytes) -> NDArray[Any]:
    found: NDArray[Any] = standalone.simple_decompress(content)
    return found
