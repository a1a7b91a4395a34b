"""Buckets of aggregates: hours, days and weeks of a time zone."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo

from portal.lib.choices import OpenChoices
from portal.lib.periods import find_day_start
from portal.lib.translation import gettext_lazy

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)


class Period(OpenChoices):
    """The length of a bucket, in the time of its zone."""

    HOUR = "hour", gettext_lazy("Hour")
    DAY = "day", gettext_lazy("Day")
    WEEK = "week", gettext_lazy("Week")  # Monday to Sunday


# Ours: what a chart can show, and one query can add up while somebody waits.
DAYS_MAX = {Period.HOUR: 31, Period.DAY: 366, Period.WEEK: 731}


def list_bucket_edges(
    start: date, end: date, period: Period, zone: tzinfo
) -> list[datetime]:
    """Return the UTC edges of the buckets from day `start` to `end`, inclusive.

    One more than there are buckets. A first and a last week are cut to the range. An
    hour that comes twice is two, a skipped one is none.
    """
    if period == Period.HOUR:
        return list_full_hours(
            find_day_start(start, zone), find_day_start(end + _DAY, zone), zone
        )
    days = [start + number * _DAY for number in range((end - start).days + 1)]
    if period == Period.WEEK:
        days = [day for day in days if day == start or day.weekday() == 0]
    edges = [find_day_start(day, zone) for day in [*days, end + _DAY]]
    # A zone that crossed the date line had no such day.
    return list(dict.fromkeys(edges))


def list_full_hours(start: datetime, end: datetime, zone: tzinfo) -> list[datetime]:
    """Return the UTC times of full hours in the zone, from start to end."""
    edges = [start]
    while edges[-1] < end:
        local = edges[-1].astimezone(zone)
        past = timedelta(minutes=local.minute, seconds=local.second)
        edges.append(min(edges[-1] + _HOUR - past, end))
    return edges
