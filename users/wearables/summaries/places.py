"""Shared parts of summaries: days, offsets, sessions and common values."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from portal.lib.periods import find_time_zone_by_name
from users.wearables.readings import Field, refuse_parsed_value
from users.wearables.values import Moment, Number, WholeNumber

if TYPE_CHECKING:
    from users.wearables.readings import Context

# Ours: no session is longer; what claims to be is a source's mistake.
_LONGEST_SESSION = timedelta(days=3)
# No clock on earth is further from UTC; some sources still say so.
_FARTHEST = 18 * 3600

SECONDS = WholeNumber(0, 10**7, note="seconds")
BPM = WholeNumber(0, 400, note="beats per minute")
PERCENT = Number(0, 100, "percent")
METERS = Number(0, 1e8, "m")
KCAL = Number(0, 1e5, "kcal")
OFFSET = Field(
    "timezone_offset", WholeNumber(-_FARTHEST, _FARTHEST, note="seconds from UTC")
)
# The calendar_date at midnight; kept for old clients (contract 4.4).
DATED = Field("date", Moment(), ours=True)


def midnight_utc(day: date) -> datetime:
    """Return the day's midnight, UTC."""
    return datetime.combine(day, datetime.min.time(), UTC)


def fill_date_from_calendar_date(body: dict[str, Any]) -> date:
    """Return the calendar_date of a parsed body, and fill its `date`."""
    day = date.fromisoformat(body["calendar_date"])
    body["date"] = midnight_utc(day).isoformat()
    return day


def get_local_date(moment: datetime, offset_seconds: int) -> date:
    """Return the local date of a UTC time at an offset of `offset_seconds`."""
    return (moment + timedelta(seconds=offset_seconds)).date()


def fill_missing_timezone_offset(
    body: dict[str, Any], moment: datetime, context: Context
) -> None:
    """Fill an absent timezone_offset with the one at `moment`, UTC.

    Of the body's own time zone if it has one, else of the fallback, which it then also
    gets as its zone where it has a place for that (contract 2.1).
    """
    if body["timezone_offset"] is not None:
        return
    if "time_zone" in body and body["time_zone"] is None:
        body["time_zone"] = context.time_zone
    zone = find_time_zone_by_name(body.get("time_zone") or context.time_zone)
    offset = moment.astimezone(zone).utcoffset() or timedelta(0)
    body["timezone_offset"] = int(offset.total_seconds())


def check_session_times(
    body: dict[str, Any], first: str, last: str
) -> tuple[datetime, datetime]:
    """Return start and end of a session, UTC. Raises: Refused at `last`."""
    start, end = (
        datetime.fromisoformat(body[name]).replace(tzinfo=UTC) for name in (first, last)
    )
    if end <= start:
        refuse_parsed_value(
            "The session must end after its start.", "value_error", last
        )
    if end - start > _LONGEST_SESSION:
        refuse_parsed_value(
            f"The session must last at most {_LONGEST_SESSION.days} days.",
            "less_than_equal",
            last,
        )
    return start, end
