"""Demo menstrual cycles: flow, temperature, tests, and a predicted one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from users.gateways.demo.dice import Element, create_seeded_random

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

# Before this day no one has a cycle; counting from it keeps cycles where they are.
_FIRST_CYCLE = date(2024, 1, 1)
_LUTEAL_DAYS = 14
# From five days before ovulation to the day after.
_MUCUS = (
    *("sticky", "creamy", "creamy", "watery", "egg_white"),
    *("egg_white", "sticky"),
)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Cycle:
    """One cycle: its first day and its lengths in days."""

    number: int
    start: date
    days: int
    period_days: int

    @property
    def end(self) -> date:
        return self.start + (self.days - 1) * _DAY

    @property
    def ovulation(self) -> date:
        return self.start + (self.days - _LUTEAL_DAYS - 1) * _DAY


def make_demo_menstrual_cycles(
    *, person: str, today: date, cycles: int
) -> list[Element]:
    """Return a person's cycles up to today and a predicted one, oldest first.

    What is logged ends today. The running cycle ends as its length is expected, and
    the one after is predicted; its external id lets the next prediction replace it.
    """
    usual = create_seeded_random(person, "cycles").randint(27, 30)
    begun = [each for each in _cycles(person, usual, today) if each.start <= today]
    *past, running = begun[-cycles:]
    expected = _Cycle(running.number, running.start, usual, running.period_days)
    if expected.end < today:
        expected = running
    next_start = expected.end + _DAY
    return [
        *(_logged(person, cycle, today) for cycle in past),
        _logged(person, running, today) | {"cycle_end": expected.end.isoformat()},
        {
            "external_id": "predicted",
            "period_start": next_start.isoformat(),
            "period_end": (next_start + 4 * _DAY).isoformat(),
            "cycle_end": (next_start + (usual - 1) * _DAY).isoformat(),
            "is_predicted": True,
        },
    ]


def _cycles(person: str, usual: int, today: date) -> Iterator[_Cycle]:
    start = _FIRST_CYCLE + create_seeded_random(person, "first").randrange(usual) * _DAY
    number = 0
    while start <= today:
        random = create_seeded_random(person, "cycle", number)
        days = usual + random.choice((-2, -1, 0, 0, 0, 1, 2))
        yield _Cycle(number, start, days, random.choice((4, 5, 5, 5, 6)))
        start += days * _DAY
        number += 1


def _logged(person: str, cycle: _Cycle, today: date) -> Element:
    random = create_seeded_random(person, "log", cycle.number)
    flows = ("light", "heavy", "heavy", "medium", "light", "light")
    days = [cycle.start + number * _DAY for number in range(cycle.days)]
    fertile = range(-5, 2)
    log: dict[str, list[Element]] = {
        "menstrual_flow": [
            {"date": day, "flow": flows[number]}
            for number, day in enumerate(days[: cycle.period_days])
        ],
        "basal_body_temperature": [
            {"date": day, "value": _temperature(random, day, cycle)}
            for day in days
            if random.random() > 0.1
        ],
        "ovulation_test": [
            {"date": cycle.ovulation + number * _DAY, "test_result": result}
            for number, result in (
                *((before, "negative") for before in (-5, -4, -3)),
                (-2, random.choice(("negative", "luteinizing_hormone_surge"))),
                (-1, "positive"),
                (0, "positive"),
                (1, "negative"),
            )
        ],
        "cervical_mucus": [
            {"date": cycle.ovulation + number * _DAY, "quality": quality}
            for number, quality in zip(
                fertile,
                _MUCUS,
                strict=True,
            )
            if random.random() < 0.7
        ],
        "intermenstrual_bleeding": [{"date": cycle.ovulation}]
        if random.random() < 0.35
        else [],
        "sexual_activity": [
            {"date": day, "protection_used": random.random() < 0.5}
            for day in days[cycle.period_days :]
            if random.random() < 0.12
        ],
    }
    known = {
        name: [
            {**entry, "date": entry["date"].isoformat()}
            for entry in entries
            if entry["date"] <= today
        ]
        for name, entries in log.items()
    }
    period_end = cycle.start + (cycle.period_days - 1) * _DAY
    return {
        "period_start": cycle.start.isoformat(),
        "period_end": period_end.isoformat(),
        "cycle_end": cycle.end.isoformat(),
        **known,
    }


def _temperature(random: Random, day: date, cycle: _Cycle) -> float:
    """Return the temperature on waking (°C), a third of a degree up after ovulation."""
    shift = 0.34 if day > cycle.ovulation else 0
    return round(36.4 + shift + random.gauss(0, 0.05), 2)
