from __future__ import annotations

from datetime import UTC

import pytest

from portal.lib.periods import find_time_zone_by_name
from tests.factories.oura import (
    daily_readiness_document,
    daily_sleep_document,
    daily_spo2_document,
    sleep_document,
)
from users.gateways.oura.nights import (
    convert_oura_blood_oxygen,
    convert_oura_breathing_disturbances,
    convert_oura_sleep_hrv,
    convert_oura_sleep_stages,
    convert_oura_sleeps,
    convert_oura_temperature_deviations,
)

START = "2026-03-10T01:00:00.000+01:00"
END = "2026-03-10T02:00:00.000+01:00"


def test_a_night_has_its_day_s_scores_and_its_own_readiness():
    (sleep,) = convert_oura_sleeps(
        [sleep_document()],
        daily_sleep=[daily_sleep_document()],
        daily_readiness=[daily_readiness_document()],
    )

    assert sleep == {
        "external_id": "sleep-2026-03-10",
        "calendar_date": "2026-03-10",
        "bedtime_start": START,
        "bedtime_stop": END,
        "timezone_offset": 3600,
        "type": "long_sleep",
        "duration": 3600,
        "total": 2700,
        "awake": 900,
        "light": 900,
        "rem": 900,
        "deep": 900,
        "latency": 120,
        "efficiency": 75,
        "score": 77,
        "recovery_readiness_score": 81,
        "hr_lowest": 52,
        "hr_average": 61,
        "average_hrv": 38,
        "respiratory_rate": 14.5,
        "temperature_delta": -0.25,
    }


def test_the_day_s_readiness_stands_in_where_the_night_has_none():
    (sleep,) = convert_oura_sleeps(
        [sleep_document(readiness=None)], daily_readiness=[daily_readiness_document()]
    )

    assert sleep["recovery_readiness_score"] == 83
    assert sleep["temperature_delta"] == 0.5
    assert sleep["score"] is None


def test_scores_of_a_day_go_to_its_longest_night_alone():
    first = sleep_document(id="first", bedtime_end="2026-03-10T01:30:00+01:00")
    second = sleep_document(id="second")
    nap = sleep_document(
        id="nap", type="sleep", bedtime_end="2026-03-10T09:00:00+01:00"
    )

    sleeps = convert_oura_sleeps(
        [first, second, nap], daily_sleep=[daily_sleep_document()]
    )

    assert [(each["external_id"], each["score"]) for each in sleeps] == [
        ("first", None),
        ("second", 77),
        ("nap", None),
    ]


@pytest.mark.parametrize(
    ("kind", "types"),
    [
        ("long_sleep", ["long_sleep"]),
        ("sleep", ["acknowledged_nap"]),
        ("late_nap", ["acknowledged_nap"]),
        ("hibernation", ["unknown"]),
        (None, ["unknown"]),
        ("deleted", []),
        ("rest", []),
    ],
)
def test_sleeps_that_were_none_are_left_out(kind, types):
    sleeps = convert_oura_sleeps([sleep_document(type=kind)])

    assert [each["type"] for each in sleeps] == types


@pytest.mark.parametrize(
    "wanted",
    [
        {"bedtime_start": None},
        {"bedtime_end": "yesterday"},
        {"bedtime_end": START},
        {"bedtime_start": "2026-03-10T01:00:00"},
    ],
    ids=["no start", "no date", "no length", "no offset"],
)
def test_a_sleep_that_does_not_say_when_is_left_out(wanted):
    sleep = sleep_document(**wanted)

    assert convert_oura_sleeps([sleep]) == []
    assert convert_oura_sleep_stages([sleep], fallback=UTC) == []
    assert convert_oura_sleep_hrv([sleep]) == []


def test_stages_are_runs_of_the_finest_phases():
    (cycle,) = convert_oura_sleep_stages(
        [sleep_document()], fallback=find_time_zone_by_name("Europe/Oslo")
    )

    assert cycle == {
        "external_id": "sleep-2026-03-10",
        "session_start": START,
        "session_end": END,
        "stage_type": [1, 2, 3, 4],
        "stage_start_offset_second": [0, 900, 1800, 2700],
        "stage_end_offset_second": [900, 1800, 2700, 3600],
        "time_zone": None,
    }


def test_stages_end_with_the_session_and_unknown_ones_are_kept():
    sleep = sleep_document(sleep_phase_30_sec=None, sleep_phase_5_min="1" * 6 + "9" * 9)

    (cycle,) = convert_oura_sleep_stages([sleep], fallback=UTC)

    assert cycle["stage_type"] == [1, -1]
    assert cycle["stage_end_offset_second"] == [1800, 3600]


def test_a_sleep_without_phases_has_no_cycle():
    sleep = sleep_document(sleep_phase_30_sec=None, sleep_phase_5_min="")

    assert convert_oura_sleep_stages([sleep], fallback=UTC) == []


@pytest.mark.parametrize(
    ("offset", "zone"),
    [
        ("+01:00", None),
        ("-05:00", "Etc/GMT+5"),
        ("+09:00", "Etc/GMT-9"),
        ("+00:00", "Etc/GMT+0"),
        ("+05:30", None),
    ],
)
def test_a_night_elsewhere_names_its_offset_s_zone(offset, zone):
    sleep = sleep_document(
        bedtime_start=f"2026-03-10T01:00:00{offset}",
        bedtime_end=f"2026-03-10T02:00:00{offset}",
    )

    (cycle,) = convert_oura_sleep_stages(
        [sleep], fallback=find_time_zone_by_name("Europe/Oslo")
    )

    assert cycle["time_zone"] == zone


def test_recorded_samples_stand_at_their_steps_and_gaps_are_left_out():
    assert convert_oura_sleep_hrv([sleep_document()]) == [
        {
            "timestamp": "2026-03-10T01:05:00+01:00",
            "timezone_offset": 3600,
            "value": 40.0,
        },
        {
            "timestamp": "2026-03-10T01:10:00+01:00",
            "timezone_offset": 3600,
            "value": 42.0,
        },
    ]


@pytest.mark.parametrize(
    "recorded", [None, [], {"items": [1]}, {"timestamp": START, "interval": "5"}]
)
def test_what_is_no_recording_has_no_samples(recorded):
    assert convert_oura_sleep_hrv([sleep_document(hrv=recorded)]) == []


def test_temperature_is_told_over_the_night():
    samples = convert_oura_temperature_deviations(
        [sleep_document(), sleep_document(readiness=None)]
    )

    assert samples == [
        {
            "start": START,
            "end": END,
            "timezone_offset": 3600,
            "value": -0.25,
            "sensor_location": "finger",
        }
    ]


def test_oxygen_and_breathing_of_a_day_are_dated_by_its_night():
    days = [
        daily_spo2_document(),
        daily_spo2_document("2026-03-11"),  # no night of it yet
    ]

    assert convert_oura_blood_oxygen([sleep_document()], days) == [
        {"timestamp": END, "timezone_offset": 3600, "value": 96.5}
    ]
    assert convert_oura_breathing_disturbances([sleep_document()], days) == [
        {"start": START, "end": END, "timezone_offset": 3600, "value": 4}
    ]


@pytest.mark.parametrize(
    "nothing",
    [
        {"spo2_percentage": None, "breathing_disturbance_index": None},
        {"spo2_percentage": {"average": 0}, "breathing_disturbance_index": "4"},
    ],
)
def test_a_day_without_values_gives_none(nothing):
    day = daily_spo2_document(**nothing)

    assert convert_oura_blood_oxygen([sleep_document()], [day]) == []
    assert convert_oura_breathing_disturbances([sleep_document()], [day]) == []
