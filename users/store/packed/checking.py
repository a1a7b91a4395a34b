"""Checking packed days: each decodes, and its columns agree with what it holds."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from portal.lib.database import rows
from users.store.packed.days import DayKey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

_PAGE_ROWS = 500
_PAGE = """
    SELECT user_id, series, feed, day, first, last, total, low, high, count, longest,
        last_tz_offset, codec, checksum, payload
    FROM users_packedday
    WHERE (user_id, series, feed, day) > (%(user)s, %(series)s, %(feed)s, %(day)s)
        AND user_id < %(before)s
    ORDER BY user_id, series, feed, day LIMIT %(limit)s
"""
_USERS = "SELECT min(user_id), max(user_id) FROM users_packedday"


@dataclass(slots=True)
class CheckedDays:
    """How many packed days were checked, if all, and which of them are corrupt."""

    number: int = 0
    is_complete: bool = True
    corrupt: list[tuple[int, DayKey]] = field(default_factory=list)


def check_packed_days(*, seconds: float | None = None) -> CheckedDays:
    """Check all packed days, or those that `seconds` allow, beginning at any user."""
    started = time.monotonic()
    checked = CheckedDays()
    ((least, greatest),) = rows.fetch_rows(_USERS)
    if least is None:
        return checked
    # So that one check after the other sees all of them in the end.
    middle = least if seconds is None else random.randint(least, greatest)  # noqa: S311 - no secret
    for first, before in ((middle, greatest + 1), (least, middle)):
        for row in _walk(first, before):
            if seconds is not None and time.monotonic() - started > seconds:
                checked.is_complete = False
                return checked
            user_id, series, feed, day, *told = row
            checked.number += 1
            if not _is_sound(day, *told):
                checked.corrupt.append((user_id, DayKey(series, feed, day)))
    return checked


def _walk(first: int, before: int) -> Iterator[Any]:
    """Yield the packed days of users from `first` to below `before`, by key."""
    place: dict[str, Any] = {
        "user": first,
        "series": -(2**15),
        "feed": -(2**15),
        "day": "-infinity",
        "before": before,
        "limit": _PAGE_ROWS,
    }
    while found := rows.fetch_rows(_PAGE, place):
        yield from found
        last = found[-1]
        place |= dict(zip(("user", "series", "feed", "day"), last, strict=False))


def _is_sound(day: date, *told: Any) -> bool:
    from users.store.packed.codec import (
        CorruptDayError,
        convert_to_datetimes,
        decode_day,
    )

    first, last, total, low, high, count, longest, offset, codec, checksum, payload = (
        told
    )
    try:
        held = decode_day(payload, day=day, count=count, codec=codec, checksum=checksum)
    except CorruptDayError:
        return False
    return (first, last, total, low, high, longest, offset) == (
        *convert_to_datetimes(held.ts[[0, -1]]),
        float(held.value.sum()),
        float(held.value.min()),
        float(held.value.max()),
        int(held.duration.max()),
        int(held.tz_offset[-1]),
    )
