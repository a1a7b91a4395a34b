"""Demo nights: stages of sleep.

Cycles of some 90 minutes, deep sleep early, REM late.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING

from portal.lib.periods import SkippedTime, convert_local_time_to_utc
from users.gateways.demo.dice import Element, create_seeded_random
from users.gateways.demo.people import make_demo_person
from users.states import SleepStage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from random import Random

    from users.gateways.demo.people import Person

# Minutes of deep and of REM sleep in each cycle of a night, first to last.
_DEEP_MINUTES = (38, 26, 14, 6, 2, 0)
_REM_MINUTES = (9, 19, 27, 33, 37, 38)
_CYCLE_MINUTES = 92
_EPOCH_SECONDS = 30  # sleep is staged in epochs of half a minute
_FRIDAY = 4
# Nights without any data, nights in which the sensor came off, and quiet moments that
# no stage was given to.
_UNWORN, _CAME_OFF, _UNCLEAR = 0.06, 0.08, 0.05
# By how many epochs two devices differ on when a night began.
_EPOCHS_APART = 6
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Night:
    """A night in bed, in UTC. Stages are (code, begin, end), seconds from `start`."""

    start: datetime
    end: datetime
    stages: tuple[tuple[int, int, int], ...]

    def stage_at(self, moment: datetime) -> int | None:
        """Return the stage at a time; None out of bed or with the sensor off."""
        second = int((moment - self.start).total_seconds())
        at = bisect_right(self.stages, second, key=itemgetter(1)) - 1
        if at < 0 or second >= self.stages[at][2]:
            return None
        return self.stages[at][0]

    def seconds_of(self, *codes: SleepStage) -> int:
        """Return the seconds in these stages."""
        return sum(end - begin for code, begin, end in self.stages if code in codes)


def simulate_demo_night(*, person: Person, waking: date) -> Night:
    """Simulate a person's night before the morning of `waking`, in local time."""
    random = create_seeded_random(person.name, "night", waking)
    evening = waking - _DAY
    late = random.gauss(0.7, 0.4) if evening.weekday() in (_FRIDAY, _FRIDAY + 1) else 0
    hours = person.bedtime + late + random.gauss(0, 0.35)
    local = datetime.combine(evening, time()) + timedelta(minutes=int(hours * 60))
    try:
        start = convert_local_time_to_utc(local, person.zone)
    except SkippedTime:
        start = convert_local_time_to_utc(local + timedelta(hours=2), person.zone)
    stages = tuple(_stages(random, person.sleep_need + random.gauss(0, 0.6)))
    return Night(start, start + timedelta(seconds=stages[-1][2]), stages)


def simulate_night_recorded_by_source(
    *, person: Person, provider: str, waking: date
) -> Night | None:
    """Return that night as a source recorded it; None if not worn."""
    random = create_seeded_random(person.name, provider, waking)
    if random.random() < _UNWORN:
        return None
    night = simulate_demo_night(person=person, waking=waking)
    apart = timedelta(seconds=random.randint(0, _EPOCHS_APART) * _EPOCH_SECONDS)
    stages = list(night.stages)
    if random.random() < _CAME_OFF:
        # What lay there is not known: a hole, not a stage.
        del stages[len(stages) // 2]
    return Night(night.start + apart, night.end + apart, tuple(stages))


def build_demo_sleep_cycle(night: Night, time_zone: str | None) -> Element:
    """Return the night's stages as a source sends them (contract 4.3)."""
    element: Element = {
        "session_start": _bare(night.start),
        "session_end": _bare(night.end),
        "stage_type": [stage for stage, _, _ in night.stages],
        "stage_start_offset_second": [begin for _, begin, _ in night.stages],
        "stage_end_offset_second": [end for _, _, end in night.stages],
    }
    if time_zone:
        element["time_zone"] = time_zone
    return element


def make_demo_sleep_cycles(
    *, person: str, provider: str, time_zone: str | None, now: datetime, nights: int
) -> list[Element]:
    """Return sleep cycles of a person as a source sends them, oldest first.

    The last is the night that ended last. `time_zone` is IANA, None for UTC.
    """
    sleeper = make_demo_person(name=person, time_zone=time_zone)
    today = now.astimezone(sleeper.zone).date()
    seen = [
        simulate_night_recorded_by_source(
            person=sleeper, provider=provider, waking=today - ago * _DAY
        )
        for ago in range(nights, -1, -1)
    ]
    return [
        build_demo_sleep_cycle(night, time_zone)
        for night in seen
        if night and night.end <= now
    ]


def _bare(moment: datetime) -> str:
    """Write a time without offset, which means UTC on the wire (contract D16)."""
    return moment.replace(tzinfo=None).isoformat()


def _stages(random: Random, hours: float) -> Iterator[tuple[int, int, int]]:
    """Return stages of a night as (code, begin, end), seconds from its start."""
    at = 0

    def stage(code: SleepStage, minutes: float) -> Iterator[tuple[int, int, int]]:
        nonlocal at
        begin = at
        at += max(1, round(minutes * 60 / _EPOCH_SECONDS)) * _EPOCH_SECONDS
        yield int(code), begin, at

    yield from stage(SleepStage.AWAKE, random.uniform(4, 18))
    for cycle in range(max(3, round(hours * 60 / _CYCLE_MINUTES))):
        deep = _DEEP_MINUTES[min(cycle, 5)] * random.uniform(0.7, 1.25)
        rem = _REM_MINUTES[min(cycle, 5)] * random.uniform(0.75, 1.2)
        light = max(24, _CYCLE_MINUTES * random.uniform(0.92, 1.06) - deep - rem)
        sinking = light * random.uniform(0.35, 0.55)
        yield from stage(SleepStage.LIGHT, sinking)
        if deep >= 1:
            yield from stage(SleepStage.DEEP, deep)
        if random.random() < _UNCLEAR:
            yield from stage(SleepStage.UNKNOWN, random.uniform(1, 4))
        yield from stage(SleepStage.LIGHT, light - sinking)
        yield from stage(SleepStage.REM, rem)
        if cycle and random.random() < 0.55:
            yield from stage(SleepStage.AWAKE, random.uniform(1.5, 7))
    yield from stage(SleepStage.LIGHT, random.uniform(3, 12))
    yield from stage(SleepStage.AWAKE, random.uniform(2, 8))
