"""Samples on their way: columns to write, rows that were read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

# Of a sample as `read_range` gives it: ts (UTC), series, feed, value, tz_offset,
# duration, origin, extra or None.
SampleRow = tuple[datetime, int, int, float, int, int, int, "dict[str, Any] | None"]


@dataclass(frozen=True, slots=True)
class SampleColumns:
    """Samples of one user and feed, as lists of equal length.

    Of one (series, ts) there is at most one. `ts` is aware, `tz_offset` and `duration`
    are seconds. `extra` is JSON by index into the lists; one that is absent here is
    removed where it was stored.
    """

    series: list[int]
    ts: list[datetime]
    value: list[float]
    tz_offset: list[int]
    duration: list[int]
    origin: list[int]
    extra: dict[int, dict[str, Any]] = field(default_factory=dict)
