from __future__ import annotations

import gzip
from datetime import UTC, datetime
from itertools import count

import orjson
import pytest
from jsonschema import validate

from users.wearables.streams import (
    CHANNELS,
    PAUSE_SECONDS,
    POINTS_MAX,
    STREAM_SCHEMA,
    StreamInvalid,
    build_empty_workout_stream,
    parse_workout_stream,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
START = int(datetime(2026, 2, 28, 17, tzinfo=UTC).timestamp())
NAMES = [channel.name for channel in CHANNELS]


def read(**channels):
    return parse_workout_stream(channels, now=NOON)


def faults_of(body):
    with pytest.raises(StreamInvalid) as refused:
        parse_workout_stream(body, now=NOON)
    return [(fault.loc, fault.type) for fault in refused.value.faults]


def test_a_stream_is_kept_with_every_channel_in_the_contracts_order():
    sent = {
        "temperature": [21, None],
        "time": [START, START + 1],
        "heartrate": [120, 121],
        "lat": [47.123456, 47.123466],
        "unknown_channel": ["x"],
    }

    stream = read(**sent)

    answer = orjson.loads(gzip.decompress(stream.content))
    assert list(answer) == NAMES
    sent.pop("unknown_channel")
    assert answer == dict.fromkeys(NAMES) | sent
    assert stream.points == 2
    validate(answer, STREAM_SCHEMA)


def test_a_stream_reads_the_same_whatever_the_order_of_its_channels():
    one = read(time=[START], power=[200])
    same = read(power=[200], time=[START])
    other = read(power=[200.5], time=[START])

    assert one == same
    assert one.digest != other.digest


def test_a_workout_without_a_stream_has_no_channel():
    assert orjson.loads(gzip.decompress(build_empty_workout_stream())) == dict.fromkeys(
        NAMES
    )


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        ([], (), "value_error"),
        ({}, (), "value_error"),
        ({"time": []}, (), "value_error"),
        ({"time": None, "power": None}, (), "value_error"),
        ({"time": 5}, ("time",), "value_error"),
        ({"time": [START], "power": [1, 2]}, ("power",), "value_error"),
        ({"power": [1] * (POINTS_MAX + 1)}, ("power",), "value_error"),
        ({"time": [START, None]}, ("time", 1), "int_parsing"),
        ({"time": [START + 0.5]}, ("time", 0), "int_parsing"),
        ({"time": [START * 1000]}, ("time", 0), "less_than_equal"),
        ({"time": [86_400]}, ("time", 0), "greater_than_equal"),
        ({"time": [START, START - 1]}, ("time", 1), "value_error"),
        ({"time": [START + 5 * 86_400]}, ("time", 0), "less_than_equal"),
        ({"heartrate": [120, 120.5]}, ("heartrate", 1), "int_parsing"),
        ({"heartrate": [401]}, ("heartrate", 0), "less_than_equal"),
        ({"power": [True]}, ("power", 0), "value_error"),
        ({"power": ["200"]}, ("power", 0), "value_error"),
        ({"power": [float("nan")]}, ("power", 0), "value_error"),
        ({"power": [1, float("nan"), 2]}, ("power", 1), "value_error"),
        ({"distance": [float("inf")]}, ("distance", 0), "less_than_equal"),
        ({"lat": [-90.1]}, ("lat", 0), "greater_than_equal"),
        ({"lng": [180.1]}, ("lng", 0), "less_than_equal"),
    ],
    ids=count(),
)
def test_a_stream_that_cannot_be_read_is_told_by_channel_and_index(body, loc, kind):
    assert faults_of(body) == [(loc, kind)]


def test_each_fault_is_told_up_to_a_hundred():
    assert len(faults_of({"power": [-1] * 150, "lat": [91] * 150})) == 100


def test_the_longest_stream_is_taken():
    assert read(power=[0] * POINTS_MAX).points == POINTS_MAX


def test_a_time_may_come_twice_but_never_goes_back():
    assert read(time=[START, START]).points == 2


@pytest.mark.parametrize(
    ("times", "rates", "lasted"),
    [
        ([0, 1, 2, 4], [120, 120, 121, 90], {120: 2, 121: 2}),
        ([0, 1, 2], [120, None, 120], {120: 1}),
        ([0, PAUSE_SECONDS, 2 * PAUSE_SECONDS + 1], [120, 130, 140], {120: 30}),
        ([0, 0], [120, 120], None),
        (None, [120, 120], None),
        ([0, 1], None, None),
    ],
    ids=["until the next", "unknown", "pause", "no time", "no times", "no rates"],
)
def test_a_heart_rate_lasts_until_the_next_point_but_not_over_a_pause(
    times, rates, lasted
):
    shifted = times and [START + each for each in times]

    assert read(time=shifted, heartrate=rates).heart_rate_seconds == lasted
