"""Plain values as vendors write them: numbers, times, offsets and durations.

Source: Ours, from the files that vendors' exports hold (tests/bench/health_files.csv).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLAIN = re.ASCII | re.IGNORECASE
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
_OFFSET = re.compile(
    r"(?:UTC|GMT)?\s*([+-])(\d{1,2}):?(\d\d)?", re.ASCII | re.IGNORECASE
)
_DATE = re.compile(
    r"(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})"
    r"(?:[ T]+(\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d+)?\s*([AP]\.?M\.?)?)?",
    re.ASCII | re.IGNORECASE,
)
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d\d)(?:[.,](\d+))?", re.ASCII)
_FARTHEST = 18 * 3600
_LENGTH_MAX = 40


def parse_number(text: object, *, comma: str = "thousands") -> float | None:
    """Return a finite number; `comma` says whether one is `decimal` or `thousands`.

    None for what is no number: words, dashes and cells that mix both.
    """
    if type(text) in (int, float):
        return float(text) if isfinite(text) else None  # type: ignore[arg-type]
    if not isinstance(text, str) or len(text) > _LENGTH_MAX:
        return None
    text = text.strip().replace("\u00a0", "").replace("\u202f", "").replace(" ", "")
    if "," in text:
        if comma == "decimal":
            text = text.replace(".", "").replace(",", ".", 1)
        elif _THOUSANDS.fullmatch(text):
            text = text.replace(",", "")
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if isfinite(value) else None


def parse_whole(text: object, *, comma: str = "thousands") -> int | None:
    """Return a number rounded to a whole one."""
    value = parse_number(text, comma=comma)
    return None if value is None or abs(value) > 2**53 else round(value)


def parse_utc_offset(text: str | None) -> int | None:
    """Return seconds east of UTC of texts such as UTC-04:00, +0530 or Z."""
    text = (text or "").strip()
    if text.upper() in {"Z", "UTC", "GMT", "UTC+0", "UTC-0"}:
        return 0
    found = _OFFSET.fullmatch(text)
    if found is None:
        return None
    seconds = int(found[2]) * 3600 + int(found[3] or 0) * 60
    if seconds > _FARTHEST:
        return None
    return -seconds if found[1] == "-" else seconds


def write_offset(seconds: int) -> str:
    """Return an offset as ISO 8601 writes it."""
    sign = "-" if seconds < 0 else "+"
    return f"{sign}{abs(seconds) // 3600:02}:{abs(seconds) % 3600 // 60:02}"


def decide_date_order(texts: Iterable[str]) -> str | None:
    """Return whether dates are ymd, mdy or dmy; None where they can be either.

    A part above 12 decides, or a clock of twelve hours, which only dates with the month
    first have. Else the order counts in which the dates lie closer together: a sensor
    writes every quarter of an hour, and days read as months lie a month apart.
    Source: Ours.
    """
    read = [found for text in texts if (found := _DATE.match(text.strip()))]
    if not read or any(len(each[1]) == 4 for each in read):
        return "ymd" if read else None
    day_first = any(int(each[1]) > 12 for each in read)
    month_first = any(int(each[2]) > 12 for each in read)
    if day_first != month_first:
        return "dmy" if day_first else "mdy"
    if any(each[7] for each in read):
        return "mdy"
    spans = {order: _span(read, order) for order in ("dmy", "mdy")}
    if spans["dmy"] == spans["mdy"]:
        return None
    return min(spans, key=lambda order: spans[order])


def _span(read: list[re.Match[str]], order: str) -> float:
    total, before = 0.0, None
    for each in read:
        at = _moment(each, order)
        if at is not None and before is not None:
            total += abs((at - before).total_seconds())
        before = at or before
    return total


def parse_local_time(text: str | None, order: str = "ymd") -> str | None:
    """Return a date and time without zone in ISO 8601, by the file's order of dates."""
    found = _DATE.fullmatch((text or "").strip())
    at = _moment(found, order) if found else None
    return None if at is None else at.isoformat()


def _moment(found: re.Match[str], order: str) -> datetime | None:
    first, second, third = int(found[1]), int(found[2]), int(found[3])
    if len(found[1]) == 4:
        year, month, day = first, second, third
    elif order == "dmy":
        day, month, year = first, second, third
    else:
        month, day, year = first, second, third
    if year < 100:
        year += 2000
    hour = int(found[4] or 0)
    if found[7]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[7][0] in "pP" else 0)
    try:
        return datetime(year, month, day, hour, int(found[5] or 0), int(found[6] or 0))  # noqa: DTZ001 - wall clock
    except ValueError:
        return None


def write_unix_time(seconds: float | None) -> str | None:
    """Return a Unix time in ISO 8601, UTC; None for one that no calendar has."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def parse_duration(text: str | None) -> float | None:
    """Return the seconds of a text such as 01:32:43, 1:05.2 or 692.970s."""
    text = (text or "").strip()
    found = _CLOCK.fullmatch(text)
    if found is None:
        return parse_number(text.removesuffix("s"))
    whole = int(found[1] or 0) * 3600 + int(found[2]) * 60 + int(found[3])
    return whole + float(f"0.{found[4] or 0}")


def add_seconds(iso: str | None, seconds: float | None) -> str | None:
    """Return a time that much later, in the same zone."""
    if iso is None or seconds is None:
        return None
    try:
        return (datetime.fromisoformat(iso) + timedelta(seconds=seconds)).isoformat()
    except (ValueError, OverflowError):
        return None
