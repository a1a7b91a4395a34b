"""Demo people: body and habits that determine their data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portal.lib.periods import find_time_zone_by_name
from users.gateways.demo.dice import create_seeded_random

if TYPE_CHECKING:
    from datetime import tzinfo


@dataclass(frozen=True, slots=True)
class Person:
    """A demo person; `name` seeds the random numbers, `zone` is their time zone.

    `bedtime` is an hour of the evening, `sleep_need` hours. Heart rates are in bpm,
    `hrv` is a usual night's (ms, rmssd), `stride` metres, `energy_at_rest` kcal a day.
    `pace` is how fast they run, metres a second.
    """

    name: str
    time_zone: str | None
    zone: tzinfo
    bedtime: float
    sleep_need: float
    resting_rate: float
    highest_rate: float
    hrv: float
    weight_kg: float
    height_cm: int
    fat_percent: float
    stride: float
    briskness: float
    pace: float

    @property
    def energy_at_rest(self) -> float:
        """Return the resting energy by weight; precise enough for demo data."""
        return 22.0 * self.weight_kg


def make_demo_person(*, name: str, time_zone: str | None) -> Person:
    """Return the person of this name; `time_zone` is IANA, None for UTC."""
    habit = create_seeded_random(name)
    bedtime = habit.uniform(22.2, 23.6)
    sleep_need = habit.uniform(6.2, 7.3)
    body = create_seeded_random(name, "body")
    height = body.randint(158, 191)
    return Person(
        name=name,
        time_zone=time_zone,
        zone=find_time_zone_by_name(time_zone or ""),
        bedtime=bedtime,
        sleep_need=sleep_need,
        resting_rate=body.uniform(47, 61),
        highest_rate=body.uniform(176, 192),
        hrv=body.uniform(32, 78),
        weight_kg=round(body.uniform(20.5, 27.5) * (height / 100) ** 2, 1),
        height_cm=height,
        fat_percent=body.uniform(16, 31),
        stride=height * 0.00415,
        briskness=body.uniform(0.75, 1.3),
        pace=body.uniform(2.4, 3.2),
    )
