"""What sensors read each day: the lowest, the highest and the mean of a resource."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from portal.lib.periods import find_day_start
from users.store.dictionaries import find_feeds_by_number
from users.store.sums import sum_instant_samples
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from datetime import tzinfo

    from users.models import User
    from users.wearables.timeseries import TimeseriesResource


@dataclass(frozen=True, slots=True)
class Limits:
    """The range outside of which a reading of a resource is worth a look."""

    resource: str
    low: float | None
    high: float | None


# Glucose 70 to 180 mg/dL (Battelino et al., Diabetes Care 2019: time in range); oxygen
# saturation from 90 % (WHO, Pulse oximetry training manual, 2011: below is urgent).
LIMITS = (Limits("glucose", 3.9, 10.0), Limits("blood_oxygen", 90.0, None))


class DailyReading(NamedTuple):
    """The readings of one day of one source."""

    low: float
    high: float
    mean: float
    samples: int


@dataclass(frozen=True, slots=True)
class DayOutOfRange:
    """A day of one source with readings beyond a limit; the values that are."""

    resource: TimeseriesResource
    provider: str
    day: date
    low: float | None
    high: float | None


# By resource and source, the readings of each day that has any.
DailyReadings = dict[str, dict[str, dict[date, DailyReading]]]


def read_daily_readings(
    *, user: User, first: date, last: date, zone: tzinfo
) -> DailyReadings:
    """Return the readings of resources with LIMITS by day of `zone`; two queries."""
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    edges = [find_day_start(day, zone) for day in days]
    edges.append(find_day_start(last + timedelta(days=1), zone))
    resource_of = {
        number: limits.resource
        for limits in LIMITS
        for number in TIMESERIES[limits.resource].series
    }
    sums = sum_instant_samples(
        user_id=user.pk, series=list(resource_of), edges=edges, feeds=None
    )
    feeds = find_feeds_by_number(
        tenant=user.tenant, numbers={each.feed for each in sums}
    )
    found: DailyReadings = {}
    for each in sums:
        by_day = found.setdefault(resource_of[each.series], {}).setdefault(
            feeds[each.feed].provider, {}
        )
        now = DailyReading(each.low, each.high, each.total / each.samples, each.samples)
        day = days[each.cell]
        by_day[day] = _add(by_day[day], now) if day in by_day else now
    return found


def list_days_out_of_range(
    readings: DailyReadings, *, first: date, last: date
) -> list[DayOutOfRange]:
    """Return the days from `first` to `last` with a reading beyond LIMITS, by day."""
    found = []
    for limits in LIMITS:
        for provider, by_day in readings.get(limits.resource, {}).items():
            for day, each in by_day.items():
                if not first <= day <= last:
                    continue
                is_low = limits.low is not None and each.low < limits.low
                is_high = limits.high is not None and each.high > limits.high
                if is_low or is_high:
                    found.append(
                        DayOutOfRange(
                            TIMESERIES[limits.resource],
                            provider,
                            day,
                            each.low if is_low else None,
                            each.high if is_high else None,
                        )
                    )
    return sorted(found, key=lambda each: each.day)


def _add(one: DailyReading, other: DailyReading) -> DailyReading:
    samples = one.samples + other.samples
    return DailyReading(
        min(one.low, other.low),
        max(one.high, other.high),
        (one.mean * one.samples + other.mean * other.samples) / samples,
        samples,
    )
