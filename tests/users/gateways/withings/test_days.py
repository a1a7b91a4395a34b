"""Values of Withings by its documented units, each from its documented example."""

from __future__ import annotations

import pytest

from tests.users.gateways.withings.test_gateway import NOON, at, elements, pull
from users.gateways.withings.sports import get_withings_sport

# Examples of activity_object and workout_object, OpenAPI document 2.0.
DAY = {
    "date": "2026-03-08",
    "timezone": "Europe/Paris",
    "brand": 18,
    "is_tracker": True,
    "modified": 1594257200,
    "steps": 6200,
    "distance": 3000,
    "elevation": 100,
    "soft": 800,
    "moderate": 1000,
    "intense": 700,
    "active": 2300,
    "calories": 1200,
    "totalcalories": 3500,
    "hr_average": 80,
    "hr_min": 70,
    "hr_max": 80,
    "hr_zone_0": 100,
    "hr_zone_1": 200,
    "hr_zone_2": 300,
    "hr_zone_3": 400,
}
WORKOUT = {
    "id": 12345,
    "category": 6,
    "timezone": "Europe/Paris",
    "model": 59,
    "attrib": 0,
    "startdate": at("2026-03-08T10:00:00+01:00"),
    "enddate": at("2026-03-08T11:30:00+01:00"),
    "date": "2026-03-08",
    "modified": 1594257200,
    "data": {
        "calories": 530,
        "distance": 28_400,
        "steps": 12,
        "hr_average": 131,
        "hr_max": 168,
    },
}
NIGHT = at("2026-03-08T23:00:00+01:00")


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def test_a_day_has_meters_minutes_and_kilocalories(withings):
    withings.activities.append(DAY)

    assert elements(pull(withings, "activity")) == [
        (
            "watch",
            {
                "external_id": "2026-03-08:watch",
                "calendar_date": "2026-03-08",
                "steps": 6200,
                "distance": 3000,
                "floors_climbed": 100,
                "low": 800 / 60,
                "medium": 1000 / 60,
                "high": 700 / 60,
                "calories_active": 1200,
                "calories_total": 3500,
                "heart_rate": {"avg_bpm": 80, "min_bpm": 70, "max_bpm": 80},
                "time_zone": "Europe/Paris",
            },
        )
    ]


@pytest.mark.parametrize(
    ("more", "source"),
    [
        ({"is_tracker": False, "brand": 1}, "phone"),
        ({"is_tracker": False, "brand": 18}, "unknown"),
    ],
)
def test_a_day_is_of_what_counted_it(withings, more, source):
    withings.activities.append(DAY | more | {"hr_average": 0, "hr_min": 0})

    ((found, day),) = elements(pull(withings, "activity"))

    assert found == source
    assert day["heart_rate"] is None


def test_a_workout_has_its_zone_sport_and_units(withings):
    withings.workouts.append(WORKOUT)

    assert elements(pull(withings, "workouts")) == [
        (
            "watch",
            {
                "external_id": "12345",
                "provider_id": "12345",
                "calendar_date": "2026-03-08",
                "time_start": "2026-03-08T10:00:00+01:00",
                "time_end": "2026-03-08T11:30:00+01:00",
                "timezone_offset": 3600,
                "calories": 530,
                "distance": 28_400,
                "steps": 12,
                "average_hr": 131,
                "max_hr": 168,
                "sport": {"id": 6, "name": "Bicycling", "slug": "bicycling"},
            },
        )
    ]


@pytest.mark.parametrize(
    ("more", "sources"),
    [
        ({"attrib": 2, "data": {"manual_distance": 5000}}, ["app"]),
        ({"model": 1058}, ["phone"]),
        ({"attrib": 1}, []),
        ({"category": 128}, []),
        ({"enddate": 1}, []),
    ],
    ids=["typed in", "of a phone", "maybe of another", "no activity", "no end"],
)
def test_a_workout_is_of_what_recorded_it(withings, more, sources):
    withings.workouts.append(WORKOUT | more)

    assert [source for source, _ in elements(pull(withings, "workouts"))] == sources


def test_sports_have_their_published_names():
    assert get_withings_sport(515) == {
        "id": 515,
        "name": "Pushing a wheelchair (running pace)",
        "slug": "pushing_a_wheelchair_running_pace",
    }
    assert get_withings_sport(568)["name"] == "Cooking"
    assert get_withings_sport(36) == {"id": 0, "name": "Other", "slug": "other"}
    assert get_withings_sport(None)["slug"] == "other"


@pytest.mark.parametrize(
    ("resource", "values", "found"),
    [
        ("heartrate", {10: (118, 0), 9: (74, 0), 11: (61, 0)}, ("cuff", 61.0)),
        ("heartrate", {1: (72_500, -3), 11: (64, 0)}, ("scale", 64.0)),
        ("blood_oxygen", {54: (97, 0)}, ("watch", 97.0)),
        ("body_temperature", {12: (367, -1), 71: (371, -1)}, ("unknown", 37.1)),
        ("body_temperature", {12: (367, -1)}, ("unknown", 36.7)),
        ("vo2_max", {123: (42, 0)}, ("watch", 42.0)),
        ("lean_body_mass", {1: (72_500, -3), 5: (58_250, -3)}, ("scale", 58.25)),
        ("weight", {1: (65_750, -3)}, ("scale", 65.75)),
    ],
)
def test_a_measure_is_its_value_times_a_power_of_ten(withings, resource, values, found):
    withings.add_measures(at("2026-03-08T07:00:00+01:00"), values)

    ((source, sample),) = elements(pull(withings, resource))

    assert (source, sample["value"]) == found
    assert sample["timezone_offset"] == 3600
    if "start" in sample:
        assert (sample["start"], sample["end"]) == (
            "2026-03-08T07:00:00+01:00",
            "2026-03-08T07:00:01+01:00",
        )


def test_visceral_fat_has_no_unit(withings):
    withings.add_measures(
        at("2026-03-08T07:00:00+01:00"), {1: (72_500, -3), 170: (74, -1)}
    )

    ((_source, body),) = elements(pull(withings, "body"))
    assert body["visceral_fat_index"] == 7.4


def add_night(twin):
    twin.add_night(NIGHT, NIGHT + 8 * 3600, "2026-03-09", sleep_efficiency=0.91)


def test_efficiency_is_a_percentage(withings):
    add_night(withings)

    ((_source, night),) = elements(pull(withings, "sleep"))
    assert night["efficiency"] == 91.0


def test_a_night_s_stages_are_in_our_codes_and_do_not_overlap(withings):
    add_night(withings)
    for start, end, state in [
        (0, 600, 0),
        (600, 7200, 1),
        (7200, 14_000, 2),
        (13_400, 20_000, 3),
        (20_000, 22_000, 5),
        (22_000, 23_000, 15),
        (23_000, 30_000, 1),
    ]:
        withings.stages.append(
            {
                "startdate": NIGHT + start,
                "enddate": NIGHT + end,
                "state": state,
                "hash_deviceid": "a1c04e55",
            }
        )

    assert elements(pull(withings, "sleep_cycle")) == [
        (
            "unknown",
            {
                "external_id": "5000",
                "session_start": "2026-03-08T22:00:00+00:00",
                "session_end": "2026-03-09T06:00:00+00:00",
                "stage_type": [4, 2, 1, 3, -1, -1, 2],
                "stage_start_offset_second": [
                    *(0, 600, 7200, 13_400, 20_000, 22_000, 23_000)
                ],
                "stage_end_offset_second": [
                    *(600, 7200, 13_400, 20_000, 22_000, 23_000, 28_800)
                ],
                "time_zone": "Europe/Paris",
            },
        )
    ]


def test_a_night_without_stages_has_no_cycle(withings):
    add_night(withings)

    assert elements(pull(withings, "sleep_cycle")) == []
