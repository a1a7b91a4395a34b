"""Demo data by source: summaries, samples and streams of a person.

Summed up from the same days, so that resources agree with one another. Must not be
here: the days themselves (days), or storing anything.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

from users.gateways.demo.cycles import make_demo_menstrual_cycles
from users.gateways.demo.days import SLOT, generate_demo_heart_rates, simulate_demo_day
from users.gateways.demo.dice import (
    Element,
    create_seeded_random,
    format_utc_time_with_z,
)
from users.gateways.demo.glucose import generate_demo_glucose_readings
from users.gateways.demo.nights import (
    build_demo_sleep_cycle,
    simulate_night_recorded_by_source,
)
from users.states import SleepStage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from users.gateways.demo.days import Day
    from users.gateways.demo.nights import Night
    from users.gateways.demo.people import Person
    from users.gateways.demo.workouts import Workout

# What can be made up, by resource.
MADE_UP = frozenset(
    {
        *("sleep", "sleep_cycle", "activity", "workouts", "workout_stream", "body"),
        *("menstrual_cycle", "heartrate", "hrv", "steps", "glucose"),
    }
)
# Of the years it would take, as many as pages show.
CYCLES = 6
_DAY = timedelta(days=1)
_BEAT = timedelta(minutes=5)
_MINUTE = timedelta(minutes=1)
# A device lies on its charger for so long, once a day.
_CHARGING_MINUTES = (25, 70)
# How long before a night the day is looked at that it is compared with.
_AWAKE = timedelta(hours=14)
_WEIGHED = 0.45  # of mornings
_ASLEEP = (SleepStage.LIGHT, SleepStage.DEEP, SleepStage.REM)
# What a stage does to the variability of the heart rate.
_HRV_BY_STAGE = {
    SleepStage.DEEP: 1.18,
    SleepStage.LIGHT: 1.0,
    SleepStage.REM: 0.86,
    SleepStage.AWAKE: 0.78,
}


@dataclass(frozen=True, slots=True)
class DemoData:
    """Data of a source: elements and samples by resource (contract 3.4), by time.

    `streams` are those of workouts, by the `time_start` of the workout's element.
    """

    summaries: dict[str, list[Element]] = field(default_factory=dict)
    samples: dict[str, list[Element]] = field(default_factory=dict)
    streams: dict[str, Element] = field(default_factory=dict)


def make_demo_source_data(
    *,
    person: Person,
    provider: str,
    resources: Collection[str],
    since: date,
    now: datetime,
) -> DemoData:
    """Return a source's data of these resources from the day `since` up to `now`.

    Days are those where the person lives. The same again at any later time, but for
    what `now` cut off: today's sums, and the menstrual cycle that runs.
    """
    today = now.astimezone(person.zone).date()
    days = [
        simulate_demo_day(person=person, day=since + ago * _DAY)
        for ago in range(-1, (today - since).days + 1)
    ]
    worn = _Worn(person, provider, days, now)
    shown = days[1:]
    made = DemoData()
    for slug in resources:
        elements = _elements(slug, worn, shown)
        if elements:
            made.summaries[slug] = elements
        samples = _samples(slug, worn, shown)
        if samples:
            made.samples[slug] = samples
    if "workout_stream" in resources:
        for workout in worn.workouts(shown):
            made.streams[workout.element()["time_start"]] = workout.stream()
    return made


class _Worn:
    """What one device recorded of the days: heartbeats, nights and workouts."""

    def __init__(
        self, person: Person, provider: str, days: list[Day], now: datetime
    ) -> None:
        self.person = person
        self.provider = provider
        self.now = now
        self.nights = {
            day.date: simulate_night_recorded_by_source(
                person=person, provider=provider, waking=day.date
            )
            for day in days
        }
        self.beats = [beat for day in days for beat in self._beats(day)]
        self.moments = [moment for moment, _ in self.beats]

    def _beats(self, day: Day) -> Iterator[tuple[datetime, int]]:
        random = create_seeded_random(
            self.person.name, self.provider, day.date, "charging"
        )
        starts = day.next_night.start - random.randint(60, 150) * _MINUTE
        ends = starts + random.randint(*_CHARGING_MINUTES) * _MINUTE
        is_on_tonight = simulate_night_recorded_by_source(
            person=self.person, provider=self.provider, waking=day.date + _DAY
        )
        for moment, rate in generate_demo_heart_rates(day):
            if moment > self.now:
                return
            if starts <= moment < ends and not day.workout_at(moment):
                continue
            if moment < day.night.end and not self.nights[day.date]:
                continue
            if moment >= day.next_night.start and not is_on_tonight:
                continue
            yield moment, rate

    def night(self, day: Day) -> Night | None:
        """Return the night that ended on a day, if the source has it."""
        night = self.nights[day.date]
        return night if night and night.end <= self.now else None

    def rates(self, start: datetime, end: datetime) -> list[int]:
        """Return heart rates from `start` to `end` (exclusive)."""
        first, last = (bisect_left(self.moments, each) for each in (start, end))
        return [rate for _, rate in self.beats[first:last]]

    def workouts(self, days: list[Day]) -> Iterator[Workout]:
        for day in days:
            for workout in day.workouts:
                if workout.end <= self.now:
                    yield workout

    def steps(self, day: Day) -> list[tuple[datetime, int]]:
        """Return the past slots with steps."""
        return [
            (slot, steps)
            for slot, steps in day.steps.items()
            if steps and slot + SLOT <= self.now
        ]

    def variability(self, night: Night) -> Iterator[tuple[datetime, float]]:
        """Return heart rate variability through a night, ms (RMSSD)."""
        random = create_seeded_random(
            self.person.name, self.provider, night.start, "hrv"
        )
        usual = self.person.hrv * random.gauss(1, 0.08)
        length = night.end - night.start
        for number in range(1, length // _BEAT):
            moment = night.start + number * _BEAT
            stage = night.stage_at(moment)
            if stage is None:
                continue
            rising = 0.88 + 0.24 * ((moment - night.start) / length)
            value = usual * rising * _HRV_BY_STAGE.get(SleepStage(stage), 1.0)
            yield moment, round(max(8.0, value * random.gauss(1, 0.09)), 1)


def _elements(slug: str, worn: _Worn, days: list[Day]) -> list[Element]:
    match slug:
        case "sleep_cycle":
            zone = worn.person.time_zone
            return [
                build_demo_sleep_cycle(night, zone)
                for day in days
                if (night := worn.night(day))
            ]
        case "sleep":
            return [
                _sleep(worn, day, night) for day in days if (night := worn.night(day))
            ]
        case "activity":
            return [_activity(worn, day) for day in days]
        case "workouts":
            return [workout.element() for workout in worn.workouts(days)]
        case "body":
            return [
                _body(worn.person, day.date)
                for day in days
                if day.night.end <= worn.now and _is_weighed(worn.person, day.date)
            ]
        case "menstrual_cycle":
            return make_demo_menstrual_cycles(
                person=worn.person.name, today=days[-1].date, cycles=CYCLES
            )
        case _:
            return []


def _samples(slug: str, worn: _Worn, days: list[Day]) -> list[Element]:
    match slug:
        case "heartrate":
            first = bisect_left(worn.moments, days[0].start)
            return [
                {"timestamp": format_utc_time_with_z(moment), "value": rate}
                for moment, rate in worn.beats[first:]
            ]
        case "hrv":
            return [
                {"timestamp": format_utc_time_with_z(moment), "value": value}
                for day in days
                if (night := worn.night(day))
                for moment, value in worn.variability(night)
            ]
        case "steps":
            return [
                {
                    "start": format_utc_time_with_z(slot),
                    "end": format_utc_time_with_z(slot + SLOT),
                    "value": steps,
                }
                for day in days
                for slot, steps in worn.steps(day)
            ]
        case "glucose":
            return [
                {"timestamp": format_utc_time_with_z(moment), "value": value}
                for day in days
                for moment, value in generate_demo_glucose_readings(day)
                if moment <= worn.now
            ]
        case _:
            return []


def _sleep(worn: _Worn, day: Day, night: Night) -> Element:
    random = create_seeded_random(worn.person.name, worn.provider, day.date, "sleep")
    length = int((night.end - night.start).total_seconds())
    light, deep, rem = (night.seconds_of(stage) for stage in _ASLEEP)
    total = light + deep + rem
    efficiency = 100 * total / length
    element: Element = {
        "calendar_date": day.date.isoformat(),
        "bedtime_start": format_utc_time_with_z(night.start),
        "bedtime_stop": format_utc_time_with_z(night.end),
        "type": "long_sleep",
        "state": "confirmed",
        "duration": length,
        "total": total,
        "light": light,
        "deep": deep,
        "rem": rem,
        "awake": night.seconds_of(SleepStage.AWAKE),
        "latency": night.stages[0][2],
        "efficiency": round(efficiency, 1),
        "score": min(100, round(0.55 * efficiency + 45 * min(1, total / 27_000))),
        "respiratory_rate": round(random.gauss(14.2, 0.5), 1),
        "temperature_delta": round(random.gauss(0, 0.16), 2),
    }
    rates = worn.rates(night.start, night.end)
    if rates:
        mean = sum(rates) / len(rates)
        element |= {
            "hr_lowest": min(rates),
            "hr_average": round(mean),
            "hr_resting": min(rates),
        }
        awake = worn.rates(night.start - _AWAKE, night.start)
        if awake:
            element["hr_dip"] = round(100 * (1 - mean / median(awake)), 1)
    variability = [value for _, value in worn.variability(night)]
    if variability:
        element["average_hrv"] = round(sum(variability) / len(variability), 1)
    return element


def _activity(worn: _Worn, day: Day) -> Element:
    person = worn.person
    slots = worn.steps(day)
    steps = sum(count for _, count in slots)
    workouts = list(worn.workouts([day]))
    trained = sum(workout.steps for workout in workouts)
    on_foot = [each for each in workouts if each.sport.step_rate]
    walked = max(0, steps - trained) * person.stride
    active = 0.00045 * person.weight_kg * max(0, steps - trained)
    active += sum(workout.calories for workout in workouts)
    gone = min(1.0, (worn.now - day.start) / (day.end - day.start))
    element: Element = {
        "calendar_date": day.date.isoformat(),
        "steps": steps,
        "distance": round(walked + sum(each.distances[-1] for each in on_foot), 1),
        "calories_active": round(active, 1),
        "calories_total": round(active + gone * person.energy_at_rest, 1),
        "low": 15 * sum(100 <= count < 500 for _, count in slots),
        "medium": 15 * sum(count >= 500 for _, count in slots),
        "high": sum(int(each.minutes) for each in workouts if each.sport.effort > 0.6),
        "floors_climbed": create_seeded_random(person.name, "floors", day.date).randint(
            2, 14
        )
        if gone == 1
        else 0,
    }
    if person.time_zone:
        element["time_zone"] = person.time_zone
    rates = worn.rates(day.start, day.end)
    if rates:
        element["heart_rate"] = {
            "avg_bpm": round(sum(rates) / len(rates), 1),
            "min_bpm": min(rates),
            "max_bpm": max(rates),
        }
        if night := worn.night(day):
            asleep = worn.rates(night.start, night.end)
            element["heart_rate"]["resting_bpm"] = min(asleep, default=None)
    return element


def _is_weighed(person: Person, day: date) -> bool:
    return create_seeded_random(person.name, "scale", day).random() < _WEIGHED


def _body(person: Person, day: date) -> Element:
    random = create_seeded_random(person.name, "weight", day)
    # A slow way down and up again, and what was eaten the day before.
    season = 1.4 * (abs((day.toordinal() % 240) - 120) / 120 - 0.5)
    weight = round(person.weight_kg + season + random.gauss(0, 0.35), 1)
    fat = round(person.fat_percent + 0.5 * season + random.gauss(0, 0.25), 1)
    return {
        "calendar_date": day.isoformat(),
        "weight": weight,
        "fat": fat,
        "body_mass_index": round(weight / (person.height_cm / 100) ** 2, 1),
        "lean_body_mass_kilogram": round(weight * (1 - fat / 100), 1),
    }
