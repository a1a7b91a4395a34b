"""Heart rate zones of a workout by the maximum heart rate of an age."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

ZONES = 5
_OLDEST = 120
_TENTHS_BELOW_THE_FIRST = 5


def age_on_day(day: date, birth_date: date) -> int:
    """Return the age in whole years on a day; born 29 February counts on 1 March."""
    had_birthday = (day.month, day.day) >= (birth_date.month, birth_date.day)
    return day.year - birth_date.year - (not had_birthday)


def max_heart_rate(day: date, birth_date: date) -> int | None:
    """Return the maximum heart rate (bpm) by age: 220 minus the age on the day.

    None for an age that nobody has. Source: Contract 2.1.
    """
    age = age_on_day(day, birth_date)
    return 220 - age if 0 <= age <= _OLDEST else None


def sum_seconds_in_heart_rate_zones(
    heart_rate_seconds: Mapping[int, int], max_heart_rate: int
) -> list[int]:
    """Return seconds in five zones: from 50, 60, 70, 80 and 90% of the maximum.

    What lies below the first is in none; what lies above the maximum is in the last.
    Source: Edwards, The Heart Rate Monitor Book (1993); Ours: contract 4.7 names five
    zones and no bounds.
    """
    zones = [0] * ZONES
    for rate, seconds in heart_rate_seconds.items():
        tenths = rate * 10 // max_heart_rate
        if tenths >= _TENTHS_BELOW_THE_FIRST:
            zones[min(tenths - _TENTHS_BELOW_THE_FIRST, ZONES - 1)] += seconds
    return zones
