"""The grouped answer of samples (contract 5.1), and its cursor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from portal.lib.api.pagination import (
    build_invalid_cursor_error,
    decode_page_cursor,
    encode_page_cursor,
)
from users.wearables.timeseries.readings import FIRST_MOMENT

if TYPE_CHECKING:
    from users.store.pages import Key, SamplePage

_TICK = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def build_grouped_samples_response(page: SamplePage) -> dict[str, Any]:
    """Return a page of samples by source, and the cursor of the next page."""
    cursor = encode_sample_cursor(page.last)
    return {"groups": page.groups, "next_cursor": cursor, "next": cursor}


def encode_sample_cursor(last: Key | None) -> str | None:
    """Return the cursor of a key; None for None."""
    if last is None:
        return None
    ts, series, feed = last
    return encode_page_cursor([str((ts - _EPOCH) // _TICK), str(series), str(feed)])


def decode_sample_cursor(cursor: str | None) -> Key | None:
    """Return the key of a cursor. Raises: 422 at next_cursor."""
    if cursor is None:
        return None
    try:
        ticks, series, feed = map(int, decode_page_cursor(cursor, length=3))
        moment = _EPOCH + ticks * _TICK
    except (ValueError, OverflowError):
        raise build_invalid_cursor_error() from None
    if not moment >= FIRST_MOMENT or not 0 <= series < 2**15 or not 0 <= feed < 2**15:
        raise build_invalid_cursor_error()
    return moment, series, feed
