from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from tests.factories.timeseries import MOMENT, WORKOUT, minute, sample
from users.wearables.readings import FAULTS_MAX, Context, ElementsInvalid
from users.wearables.timeseries import TIMESERIES
from users.wearables.timeseries.readings import Workout, parse_sample_batch

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEN = datetime(2026, 2, 28, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


def context(zone="UTC"):
    return Context(
        user_uuid=UUID("5b1f4c7e-54c8-4b36-9d2e-aa13c7b0f001"),
        provider="oura",
        time_zone=zone,
        zone=ZoneInfo(zone),
        now=NOW,
    )


def read(slug, *samples, zone="UTC", **stated):
    resource = TIMESERIES[slug]
    return parse_sample_batch(resource, samples, context(zone), Workout(**stated))


def faults(slug, *samples, **given):
    with pytest.raises(ElementsInvalid) as refused:
        read(slug, *samples, **given)
    return [(fault.loc, fault.type) for fault in refused.value.faults]


BAD = {
    "no-object": ("heartrate", 7, [((1,), "value_error")]),
    "no-moment": ("heartrate", {"timestamp": None}, [("timestamp", "missing")]),
    "a-number": ("heartrate", {"timestamp": 7}, [("timestamp", "datetime_parsing")]),
    "a-day": (
        "heartrate",
        {"timestamp": "2026-02-28"},
        [("timestamp", "datetime_parsing")],
    ),
    "two-lines": (
        "heartrate",
        {"timestamp": f"{MOMENT}\n{MOMENT}"},
        [("timestamp", "datetime_parsing")],
    ),
    "no-digits": (
        "heartrate",
        {"timestamp": "2026-02-28T1٢:00:00Z"},
        [("timestamp", "datetime_parsing")],
    ),
    "no-such-day": (
        "heartrate",
        {"timestamp": "2026-02-30T10:00:00Z"},
        [("timestamp", "datetime_parsing")],
    ),
    "before-time": (
        "heartrate",
        {"timestamp": "0001-01-01T00:00:00+14:00"},
        [("timestamp", "datetime_parsing")],
    ),
    "long-ago": (
        "heartrate",
        {"timestamp": "1899-12-31T23:59:59Z"},
        [("timestamp", "greater_than_equal")],
    ),
    "three-days-ahead": (
        "heartrate",
        {"timestamp": "2026-03-03T12:00:01Z"},
        [("timestamp", "less_than_equal")],
    ),
    "5000-years-ahead": (
        "heartrate",
        {"timestamp": "7026-02-28T10:00:00Z"},
        [("timestamp", "less_than_equal")],
    ),
    "an-offset-in-words": (
        "heartrate",
        {"timezone_offset": "3600"},
        [("timezone_offset", "int_parsing")],
    ),
    "an-offset-of-a-day": (
        "heartrate",
        {"timezone_offset": 86400},
        [("timezone_offset", "less_than_equal")],
    ),
    "no-value": ("heartrate", {"value": None}, [("value", "missing")]),
    "a-text": ("heartrate", {"value": "61"}, [("value", "value_error")]),
    "a-truth": ("heartrate", {"value": True}, [("value", "value_error")]),
    "nan": ("heartrate", {"value": float("nan")}, [("value", "value_error")]),
    "infinite": ("heartrate", {"value": float("inf")}, [("value", "value_error")]),
    "negative": ("heartrate", {"value": -1}, [("value", "greater_than_equal")]),
    "over-all": ("blood_oxygen", {"value": 101}, [("value", "less_than_equal")]),
    "fahrenheit": ("body_temperature", {"value": 98.6}, [("value", "less_than_equal")]),
    "another-unit": ("glucose", {"unit": "mg/dL"}, [("unit", "enum")]),
    "no-unit": ("glucose", {"unit": 7}, [("unit", "string_type")]),
    "no-end": ("steps", {"end": None}, [("end", "missing")]),
    "no-start": ("steps", {"start": None}, [("start", "missing")]),
    "an-end-that-is-the-start": ("steps", {"end": MOMENT}, [("end", "value_error")]),
    "an-end-before-the-start": (
        "steps",
        {"end": "2026-02-28T09:59:59Z"},
        [("end", "value_error")],
    ),
    "a-year": (
        "steps",
        {"start": "2025-02-28T10:00:00Z"},
        [("end", "less_than_equal")],
    ),
    "a-timestamp-beside-the-start": (
        "steps",
        {"timestamp": "2026-02-28T10:00:01Z"},
        [("timestamp", "value_error")],
    ),
    "no-type": ("cholesterol", {"type": None}, [("type", "missing")]),
    "an-unknown-type": ("cholesterol", {"type": "vldl"}, [("type", "enum")]),
    "a-type-that-is-a-number": ("cholesterol", {"type": 1}, [("type", "string_type")]),
    "an-empty-type": ("ige", {"type": ""}, [("type", "string_too_short")]),
    "a-long-type": ("ige", {"type": "x" * 101}, [("type", "string_too_long")]),
    "a-nul": ("ige", {"type": "a\0b"}, [("type", "value_error")]),
    "half-an-alert": ("heart_rate_alert", {"value": 1.5}, [("value", "int_parsing")]),
    "no-systolic": ("blood_pressure", {"systolic": None}, [("systolic", "missing")]),
    "no-diastolic": ("blood_pressure", {"diastolic": None}, [("diastolic", "missing")]),
    "a-bad-place": (
        "body_temperature",
        {"sensor_location": "knee"},
        [("sensor_location", "enum")],
    ),
    "a-note-of-numbers": ("note", {"value": 7}, [("value", "string_type")]),
    "no-note": ("note", {"value": None}, [("value", "missing")]),
    "a-note-with-a-nul": ("note", {"value": "a\0b"}, [((1,), "value_error")]),
    "a-bad-tag": ("note", {"tags": ["food", "joy"]}, [((1, "tags", 1), "enum")]),
    "no-workout": (
        "workout_distance",
        {"workout_id": None},
        [("workout_id", "missing")],
    ),
    "no-sport": ("workout_distance", {"sport": None}, [("sport", "missing")]),
    "a-bad-workout": (
        "workout_duration",
        {"workout_id": "run-7"},
        [("workout_id", "uuid_parsing")],
    ),
    "a-long-sport": ("distance", {"sport": "x" * 101}, [("sport", "string_too_long")]),
    "several": (
        "cholesterol",
        {"timestamp": None, "unit": "mg/dL", "value": -1, "type": "vldl"},
        [
            ("timestamp", "missing"),
            ("unit", "enum"),
            ("value", "greater_than_equal"),
            ("type", "enum"),
        ],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_sample_that_can_not_be_is_refused_by_its_index(case):
    slug, wrong, expected = BAD[case]
    bad = sample(slug, **wrong) if isinstance(wrong, dict) else wrong

    found = faults(slug, sample(slug), bad, sample(slug))

    located = [
        (loc if isinstance(loc, tuple) else (1, loc), type_) for loc, type_ in expected
    ]
    assert found == located


@pytest.mark.parametrize("number", [0, 10_001])
def test_a_batch_has_one_to_ten_thousand_samples(number):
    assert faults("heartrate", *[sample("heartrate")] * number) == [((), "value_error")]


def test_faults_are_told_up_to_a_number():
    found = faults("heartrate", *[{"value": "x"}] * 200)

    assert len(found) == FAULTS_MAX
    assert found[-1] == ((49, "value"), "value_error")


MOMENTS = {
    # Text, timezone_offset, fallback zone: the moment after ten UTC, and the offset.
    "an-offset-of-its-own": ("2026-02-28T10:00:00+02:00", None, "Asia/Tokyo", -2, 7200),
    "utc-as-an-offset": ("2026-02-28T10:00:00+00:00", None, "Asia/Tokyo", 0, 0),
    "utc-that-tells-no-place": ("2026-02-28T10:00:00Z", None, "Asia/Tokyo", 0, 32400),
    "an-offset-beside-it": ("2026-02-28T10:00:00Z", -3600, "Asia/Tokyo", 0, -3600),
    "two-offsets": ("2026-02-28T10:00:00+0200", 3600, "Asia/Tokyo", -2, 3600),
    "a-wall-clock": ("2026-02-28 19:00", None, "Asia/Tokyo", 0, 32400),
    "a-wall-clock-elsewhere": ("2026-02-28T05:00", -18000, "Asia/Tokyo", 0, -18000),
}


@pytest.mark.parametrize("case", MOMENTS)
def test_a_time_is_read_with_what_is_known_of_its_place(case):
    text, offset, zone, hours, expected = MOMENTS[case]

    found = read(
        "heartrate",
        sample("heartrate", timestamp=text, timezone_offset=offset),
        zone=zone,
    )

    assert found.ts == [TEN + hours * HOUR]
    assert found.tz_offset == [expected]


def test_a_repeated_hour_is_the_first_and_a_skipped_one_is_refused():
    twice = sample("heartrate", timestamp="2025-10-26T02:30:00")
    never = sample("heartrate", timestamp="2025-03-30T02:30:00")

    found = read("heartrate", twice, zone="Europe/Berlin")

    assert found.ts == [datetime(2025, 10, 26, 0, 30, tzinfo=UTC)]
    assert found.tz_offset == [7200]
    assert faults("heartrate", twice, never, zone="Europe/Berlin") == [
        ((1, "timestamp"), "value_error")
    ]


def test_offsets_of_a_day_on_which_clocks_change_are_exact():
    texts = [f"2025-10-26T{hour:02}:59:59Z" for hour in (0, 1, 2)]
    texts += ["2025-10-25T12:00:00Z", "2025-10-27T12:00:00.5Z"]

    found = read(
        "heartrate",
        *[sample("heartrate", timestamp=text) for text in texts],
        zone="Europe/Berlin",
    )

    assert found.tz_offset == [7200, 3600, 3600, 7200, 3600]


def test_an_interval_begins_at_its_start_or_timestamp_and_is_kept_to_the_second():
    spans = [
        {"timestamp": MOMENT, "end": minute(1)},
        {"start": MOMENT, "timestamp": "2026-02-28T11:00:00+01:00", "end": minute(2)},
        {"start": MOMENT, "end": "2026-02-28T10:00:00.2Z"},
        {"start": "2026-02-28T10:00:00.25Z", "end": "2026-02-28T10:00:08.9Z"},
    ]

    found = read("steps", *[{"value": 1, **span} for span in spans])

    assert found.duration == [60, 120, 1, 9]
    assert found.ts == [TEN, TEN, TEN, TEN + timedelta(milliseconds=250)]


def test_a_point_lasts_no_time_and_needs_no_end():
    found = read("heartrate", sample("heartrate", end=minute(3)))

    assert found.duration == [0]


def test_types_are_read_in_any_case_and_open_ones_kept_exactly():
    types = ["LDL", "Triglycerides", "hdl"]

    closed = read("cholesterol", *[sample("cholesterol", type=each) for each in types])
    opened = read("electrocardiogram_voltage", sample("electrocardiogram_voltage"))
    untyped = read("heartrate", sample("heartrate", type="resting"))

    assert closed.types == ["ldl", "triglycerides", "hdl"]
    assert opened.types == ["I"]
    assert untyped.types == [None]


def test_an_optional_type_is_an_extra_key():
    resource = "sleep_breathing_disturbance"

    found = read(resource, sample(resource, type="Not elevated"), sample(resource))

    assert found.types == [None, None]
    assert found.extra == {0: {"type": "not_elevated"}}


def test_a_sample_names_its_workout_or_takes_that_of_the_batch():
    other = "0b8ed3d5-7a0c-4f5e-8a52-6f3ff3c0a111"
    own = sample("workout_duration", workout_id=WORKOUT, sport="rowing")

    found = read(
        "workout_duration",
        own,
        sample("workout_duration"),
        workout_id=UUID(other),
        sport="running",
    )
    apart = read("heartrate", sample("heartrate", sport="rowing"), sport="running")
    wheels = read(
        "distance", sample("distance"), workout_id=UUID(other), sport="wheelchair"
    )

    assert found.workouts == [
        Workout(UUID(WORKOUT), "rowing"),
        Workout(UUID(other), "running"),
    ]
    assert apart.workouts == [Workout(None, None)]
    assert wheels.workouts == [Workout(None, "wheelchair")]


def test_values_are_those_of_the_resource():
    pressure = read("blood_pressure", sample("blood_pressure"))
    note = read("note", sample("note", tags=["Food"]))

    assert (pressure.value, pressure.extra) == ([121.5], {0: {"diastolic": 79}})
    assert note.value == [0.0]
    assert note.extra == {0: {"value": "Porridge, then a run", "tags": ["food"]}}
