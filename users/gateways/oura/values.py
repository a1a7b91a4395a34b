"""Parse values of Oura's documents: times, offsets, numbers and samples."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeGuard

# A JSON object of a collection, fields as Oura names them.
Document = dict[str, Any]


def is_json_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a JSON number."""
    return type(value) in (int, float)


def round_number_or_none(value: object) -> int | None:
    """Round a number; None for other values."""
    return round(value) if isinstance(value, int | float) else None


def parse_time_with_offset(text: str) -> datetime:
    """Parse a time with offset, of a text that `parse_utc_offset` accepts."""
    return datetime.fromisoformat(text)


def parse_utc_offset(text: object) -> int | None:
    """Parse the UTC offset of a time in seconds; None if invalid."""
    if not isinstance(text, str):
        return None
    try:
        offset = datetime.fromisoformat(text).utcoffset()
    except ValueError:
        return None
    return None if offset is None else int(offset.total_seconds())


def build_samples_at_fixed_interval(recorded: object) -> list[dict[str, Any]]:
    """Build samples of a PublicSample: values every `interval` seconds, gaps null."""
    if not isinstance(recorded, dict):
        return []
    offset = parse_utc_offset(recorded.get("timestamp"))
    step, items = recorded.get("interval"), recorded.get("items")
    if offset is None or not is_json_number(step) or not isinstance(items, list):
        return []
    start = parse_time_with_offset(recorded["timestamp"])
    return [
        {
            "timestamp": (start + timedelta(seconds=step * place)).isoformat(),
            "timezone_offset": offset,
            "value": value,
        }
        for place, value in enumerate(items)
        if is_json_number(value) and value > 0
    ]
