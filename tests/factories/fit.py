"""FIT activities as a watch writes them; nobody's in truth."""

from __future__ import annotations

import struct
from datetime import UTC, datetime

START = datetime(2026, 2, 28, 16, 30, tzinfo=UTC)
_EPOCH = datetime(1989, 12, 31, tzinfo=UTC)
_TYPES = {"B": 0x02, "b": 0x01, "H": 0x84, "i": 0x85, "I": 0x86, "z": 0x8C, "e": 0x00}
_FILE_ID, _SESSION, _RECORD, _ACTIVITY = 0, 18, 20, 34
# Number, kind (one letter a value) and value of a field.
Field = tuple[int, str, int | tuple[int, ...]]
_DEGREES = 2**31 / 180


def make_fit(
    *,
    points: int = 60,
    manufacturer: int = 1,
    file_type: int = 4,
    sport: int = 1,
) -> bytes:
    """An activity of a point a second, of Garmin (1) unless another maker is named."""
    began = fit_time(START)
    body = _message(
        0,
        _FILE_ID,
        [
            (0, "e", file_type),
            (1, "H", manufacturer),
            (2, "H", 3113),
            (3, "z", 987654),
            (4, "I", began),
        ],
    )
    for second in range(points):
        fields: list[Field] = [
            (253, "I", began + second),
            (0, "i", round((52.5 + second / 10_000) * _DEGREES)),
            (1, "i", round(13.4 * _DEGREES)),
            (2, "H", (34 + 500) * 5),
            (3, "B", 120 + second % 20),
            (4, "B", 85),
            (5, "I", second * 300),
            (6, "H", 3000),
        ]
        body += _message(1, _RECORD, fields, is_defined=second > 0)
    body += _message(
        2,
        _SESSION,
        [
            (253, "I", began + points),
            (2, "I", began),
            (5, "e", sport),
            (7, "I", points * 1000),
            (8, "I", points * 900),
            (9, "I", points * 300),
            (11, "H", 12),
            (16, "B", 129),
            (17, "B", 139),
            (22, "H", 7),
        ],
    )
    body += _message(
        3,
        _ACTIVITY,
        [
            (253, "I", began + points),
            (5, "I", began + points + 3600),
        ],
    )
    return _wrap(body)


def fit_time(at: datetime) -> int:
    """A moment in the seconds of FIT."""
    return int((at - _EPOCH).total_seconds())


def fit_file(*messages: tuple[int, list[Field]]) -> bytes:
    """A file of these messages: the global number and fields of each."""
    return _wrap(b"".join(_message(0, *message) for message in messages))


def pack_12_bits(*numbers: int) -> tuple[int, ...]:
    """An even number of numbers of 12 bits as bytes, the lower bits first."""
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return tuple(
        byte
        for low, high in pairs
        for byte in (low & 0xFF, low >> 8 | (high & 0xF) << 4, high >> 4)
    )


def _wrap(body: bytes) -> bytes:
    header = struct.pack("<BBHI4s", 14, 0x20, 2132, len(body), b".FIT")
    header += struct.pack("<H", _crc(header))
    whole = header + body
    return whole + struct.pack("<H", _crc(whole))


def _message(
    local: int,
    number: int,
    fields: list[Field],
    *,
    is_defined: bool = False,
) -> bytes:
    data = bytes([local])
    for _, kind, value in fields:
        values = value if isinstance(value, tuple) else (value,)
        data += struct.pack("<" + kind.replace("e", "B").replace("z", "I"), *values)
    if is_defined:
        return data
    definition = bytes([0x40 | local, 0, 0]) + struct.pack("<HB", number, len(fields))
    for field, kind, _ in fields:
        size = struct.calcsize("<" + kind.replace("e", "B").replace("z", "I"))
        definition += bytes([field, size, _TYPES[kind[0]]])
    return definition + data


def _crc(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0xA001 if crc & 1 else crc >> 1
    return crc
