"""Time zones and wall clocks, as contract 1.5 and 5.4 read them."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime, time, tzinfo
from functools import cache


class SkippedTime(ValueError):
    """The clocks of the zone jumped over this time."""


@cache
def list_time_zones() -> frozenset[str]:
    """List the identifiers of the IANA time zone database."""
    # Asking anew walks the disk: a hundred times the rest of a request.
    return frozenset(zoneinfo.available_timezones())


def find_time_zone_by_name(name: str) -> tzinfo:
    """Return the zone of this name; UTC for an empty one or one that we do not know."""
    return zoneinfo.ZoneInfo(name) if name in list_time_zones() else UTC


def find_day_start(day: date, zone: tzinfo) -> datetime:
    """Return the first moment, UTC, that clocks of `zone` date `day`.

    Where they skip midnight, the moment they jump from it. Source: Contract 1.5.
    """
    # Python reads a skipped midnight by the offset before: that is the jump.
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def convert_local_time_to_utc(local: datetime, zone: tzinfo) -> datetime:
    """Return the moment, UTC, when clocks of `zone` show the naive time `local`.

    An hour that comes twice means the first. Raises SkippedTime for one that never
    came, or that is at an end of the calendar. Source: Contract 5.4.
    """
    try:
        moment = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
        shown = moment.astimezone(zone)
    except OverflowError:
        raise SkippedTime(local) from None
    if shown.replace(tzinfo=None) != local:
        raise SkippedTime(local)
    return moment
