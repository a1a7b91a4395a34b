"""Demo sync times of a source."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from portal.lib.periods import (
    SkippedTime,
    convert_local_time_to_utc,
    find_time_zone_by_name,
)
from users.gateways.demo.dice import create_seeded_random

_DAY = timedelta(days=1)


def make_demo_sync_times(
    *, person: str, provider: str, time_zone: str | None, since: datetime, now: datetime
) -> list[tuple[datetime, int]]:
    """Return a source's sync times, every hour or two of the person's day.

    Pairs of a moment after `since` and not after `now`, in UTC, and how many elements
    it sent that were there already; oldest first. `time_zone`: see
    make_demo_sleep_cycles.
    """
    zone = find_time_zone_by_name(time_zone or "")
    made = []
    for ago in range((now - since).days + 2, -1, -1):
        day = now.astimezone(zone).date() - ago * _DAY
        random = create_seeded_random(person, provider, day, "sync")
        hour, end = random.uniform(6.2, 7.8), random.uniform(21.5, 23.2)
        while hour < end:
            local = datetime.combine(day, time()) + timedelta(seconds=int(hour * 3600))
            again = random.randint(1, 4)
            hour += random.uniform(0.5, 1.9)
            try:
                moment = convert_local_time_to_utc(local, zone)
            except SkippedTime:
                continue
            if since < moment <= now:
                made.append((moment, again))
    return made
