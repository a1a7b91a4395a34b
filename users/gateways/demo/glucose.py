"""Demo glucose: sensor readings after meals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from math import exp, log
from typing import TYPE_CHECKING

from portal.lib.periods import convert_local_time_to_utc
from users.gateways.demo.dice import create_seeded_random

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from users.gateways.demo.days import Day
    from users.gateways.demo.people import Person

READING = timedelta(minutes=15)
_HOUR = timedelta(hours=1)
# What a gram of carbohydrates adds at most, in mmol/L, and when, in hours.
_RISE_PER_GRAM = 0.045
_PEAK_HOURS = 0.85
# In the small hours the liver lets some go.
_DAWN_RISE, _DAWN_HOUR = 0.5, 6.0
_FASTING_MAX_DROP = 0.9  # by a workout


@dataclass(frozen=True, slots=True)
class Meal:
    """A meal and its time; carbohydrates in grams."""

    at: datetime
    carbohydrates: float


def list_demo_meals(*, person: Person, day: date) -> list[Meal]:
    """Return a person's meals of a local day, by time."""
    random = create_seeded_random(person.name, "meals", day)
    planned = [
        (random.gauss(8.3, 0.3), random.uniform(25, 65)),
        (random.gauss(12.8, 0.3), random.uniform(40, 80)),
        (random.gauss(19.4, 0.4), random.uniform(35, 85)),
    ]
    if random.random() < 0.45:
        planned.append((random.gauss(16.0, 0.4), random.uniform(12, 30)))
    return sorted(
        (Meal(_clock(person, day, hour), round(grams)) for hour, grams in planned),
        key=lambda meal: meal.at,
    )


def generate_demo_glucose_readings(day: Day) -> Iterator[tuple[datetime, float]]:
    """Yield glucose of a day every READING: time in UTC, mmol/L to one decimal."""
    person = day.person
    base = create_seeded_random(person.name, "glucose").uniform(4.7, 5.5)
    random = create_seeded_random(person.name, "glucose", day.date)
    meals = list_demo_meals(person=person, day=day.date)
    drift = 0.0
    for number in range((day.end - day.start) // READING):
        moment = day.start + number * READING
        hour = (moment - day.start) / _HOUR
        drift = 0.75 * drift + random.gauss(0, 0.09)
        value = base + drift + _DAWN_RISE * exp(-((hour - _DAWN_HOUR) ** 2) / 3)
        value += sum(_rise(meal, moment) for meal in meals)
        for workout in day.workouts:
            after = (moment - workout.start) / _HOUR
            if 0 < after < 4:
                value -= _FASTING_MAX_DROP * min(1.0, after) * exp(-after / 2)
        yield moment, round(max(3.4, value), 1)


def _rise(meal: Meal, moment: datetime) -> float:
    hours = (moment - meal.at) / _HOUR
    if hours <= 0:
        return 0.0
    ratio = hours / _PEAK_HOURS
    return meal.carbohydrates * _RISE_PER_GRAM * exp(1.6 * (1 + log(ratio) - ratio))


def _clock(person: Person, day: date, hour: float) -> datetime:
    local = datetime.combine(day, time()) + timedelta(minutes=round(hour * 60))
    return convert_local_time_to_utc(local, person.zone)
