"""Read the fields of Garmin's summaries.

Times are Unix seconds, with the offset of the device's clock apart, which its user may
set to anything within a day of UTC. Maps have seconds since the start as keys.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from users.gateways.base import PulledBatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from users.states import SourceType

Summary = dict[str, Any]
Batches = tuple[PulledBatch, ...]
# Ours: no clock of the world is further off; one that is set so keeps its time in UTC.
_FARTHEST_OFFSET = 14 * 3600


def make_batch(resource: str, kind: SourceType, elements: Iterable[Summary]) -> Batches:
    """Return a batch of elements; none without any."""
    found = list(elements)
    return (PulledBatch(resource, found, kind),) if found else ()


def read_values(each: Summary, key: str) -> Iterator[tuple[str, float]]:
    """Yield the values of a map with their moments."""
    start, values = read_start(each), each.get(key)
    if start is None or not isinstance(values, dict):
        return
    for offset, value in values.items():
        if offset.isascii() and offset.isdigit() and type(value) in (int, float):
            yield (start + timedelta(seconds=int(offset))).isoformat(), value


def read_start(
    each: Summary,
    key: str = "startTimeInSeconds",
    offset_key: str = "startTimeOffsetInSeconds",
) -> datetime | None:
    """Return a time with the offset of its clock; None if absent."""
    seconds = each.get(key)
    if type(seconds) not in (int, float):
        return None
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)  # type: ignore[arg-type]  # one of the two
    except (OverflowError, OSError, ValueError):
        return None
    offset = read_offset(each, offset_key)
    return moment.astimezone(timezone(timedelta(seconds=offset)))


def read_offset(each: Summary, key: str = "startTimeOffsetInSeconds") -> int:
    """Return the offset of a clock in seconds; 0 if absent."""
    offset = each.get(key)
    return offset if type(offset) is int and abs(offset) <= _FARTHEST_OFFSET else 0


def read_day(each: Summary) -> str | None:
    """Return the date that Garmin shows a summary at, or that of its start."""
    try:
        return date.fromisoformat(str(each.get("calendarDate"))).isoformat()
    except ValueError:
        start = read_start(each)
        return start.date().isoformat() if start else None


def read_minutes(each: Summary, key: str) -> float | None:
    """Return seconds as minutes."""
    seconds = read_number(each, key)
    return None if seconds is None else round(seconds / 60, 2)


def read_sum(each: Summary, *keys: str) -> float | None:
    """Return the sum of fields; None unless all are there."""
    values = [read_number(each, key) for key in keys]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(keys) else None


def read_rate(each: Summary, key: str) -> int | None:
    """Return a rate, of which 0 is none."""
    return read_count(each, key) or None


def read_count(each: Summary, key: str) -> int | None:
    """Return a whole number from 0; None if absent."""
    value = each.get(key)
    return value if type(value) is int and value >= 0 else None


def read_number(each: Summary, key: str) -> float | None:
    """Return a number from 0; None if absent."""
    value = each.get(key)
    return value if type(value) in (int, float) and value >= 0 else None  # type: ignore[operator]  # one of the two


def read_text(each: Summary, key: str) -> str | None:
    """Return a text; None if absent."""
    value = each.get(key)
    return value if isinstance(value, str) and value.strip() else None


def read_list(each: Summary, key: str) -> list[Summary]:
    """Return the objects of a list."""
    value = each.get(key)
    return (
        [one for one in value if isinstance(one, dict)]
        if isinstance(value, list)
        else []
    )
