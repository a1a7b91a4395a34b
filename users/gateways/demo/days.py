"""Demo days of a person: waking hours, movement and heart rate.

This is what truly happened; what a source has of it is made elsewhere (sources).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import exp, pi, sin
from typing import TYPE_CHECKING

from portal.lib.periods import find_day_start
from users.gateways.demo.dice import create_seeded_random
from users.gateways.demo.nights import simulate_demo_night
from users.gateways.demo.workouts import list_demo_workouts
from users.states import SleepStage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime
    from random import Random

    from users.gateways.demo.nights import Night
    from users.gateways.demo.people import Person
    from users.gateways.demo.workouts import Workout

SLOT = timedelta(minutes=15)
BEAT = timedelta(minutes=5)
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
# How likely a quarter of an hour has a walk in it, and the hours people go somewhere.
_STROLLS = 0.34
_RUSH_HOURS = (8.2, 12.6, 17.4)
_SLOT_STEPS_MAX = 1700
# Beats a minute above the night's lowest, by stage.
_BY_STAGE = {
    SleepStage.DEEP: 0.5,
    SleepStage.LIGHT: 2.0,
    SleepStage.REM: 5.0,
    SleepStage.AWAKE: 10.0,
}
_SITTING = 15.0
_RECOVERY_MINUTES = 11.0
# Who slept too long for it trains another day.
_BREAKFAST = timedelta(minutes=20)


@dataclass(frozen=True, slots=True)
class Day:
    """A day of a person from midnight to midnight where they live.

    `night` is the one they wake up from, `next_night` the one they go to bed into.
    `steps` are counts by the start of each SLOT, UTC, workouts included.
    """

    person: Person
    date: date
    start: datetime
    end: datetime
    night: Night
    next_night: Night
    workouts: tuple[Workout, ...]
    steps: dict[datetime, int]

    def workout_at(self, moment: datetime) -> Workout | None:
        """Return the workout at a time, its end inclusive."""
        for workout in self.workouts:
            if workout.start <= moment <= workout.end:
                return workout
        return None


def simulate_demo_day(*, person: Person, day: date) -> Day:
    """Simulate a person's day; always the same."""
    start, end = (find_day_start(each, person.zone) for each in (day, day + _DAY))
    night = simulate_demo_night(person=person, waking=day)
    next_night = simulate_demo_night(person=person, waking=day + _DAY)
    workouts = tuple(
        workout
        for workout in list_demo_workouts(person=person, day=day)
        if workout.start >= night.end + _BREAKFAST
    )
    random = create_seeded_random(person.name, "steps", day)
    slots = [start + number * SLOT for number in range((end - start) // SLOT)]
    steps = {}
    for slot in slots:
        awake = night.end <= slot and slot + SLOT <= next_night.start
        walked = _steps_of_slot(random, (slot - start) / timedelta(hours=1), person)
        trained = sum(_share(workout, slot) for workout in workouts)
        steps[slot] = trained or (walked if awake else 0)
    return Day(person, day, start, end, night, next_night, workouts, steps)


def generate_demo_heart_rates(day: Day) -> Iterator[tuple[datetime, int]]:
    """Yield heart rates of a day (UTC, bpm): every BEAT, in workouts every minute."""
    random = create_seeded_random(day.person.name, "beats", day.date)
    moments = {day.start + at * BEAT for at in range((day.end - day.start) // BEAT)}
    for workout in day.workouts:
        minutes = int(workout.minutes)
        moments |= {workout.start + minute * _MINUTE for minute in range(minutes + 1)}
    for moment in sorted(moments):
        training = day.workout_at(moment)
        if training:
            yield moment, training.heart_rate_at(moment)
        else:
            yield moment, round(_calm_rate(day, moment, random))


def _calm_rate(day: Day, moment: datetime, random: Random) -> float:
    person = day.person
    for night in (day.night, day.next_night):
        if night.start <= moment < night.end:
            return _sleeping_rate(person, night, moment) + random.gauss(0, 1.1)
    hour = (moment - day.start) / timedelta(hours=1)
    rate = person.resting_rate + _SITTING + 4.5 * sin(2 * pi * (hour - 10) / 24)
    slot = day.start + (moment - day.start) // SLOT * SLOT
    rate += min(38.0, day.steps[slot] / 45)
    for workout in day.workouts:
        after = (moment - workout.end) / _MINUTE
        if 0 < after < 60:
            above = max(0.0, workout.heart_rates[-1] - rate)
            rate += above * exp(-after / _RECOVERY_MINUTES)
    return rate + random.gauss(0, 2.6)


def _sleeping_rate(person: Person, night: Night, moment: datetime) -> float:
    """Return the heart rate in sleep: it falls and rises before waking."""
    slept = (moment - night.start) / (night.end - night.start)
    dip = 7.5 * ((slept - 0.72) / 0.72) ** 2
    stage = night.stage_at(moment)
    above = 3.0 if stage is None else _BY_STAGE.get(SleepStage(stage), 3.0)
    return person.resting_rate + dip + above


def _steps_of_slot(random: Random, hour: float, person: Person) -> int:
    rush = sum(exp(-((hour - each) ** 2) / 0.35) for each in _RUSH_HOURS)
    chance, size = random.random(), random.lognormvariate(4.0, 0.9)
    if chance < _STROLLS + 0.5 * rush:
        size *= 1.6 + 3.2 * rush
    elif chance > 0.86:
        return 0
    return min(_SLOT_STEPS_MAX, int(size * person.briskness))


def _share(workout: Workout, slot: datetime) -> int:
    """Return the steps of a workout in a slot; all slots add up to all steps."""
    total = workout.steps
    if not total:
        return 0
    marks = [
        min(1.0, max(0.0, (edge - workout.start) / (workout.end - workout.start)))
        for edge in (slot, slot + SLOT)
    ]
    before, after = (round(total * mark) for mark in marks)
    return after - before
