"""Parse times of Apple Health exports: 2026-03-01 07:30:00 +0100."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from portal.lib.periods import find_time_zone_by_name, list_time_zones

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORM = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}", re.ASCII)
_LENGTH = len("2026-03-01 07:30:00 +0100")


def convert_apple_time_to_iso(text: str | None) -> str | None:
    """Return the time in ISO 8601 with offset; None if malformed.

    What is no moment at all is left to who reads the sample.
    """
    if text is None or len(text) != _LENGTH or text[19] != " ":
        return None
    return f"{text[:10]}T{text[11:19]}{text[20:23]}:{text[23:]}"


def parse_apple_time(text: str | None) -> datetime | None:
    """Parse a time with offset; None if absent."""
    if text is None or not _FORM.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(f"{text[:19]}{text[20:]}")
    except ValueError:
        return None


def find_utc_offset_of_apple_time(moment: datetime, zone: str | None) -> int:
    """Return the UTC offset in a zone; without one, the offset as written.

    The phone writes every time in the zone it is in at the export, and in a record's
    metadata the one that it was in.
    """
    local = moment if zone is None else moment.astimezone(find_time_zone_by_name(zone))
    return int((local.utcoffset() or timedelta(0)).total_seconds())


def find_apple_record_time_zone(metadata: Mapping[str, str]) -> str | None:
    """Return the time zone of a record, if it is known."""
    zone = metadata.get("HKTimeZone")
    return zone if zone in list_time_zones() else None


def add_one_second(iso: str) -> str:
    """Return the end of an interval without length: a second later."""
    try:
        return (datetime.fromisoformat(iso) + timedelta(seconds=1)).isoformat()
    except (ValueError, OverflowError):
        return iso
