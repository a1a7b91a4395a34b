"""Made-up nights and cycles, the same for a person and day whenever they are made.

A night has the architecture of a real one: cycles of some 90 minutes, deep sleep early,
REM late. A menstrual cycle has its flow, temperature shift and tests. Must not be here:
storing them (operations.demo).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from portal.lib.periods import SkippedTime, find_zone, from_wall_clock
from users.states import SleepStage

if TYPE_CHECKING:
    from collections.abc import Iterator

# Minutes of deep and of REM sleep in each cycle of a night, first to last.
_DEEP_MINUTES = (38, 26, 14, 6, 2, 0)
_REM_MINUTES = (9, 19, 27, 33, 37, 38)
_CYCLE_MINUTES = 92
_EPOCH_SECONDS = 30  # sleep is staged in epochs of half a minute
_FRIDAY = 4
# Nights without any data, nights in which the sensor came off, and quiet moments that
# no stage was given to.
_UNWORN, _CAME_OFF, _UNCLEAR = 0.06, 0.08, 0.05
# Before this day no one has a cycle; counting from it keeps cycles where they are.
_FIRST_CYCLE = date(2024, 1, 1)
_LUTEAL_DAYS = 14
# From five days before ovulation to the day after.
_MUCUS = (
    *("sticky", "creamy", "creamy", "watery", "egg_white"),
    *("egg_white", "sticky"),
)
_DAY = timedelta(days=1)

Element = dict[str, Any]


def _dice(*seed: object) -> Random:
    return Random("/".join(map(str, seed)))  # noqa: S311 - made-up data, no secret


def make_nights(
    *, person: str, provider: str, time_zone: str | None, now: datetime, nights: int
) -> list[Element]:
    """Sleep cycles of a person, as a source sends them; oldest first.

    The last is the night that ended last. `time_zone` is IANA, None for UTC.
    """
    made = [
        _night(person, provider, time_zone, now.date() - number * _DAY)
        for number in range(nights, -1, -1)
    ]
    latest = now.replace(tzinfo=None).isoformat()
    return [night for night in made if night and night["session_end"] <= latest]


def make_syncs(
    *, person: str, provider: str, time_zone: str | None, since: datetime, now: datetime
) -> list[tuple[datetime, int]]:
    """When a source sent what it had, every hour or two of the person's day.

    Pairs of a moment after `since` and not after `now`, in UTC, and how many elements
    it sent that were there already; oldest first. `time_zone` as in make_nights.
    """
    zone = find_zone(time_zone or "")
    made = []
    for ago in range((now - since).days + 2, -1, -1):
        day = now.astimezone(zone).date() - ago * _DAY
        dice = _dice(person, provider, day, "sync")
        hour, end = dice.uniform(6.2, 7.8), dice.uniform(21.5, 23.2)
        while hour < end:
            local = datetime.combine(day, time()) + timedelta(seconds=int(hour * 3600))
            again = dice.randint(1, 4)
            hour += dice.uniform(0.5, 1.9)
            try:
                moment = from_wall_clock(local, zone)
            except SkippedTime:
                continue
            if since < moment <= now:
                made.append((moment, again))
    return made


def _night(
    person: str, provider: str, time_zone: str | None, waking: date
) -> Element | None:
    habit = _dice(person)
    bedtime = habit.uniform(22.2, 23.6)  # hours of the evening
    sleep_need = habit.uniform(6.2, 7.3)
    dice = _dice(person, provider, waking)
    if dice.random() < _UNWORN:
        return None
    evening = waking - _DAY
    late = dice.gauss(0.7, 0.4) if evening.weekday() in (_FRIDAY, _FRIDAY + 1) else 0
    hours = bedtime + late + dice.gauss(0, 0.35)
    local = datetime.combine(evening, time()) + timedelta(minutes=int(hours * 60))
    try:
        start = from_wall_clock(local, find_zone(time_zone or ""))
    except SkippedTime:
        return None
    stages = list(_stages(dice, hours=sleep_need + dice.gauss(0, 0.6)))
    if dice.random() < _CAME_OFF:
        # What lay there is not known: a hole, not a stage.
        del stages[len(stages) // 2]
    element: Element = {
        "session_start": start.replace(tzinfo=None).isoformat(),
        "session_end": (start + timedelta(seconds=stages[-1][2]))
        .replace(tzinfo=None)
        .isoformat(),
        "stage_type": [stage for stage, _, _ in stages],
        "stage_start_offset_second": [begin for _, begin, _ in stages],
        "stage_end_offset_second": [end for _, _, end in stages],
    }
    if time_zone:
        element["time_zone"] = time_zone
    return element


def _stages(dice: Random, hours: float) -> Iterator[tuple[int, int, int]]:
    """Stages of a night as (code, begin, end), seconds from the session's start."""
    at = 0

    def stage(code: SleepStage, minutes: float) -> Iterator[tuple[int, int, int]]:
        nonlocal at
        begin = at
        at += max(1, round(minutes * 60 / _EPOCH_SECONDS)) * _EPOCH_SECONDS
        yield int(code), begin, at

    yield from stage(SleepStage.AWAKE, dice.uniform(4, 18))
    for cycle in range(max(3, round(hours * 60 / _CYCLE_MINUTES))):
        deep = _DEEP_MINUTES[min(cycle, 5)] * dice.uniform(0.7, 1.25)
        rem = _REM_MINUTES[min(cycle, 5)] * dice.uniform(0.75, 1.2)
        light = max(24, _CYCLE_MINUTES * dice.uniform(0.92, 1.06) - deep - rem)
        sinking = light * dice.uniform(0.35, 0.55)
        yield from stage(SleepStage.LIGHT, sinking)
        if deep >= 1:
            yield from stage(SleepStage.DEEP, deep)
        if dice.random() < _UNCLEAR:
            yield from stage(SleepStage.UNKNOWN, dice.uniform(1, 4))
        yield from stage(SleepStage.LIGHT, light - sinking)
        yield from stage(SleepStage.REM, rem)
        if cycle and dice.random() < 0.55:
            yield from stage(SleepStage.AWAKE, dice.uniform(1.5, 7))
    yield from stage(SleepStage.LIGHT, dice.uniform(3, 12))
    yield from stage(SleepStage.AWAKE, dice.uniform(2, 8))


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


def make_cycles(*, person: str, today: date, cycles: int) -> list[Element]:
    """Menstrual cycles of a person up to today, and one predicted; oldest first.

    What is logged ends today. The running cycle ends as its length is expected, and
    the one after is predicted; its external id lets the next prediction replace it.
    """
    usual = _dice(person, "cycles").randint(27, 30)
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
    start = _FIRST_CYCLE + _dice(person, "first").randrange(usual) * _DAY
    number = 0
    while start <= today:
        dice = _dice(person, "cycle", number)
        days = usual + dice.choice((-2, -1, 0, 0, 0, 1, 2))
        yield _Cycle(number, start, days, dice.choice((4, 5, 5, 5, 6)))
        start += days * _DAY
        number += 1


def _logged(person: str, cycle: _Cycle, today: date) -> Element:
    dice = _dice(person, "log", cycle.number)
    flows = ("light", "heavy", "heavy", "medium", "light", "light")
    days = [cycle.start + number * _DAY for number in range(cycle.days)]
    fertile = range(-5, 2)
    log: dict[str, list[Element]] = {
        "menstrual_flow": [
            {"date": day, "flow": flows[number]}
            for number, day in enumerate(days[: cycle.period_days])
        ],
        "basal_body_temperature": [
            {"date": day, "value": _temperature(dice, day, cycle)}
            for day in days
            if dice.random() > 0.1
        ],
        "ovulation_test": [
            {"date": cycle.ovulation + number * _DAY, "test_result": result}
            for number, result in (
                *((before, "negative") for before in (-5, -4, -3)),
                (-2, dice.choice(("negative", "luteinizing_hormone_surge"))),
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
            if dice.random() < 0.7
        ],
        "intermenstrual_bleeding": [{"date": cycle.ovulation}]
        if dice.random() < 0.35
        else [],
        "sexual_activity": [
            {"date": day, "protection_used": dice.random() < 0.5}
            for day in days[cycle.period_days :]
            if dice.random() < 0.12
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


def _temperature(dice: Random, day: date, cycle: _Cycle) -> float:
    """Degrees Celsius on waking: up by a third of a degree after ovulation."""
    shift = 0.34 if day > cycle.ovulation else 0
    return round(36.4 + shift + dice.gauss(0, 0.05), 2)
