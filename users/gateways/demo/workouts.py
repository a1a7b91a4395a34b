"""Demo workouts: times, steps, heart rates and streams.

The stream is made first and the workout summed up from it, so that they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import cached_property
from itertools import accumulate, pairwise
from math import exp, pi, sin
from typing import TYPE_CHECKING

from portal.lib.periods import convert_local_time_to_utc
from users.gateways.demo.dice import (
    Element,
    create_seeded_random,
    format_utc_time_with_z,
)

if TYPE_CHECKING:
    from datetime import date
    from random import Random

    from users.gateways.demo.people import Person

# A point of a stream every so many seconds.
STEP_SECONDS = 5
_POINTS_PER_MINUTE = 60 // STEP_SECONDS
# The heart follows an effort with this delay, in seconds.
_LAG_SECONDS = 40
_WARM_UP_SECONDS, _COOL_DOWN_SECONDS = 420, 240
_FAST_SECONDS, _EASY_SECONDS = 180, 120  # of intervals
_MISSED = 0.2  # of what was planned


@dataclass(frozen=True, slots=True)
class Sport:
    """A kind of workout.

    `effort` is of the heart rate's reserve, `speed` of the person's running pace (0: on
    the spot), `step_rate` and `turn_rate` a minute, `minutes` how long it may last.
    """

    id: int
    slug: str
    name: str
    effort: float
    speed: float = 0
    step_rate: int = 0
    turn_rate: int = 0
    watts_per_kg: float = 0
    minutes: tuple[int, int] = (30, 60)


RUNNING = Sport(1, "running", "Running", 0.72, 1.0, step_rate=166, minutes=(28, 58))
CYCLING = Sport(
    *(2, "cycling", "Cycling", 0.64, 2.7),
    turn_rate=84,
    watts_per_kg=2.3,
    minutes=(45, 95),
)
WALKING = Sport(3, "walking", "Walking", 0.36, 0.52, step_rate=112, minutes=(25, 50))
STRENGTH = Sport(4, "strength_training", "Strength training", 0.48, minutes=(30, 55))
YOGA = Sport(5, "yoga", "Yoga", 0.26, minutes=(25, 45))
_SPORTS = (RUNNING, CYCLING, WALKING, STRENGTH, YOGA)


@dataclass(frozen=True)
class Workout:
    """A workout, with a point every STEP_SECONDS from `start` (UTC, a whole minute).

    Heart rates are bpm, speeds m/s, altitudes m, the last point being its end.
    """

    person: Person
    sport: Sport
    start: datetime
    heart_rates: tuple[int, ...]
    speeds: tuple[float, ...]
    altitudes: tuple[float, ...]

    @property
    def seconds(self) -> int:
        return (len(self.heart_rates) - 1) * STEP_SECONDS

    @property
    def end(self) -> datetime:
        return self.start + timedelta(seconds=self.seconds)

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    def heart_rate_at(self, moment: datetime) -> int:
        """Return the heart rate at a time, of the latest point."""
        at = int((moment - self.start).total_seconds()) // STEP_SECONDS
        return self.heart_rates[at]

    @cached_property
    def distances(self) -> tuple[float, ...]:
        """Return the meters from the start, by point."""
        steps = accumulate(speed * STEP_SECONDS for speed in self.speeds[1:])
        return tuple(round(each, 1) for each in (0.0, *steps))

    @property
    def steps(self) -> int:
        return round(self.sport.step_rate * self.minutes)

    @property
    def calories(self) -> float:
        """Return the energy in kcal, by effort, weight and time."""
        return (2 + 10 * self.sport.effort) * self.person.weight_kg * self.minutes / 60

    def element(self) -> Element:
        """Return the workout as a source sends it (contract 4.7)."""
        element: Element = {
            "time_start": format_utc_time_with_z(self.start),
            "time_end": format_utc_time_with_z(self.end),
            "provider_id": f"{self.sport.slug}-{int(self.start.timestamp())}",
            "title": self._title,
            "sport": {
                "id": self.sport.id,
                "name": self.sport.name,
                "slug": self.sport.slug,
            },
            "average_hr": round(sum(self.heart_rates) / len(self.heart_rates)),
            "max_hr": max(self.heart_rates),
            "calories": round(self.calories, 1),
            "moving_time": self.seconds,
        }
        if self.sport.step_rate:
            element["steps"] = self.steps
        if self.sport.speed:
            climbs = (after - before for before, after in pairwise(self.altitudes))
            element |= {
                "distance": self.distances[-1],
                "average_speed": round(self.distances[-1] / self.seconds, 3),
                "max_speed": max(self.speeds),
                "total_elevation_gain": round(sum(max(0, each) for each in climbs), 1),
                "elev_high": max(self.altitudes),
                "elev_low": min(self.altitudes),
            }
        return element

    def stream(self) -> Element:
        """Return its stream as a source sends it (contract 5.3)."""
        first = int(self.start.timestamp())
        stream: Element = {
            "time": [
                first + STEP_SECONDS * point for point in range(len(self.heart_rates))
            ],
            "heartrate": list(self.heart_rates),
        }
        if self.sport.speed:
            stream |= {
                "velocity_smooth": list(self.speeds),
                "distance": list(self.distances),
                "altitude": list(self.altitudes),
            }
        rate = self.sport.turn_rate or self.sport.step_rate / 2
        if rate:
            mean = sum(self.speeds) / len(self.speeds)
            stream["cadence"] = [
                round(rate * (speed / mean) ** 0.3, 1) for speed in self.speeds
            ]
        if self.sport.watts_per_kg:
            usual = self.sport.watts_per_kg * self.person.weight_kg
            mean = sum(self.speeds) / len(self.speeds)
            stream["power"] = [
                round(usual * (speed / mean) ** 2) for speed in self.speeds
            ]
        return stream

    @property
    def _title(self) -> str:
        hour = self.start.astimezone(self.person.zone).hour
        part = "Morning" if hour < 11 else "Midday" if hour < 15 else "Evening"
        return f"{part} {self.sport.name.lower()}"


def list_demo_workouts(*, person: Person, day: date) -> list[Workout]:
    """Return the workouts of a person's local day; usually none or one."""
    habit = create_seeded_random(person.name, "plan")
    planned = dict(
        zip(
            habit.sample(range(7), 4),
            habit.choices(_SPORTS, weights=(4, 2, 2, 2, 1), k=4),
            strict=True,
        )
    )
    sport = planned.get(day.weekday())
    random = create_seeded_random(person.name, "workout", day)
    if sport is None or random.random() < _MISSED:
        return []
    is_early = day.weekday() > 4 or habit.random() < 0.4
    hour = random.gauss(9.3, 0.5) if is_early else random.gauss(18.2, 0.4)
    local = datetime.combine(day, time()) + timedelta(minutes=round(hour * 60))
    start = convert_local_time_to_utc(local, person.zone)
    minutes = random.randint(*sport.minutes)
    return [_train(person, sport, start, minutes, random)]


def _train(
    person: Person, sport: Sport, start: datetime, minutes: int, random: Random
) -> Workout:
    seconds = minutes * 60
    has_intervals = bool(sport.speed) and random.random() < 0.3
    reserve = person.highest_rate - person.resting_rate
    hill, phase = random.uniform(4, 22), random.uniform(0, 2 * pi)
    base = random.uniform(15, 180)
    rate = person.resting_rate + 28
    speed_now = 0.0
    follows = 1 - exp(-STEP_SECONDS / _LAG_SECONDS)
    rates, speeds, altitudes = [], [], []
    for point in range(minutes * _POINTS_PER_MINUTE + 1):
        second = point * STEP_SECONDS
        effort = sport.effort * _effort(second, seconds, has_intervals)
        rate += (person.resting_rate + effort * reserve - rate) * follows
        rates.append(min(round(rate + random.gauss(0, 1.1)), int(person.highest_rate)))
        wanted = sport.speed * person.pace * effort / sport.effort
        speed_now += (wanted - speed_now) * 0.3
        speeds.append(round(max(0.0, speed_now * random.gauss(1, 0.03)), 2))
        far = 2 * pi * second / seconds
        height = base + hill * (sin(far + phase) + 0.3 * sin(3 * far + 2 * phase))
        altitudes.append(round(height, 1))
    return Workout(person, sport, start, tuple(rates), tuple(speeds), tuple(altitudes))


def _effort(second: int, seconds: int, has_intervals: bool) -> float:
    """Return the share of the sport's usual effort over the workout."""
    warm = min(1.0, 0.55 + 0.45 * second / _WARM_UP_SECONDS)
    left = seconds - second
    cool = min(1.0, 0.6 + 0.4 * left / _COOL_DOWN_SECONDS)
    drift = 1 + 0.08 * second / seconds
    pulse = 1.0
    if has_intervals and second > _WARM_UP_SECONDS and left > _COOL_DOWN_SECONDS:
        within = (second - _WARM_UP_SECONDS) % (_FAST_SECONDS + _EASY_SECONDS)
        pulse = 1.13 if within < _FAST_SECONDS else 0.84
    return warm * cool * drift * pulse
