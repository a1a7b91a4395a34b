from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import mean
from zoneinfo import ZoneInfo

import pytest

from users.gateways.demo import make_demo_person, make_demo_source_data
from users.gateways.demo.days import simulate_demo_day
from users.gateways.demo.glucose import list_demo_meals
from users.states import SleepStage

NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)
SINCE = NOON.date() - timedelta(days=20)
RESOURCES = (
    *("sleep", "sleep_cycle", "activity", "workouts", "workout_stream", "body"),
    *("heartrate", "hrv", "steps", "menstrual_cycle"),
)
# A zone whose clocks change on 8 March.
PERSON = make_demo_person(name="a", time_zone="America/New_York")
ZONE = ZoneInfo("America/New_York")


def make(person=PERSON, provider="oura", now=NOON, since=SINCE, resources=RESOURCES):
    return make_demo_source_data(
        person=person, provider=provider, resources=resources, since=since, now=now
    )


@pytest.fixture(scope="module")
def made():
    return make()


def at(text):
    return datetime.fromisoformat(text)


def between(samples, start, end):
    return [
        sample["value"] for sample in samples if start <= at(sample["timestamp"]) < end
    ]


def test_it_is_the_same_at_any_later_time_but_for_today(made):
    later = make(now=NOON + timedelta(days=2))

    for slug, samples in made.samples.items():
        assert later.samples[slug][: len(samples)] == samples
    for slug in ("sleep", "sleep_cycle", "workouts", "body"):
        assert (
            later.summaries[slug][: len(made.summaries[slug])] == made.summaries[slug]
        )
    days = made.summaries["activity"]
    assert later.summaries["activity"][: len(days) - 1] == days[:-1]
    assert make(person=make_demo_person(name="b", time_zone=None)) != made


def test_nothing_lies_ahead(made):
    moments = [
        at(sample.get("end") or sample["timestamp"])
        for samples in made.samples.values()
        for sample in samples
    ]
    moments += [at(each["bedtime_stop"]) for each in made.summaries["sleep"]]
    moments += [at(each["time_end"]) for each in made.summaries["workouts"]]

    assert max(moments) <= NOON


def test_only_what_is_asked_for_is_made():
    made = make(resources=("steps", "note"))

    assert (set(made.summaries), set(made.samples), made.streams) == (
        set(),
        {"steps"},
        {},
    )


def test_a_sleep_sums_up_its_stages_and_its_heart(made):
    cycles = made.summaries["sleep_cycle"]
    sleeps = made.summaries["sleep"]

    assert len(sleeps) == len(cycles) > 15
    for sleep, cycle in zip(sleeps, cycles, strict=True):
        start, stop = at(sleep["bedtime_start"]), at(sleep["bedtime_stop"])
        assert start == at(cycle["session_start"] + "Z")
        assert stop == at(cycle["session_end"] + "Z")
        seconds = dict.fromkeys(SleepStage, 0)
        for code, begin, end in zip(
            cycle["stage_type"],
            cycle["stage_start_offset_second"],
            cycle["stage_end_offset_second"],
            strict=True,
        ):
            seconds[SleepStage(code)] += end - begin
        for name in ("light", "deep", "rem", "awake"):
            assert sleep[name] == seconds[SleepStage[name.upper()]]
        assert sleep["total"] == sleep["light"] + sleep["deep"] + sleep["rem"]
        rates = between(made.samples["heartrate"], start, stop)
        assert (sleep["hr_lowest"], sleep["hr_average"]) == (
            min(rates),
            round(mean(rates)),
        )
        variability = between(made.samples["hrv"], start, stop)
        assert sleep["average_hrv"] == round(mean(variability), 1)


def test_the_heart_rests_at_night_and_rises_by_day(made):
    by_hour = {hour: [] for hour in range(24)}
    for sample in made.samples["heartrate"]:
        hour = at(sample["timestamp"]).astimezone(ZONE).hour
        by_hour[hour].append(sample["value"])

    night, day = (
        mean(mean(by_hour[hour]) for hour in each) for each in ((2, 3, 4), (14, 15, 16))
    )
    assert 44 <= night <= 68
    assert day - night > 12
    assert all(40 <= each["value"] <= 200 for each in made.samples["heartrate"])
    assert all(10 < each["hr_dip"] < 35 for each in made.summaries["sleep"])


def test_an_activity_sums_up_the_steps_of_its_local_day(made):
    steps = {
        each["calendar_date"]: each["steps"] for each in made.summaries["activity"]
    }
    counted = dict.fromkeys(steps, 0)
    for sample in made.samples["steps"]:
        counted[at(sample["start"]).astimezone(ZONE).date().isoformat()] += sample[
            "value"
        ]

    assert len(steps) == 21
    assert counted == steps
    assert 4000 < mean(list(steps.values())[:-1]) < 14_000


def test_a_day_whose_clocks_change_is_whole(made):
    (changed,) = (
        each
        for each in made.summaries["activity"]
        if each["calendar_date"] == "2026-03-08"
    )
    day = simulate_demo_day(person=PERSON, day=datetime(2026, 3, 8).date())  # noqa: DTZ001

    assert day.end - day.start == timedelta(hours=23)
    assert len(day.steps) == 23 * 4
    assert changed["steps"] > 2000


def test_a_workout_sums_up_its_stream_which_agrees_with_the_heart(made):
    workouts = made.summaries["workouts"]
    rates = {each["timestamp"]: each["value"] for each in made.samples["heartrate"]}

    assert 4 <= len(workouts) <= 14
    assert [each["time_start"] for each in workouts] == list(made.streams)
    for workout in workouts:
        stream = made.streams[workout["time_start"]]
        assert len({len(channel) for channel in stream.values()}) == 1
        assert stream["time"][0] == at(workout["time_start"]).timestamp()
        assert stream["time"][-1] == at(workout["time_end"]).timestamp()
        assert workout["max_hr"] == max(stream["heartrate"])
        assert workout["average_hr"] == round(mean(stream["heartrate"]))
        if "distance" in workout:
            assert workout["distance"] == stream["distance"][-1]
            assert all(a <= b for a, b in pairwise(stream["distance"]))
        shared = 0
        for second, rate in zip(stream["time"], stream["heartrate"], strict=True):
            stamp = datetime.fromtimestamp(second, UTC).isoformat()
            known = rates.get(stamp.replace("+00:00", "Z"))
            shared += known is not None
            assert known in (None, rate)
        assert shared == workout["moving_time"] // 60 + 1


def test_two_sources_tell_of_one_body():
    ring, watch = (
        {each["calendar_date"]: each for each in make(provider=slug).summaries["sleep"]}
        for slug in ("oura", "fitbit")
    )

    both = ring.keys() & watch.keys()
    assert len(both) > 15
    for day in both:
        apart = at(ring[day]["bedtime_start"]) - at(watch[day]["bedtime_start"])
        assert abs(apart) <= timedelta(minutes=3)
        assert abs(ring[day]["hr_average"] - watch[day]["hr_average"]) <= 3


def test_weight_drifts_and_fits_the_height(made):
    weights = [each["weight"] for each in made.summaries["body"]]

    assert len(weights) > 4
    assert max(weights) - min(weights) < 4
    for each in made.summaries["body"]:
        assert 16 < each["body_mass_index"] < 32
        lean = each["weight"] * (1 - each["fat"] / 100)
        assert each["lean_body_mass_kilogram"] == pytest.approx(lean, abs=0.1)


def test_glucose_rises_after_meals_and_comes_back():
    samples = make(provider="freestyle_libre", resources=("glucose",)).samples[
        "glucose"
    ]

    rises = []
    for ago in range(2, 18):
        day = NOON.date() - timedelta(days=ago)
        for meal in list_demo_meals(person=PERSON, day=day):
            if meal.carbohydrates < 40:
                continue
            before = between(samples, meal.at - timedelta(minutes=30), meal.at)
            after = between(
                samples,
                meal.at + timedelta(minutes=30),
                meal.at + timedelta(minutes=90),
            )
            later = between(
                samples, meal.at + timedelta(hours=3), meal.at + timedelta(hours=3.5)
            )
            rises.append((max(after) - mean(before), max(after) - mean(later)))
    assert len(rises) > 25
    assert 1 < mean(rise for rise, _ in rises) < 4
    assert mean(fall for _, fall in rises) > 1
    assert all(3.4 <= each["value"] <= 12 for each in samples)
    values = [each["value"] for each in samples]
    assert max(abs(a - b) for a, b in pairwise(values)) < 2.5
