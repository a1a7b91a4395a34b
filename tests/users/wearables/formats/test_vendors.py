"""Exports of vendors in small, of nobody: what each becomes, and what is told of it."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import pytest

from tests.factories.health_exports import (
    GPX,
    LIBRE,
    make_clarity,
    make_fitbit,
    make_garmin,
    make_google_fit,
    make_gpx,
    make_health_connect,
    make_libreview,
    make_nightscout,
    make_oura,
    make_samsung,
    make_strava,
    make_tcx,
    make_whoop,
    make_withings,
    packed,
)
from tests.users.wearables.formats.reading import read
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.uploads.heads import Head


def test_libreview_reads_both_units_words_and_the_order_of_its_dates(tmp_path):
    found = read(tmp_path, make_libreview())

    assert found.staged.provider == "abbott_libreview"
    assert [
        (p.origin.source_type, e["timestamp"], round(e["value"], 3))
        for p in found.parts
        if p.resource == "glucose"
        for e in p.elements
    ] == [
        ("automatic", "2026-02-13T08:00:00", 4.996),
        ("manual_scan", "2026-02-13T08:20:00", 5.995),
    ]
    (insulin,) = found.of("insulin_injection")
    assert (insulin["value"], insulin["type"]) == (2.5, "rapid_acting")
    assert [each["value"] for each in found.of("carbohydrates")] == [30]
    notes = [each["value"] for each in found.of("note")]
    assert notes == ["lunch", "Glucose below the range of the sensor"]
    assert found.staged.drops == {"out_of_sensor_range": {"glucose lo": 1}}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["02-13-2026 01:00 PM"], "2026-02-13T13:00:00"),
        (["02-03-2026 01:00 PM"], "2026-02-03T13:00:00"),
        (["02/03/2026 13:00", "03/03/2026 13:00"], "2026-03-02T13:00:00"),
        (["02.03.2026 13:00", "02.04.2026 13:00"], "2026-02-03T13:00:00"),
    ],
    ids=["part above twelve", "clock of twelve hours", "days apart", "months apart"],
)
def test_the_order_of_dates_is_told_by_the_file(tmp_path, times, expected):
    rows = "".join(f"FreeStyle,x,{each},0,5.5,,,,\n" for each in times)

    found = read(tmp_path, (LIBRE.format(unit="mmol/L") + rows).encode("utf-16"))

    assert found.of("glucose")[0] == {"value": 5.5, "timestamp": expected}


def test_dates_that_can_be_either_are_refused_and_not_guessed(tmp_path):
    content = LIBRE.format(unit="mmol/L") + "FreeStyle,x,02-03-2026 13:00,0,5.5,,,,\n"

    with pytest.raises(FileRefused) as refused:
        read(tmp_path, content.encode())

    assert refused.value.code == "dates_ambiguous"


def test_clarity_reads_values_and_leaves_settings_out(tmp_path):
    found = read(tmp_path, make_clarity())

    assert found.staged.provider == "dexcom_v3"
    (glucose,) = found.of("glucose")
    assert glucose["timestamp"] == "2026-02-20T11:24:17"
    assert glucose["value"] == pytest.approx(103 / 18.0156)
    assert found.of("insulin_injection")[0]["value"] == 3.5
    assert found.staged.drops["calibration"] == {"firstname": 1, "alert": 1}
    assert found.staged.drops["out_of_sensor_range"] == {"glucose high": 1}


def test_whoop_joins_a_night_of_two_tables_in_its_own_zone(tmp_path):
    found = read(tmp_path, make_whoop())

    assert found.staged.provider == "whoop_v2"
    (sleep,) = found.of("sleep")
    assert sleep["bedtime_start"] == "2026-02-20T22:00:00-05:00"
    assert (sleep["total"], sleep["light"]) == (25_200, 12_000)
    assert (sleep["average_hrv"], sleep["recovery_readiness_score"]) == (48.0, 66)
    (workout,) = found.of("workouts")
    assert workout["hr_zones"] == [360, 720, 1080, 1440, 0]
    assert found.of("blood_oxygen") == [
        {"value": 96.5, "timestamp": "2026-02-21T06:00:00-05:00"}
    ]


def test_a_recording_of_strava_is_the_stream_of_its_workout(tmp_path):
    found = read(tmp_path, make_strava())

    assert found.staged.provider == "strava"
    (workout,) = found.of("workouts")
    assert workout["provider_id"] == "77"
    assert (workout["distance"], workout["moving_time"]) == (180.5, 54)
    assert workout["time_end"] == "2026-02-28T16:31:00+00:00"
    (stream,) = found.of("workout_stream")
    assert len(stream["time"]) == 60
    assert found.staged.drops["unknown_file"] == {"profile.jpg": 1}


def test_withings_reads_headers_of_its_language_and_names_of_sums(tmp_path):
    found = read(tmp_path, make_withings())

    assert found.staged.provider == "withings"
    scale = next(part.origin for part in found.parts if part.resource == "body_weight")
    assert scale.source_type == "scale"
    assert found.of("body_weight")[0] == {
        "value": 80.0,
        "timestamp": "2026-02-20T07:30:00",
    }
    assert found.of("body_fat")[0]["value"] == 20.0
    assert found.of("blood_pressure")[0]["diastolic"] == 80
    assert found.of("activity") == [
        {"calendar_date": "2026-02-20", "steps": 5563, "distance": 4841.5}
    ]
    tracked = [each for each in found.of("heartrate") if "+01:00" in each["timestamp"]]
    assert [(each["timestamp"], each["value"]) for each in tracked] == [
        ("2026-02-20T08:00:00+01:00", 64.0),
        ("2026-02-20T08:01:00+01:00", 66.0),
    ]
    assert found.staged.drops["unknown_kind"] == {"latitude": 1}


def test_of_one_measure_many_times_google_fit_gives_the_best(tmp_path):
    found = read(tmp_path, make_google_fit())

    assert found.staged.provider == "google_fit"
    assert found.of("steps") == [
        {
            "value": 9.0,
            "start": "2026-02-20T08:00:00+00:00",
            "end": "2026-02-20T08:01:00+00:00",
        }
    ]
    assert found.staged.drops == {
        "part_of_another": {"step_count.delta": 1},
        "unknown_kind": {"speed": 1},
    }


def test_fitbit_reads_lists_by_their_name_and_nights_with_stages(tmp_path):
    found = read(tmp_path, make_fitbit())

    assert found.staged.provider == "fitbit"
    (sleep,) = found.of("sleep")
    assert (sleep["external_id"], sleep["total"], sleep["deep"]) == ("5", 4800, 1800)
    (cycle,) = found.of("sleep_cycle")
    assert cycle["stage_type"] == [1, 4]
    assert cycle["stage_end_offset_second"] == [1800, 2400]
    assert found.of("heartrate") == [
        {"value": 61.0, "timestamp": "2026-02-20T08:00:05+00:00"}
    ]
    assert found.of("steps")[0]["start"] == "2026-02-20T08:00:00+00:00"
    (walk,) = found.of("workouts")
    assert (walk["time_start"], walk["time_end"], walk["distance"]) == (
        "2026-02-20T23:30:00+00:00",
        "2026-02-21T00:00:00+00:00",
        2500.0,
    )
    assert found.of("activity") == [
        {
            "calendar_date": "2026-02-20",
            "high": 30.0,
            "low": 200.0,
            "heart_rate": {"resting_bpm": 59},
        }
    ]
    (body,) = found.of("body")
    # 191.8 lb: kilograms would be a body mass index of 61.
    assert (round(body["weight"], 2), body["body_mass_index"], body["fat"]) == (
        87.0,
        27.77,
        26.3,
    )
    assert found.staged.drops == {
        "unknown_unit": {"altitude": 1},
        "unknown_kind": {"daily_resting_heart_rate": 1},
    }


def test_a_weight_of_fitbit_without_a_height_has_no_unit(tmp_path):
    weight = b'[{"logId":8,"weight":70,"bmi":22,"date":"02/20/26","time":"07:00:00"}]'

    found = read(tmp_path, weight, "weight-2026-02-01.json")

    assert found.of("body") == [
        {"calendar_date": "2026-02-20", "body_mass_index": 22.0}
    ]
    assert found.staged.drops == {"unknown_unit": {"weight": 1}}


def test_samsung_reads_utc_beside_its_offset_and_joins_stages(tmp_path):
    found = read(tmp_path, make_samsung())

    assert found.staged.provider == "samsung_health"
    assert found.of("heartrate") == [
        {
            "value": 82.0,
            "timezone_offset": -18_000,
            "timestamp": "2026-02-20T22:50:29.296+00:00",
        }
    ]
    (sleep,) = found.of("sleep")
    assert (sleep["light"], sleep["deep"]) == (3600, 3600)
    (cycle,) = found.of("sleep_cycle")
    assert cycle["stage_type"] == [2, 1]


def test_garmin_reads_what_states_its_unit_and_leaves_the_rest(tmp_path):
    found = read(tmp_path, make_garmin())

    swim, run = sorted(found.of("workouts"), key=lambda each: each["sport"]["slug"])
    assert "distance" not in swim
    assert (swim["time_start"], swim["time_end"]) == (
        "2026-02-20T08:12:47",
        "2026-02-20T08:47:53",
    )
    assert (run["distance"], run["provider_id"]) == (5000.0, "9")
    assert run["time_end"] == "2026-02-20T08:30:00+00:00"
    assert found.of("activity")[0]["heart_rate"] == {"resting_bpm": 51}


def test_an_element_of_oura_keeps_its_id_so_that_the_cloud_knows_it(tmp_path):
    found = read(tmp_path, make_oura())

    assert found.staged.provider == "oura"
    assert found.of("sleep")[0]["external_id"] == "n-1"
    (cycle,) = found.of("sleep_cycle")
    assert cycle["stage_type"] == [4, 2]
    assert found.staged.drops == {"unknown_kind": {"tag": 1}}


def test_nightscout_is_milligrams_and_never_without_a_zone(tmp_path):
    found = read(tmp_path, make_nightscout())

    (glucose,) = found.of("glucose")
    assert glucose["timestamp"] == "2026-02-20T08:00:00+00:00"
    assert glucose["value"] == pytest.approx(108 / 18.0156)
    assert [each["value"] for each in found.of("insulin_injection")] == [2.5]
    assert found.staged.drops == {
        "no_value": {"sensor error": 1},
        "datetime_parsing": {"note": 1},
    }


def test_two_doses_in_one_second_are_two_and_one_sent_twice_is_one(tmp_path):
    doses = [
        {"eventType": "Bolus", "created_at": "2026-02-20T09:00:00Z", "insulin": units}
        for units in (2.5, 1, 2.5)
    ]

    found = read(tmp_path, json.dumps(doses).encode())

    assert [(e["value"], e["start"]) for e in found.of("insulin_injection")] == [
        (2.5, "2026-02-20T09:00:00+00:00"),
        (1.0, "2026-02-20T09:00:00.001000+00:00"),
    ]
    assert found.staged.drops == {"same_moment": {"insulin_injection": 1}}


def test_health_connect_reads_its_tables_and_counts_the_others(tmp_path):
    found = read(tmp_path, make_health_connect())

    assert found.staged.provider == "health_connect"
    assert {part.origin.app_id for part in found.parts} == {"org.example.watch"}
    assert found.of("steps") == [
        {
            "value": 42.0,
            "timezone_offset": 3600,
            "start": "2026-02-20T08:00:00+00:00",
            "end": "2026-02-20T08:01:00+00:00",
        }
    ]
    assert [each["value"] for each in found.of("body_weight")] == [80.5]
    assert found.staged.drops == {
        "no_value": {"body_weight": 1},
        "unknown_kind": {"power_record_table": 1},
    }


def test_a_gpx_track_with_times_is_a_workout_with_a_stream(tmp_path):
    found = read(tmp_path, make_gpx())

    assert found.staged.provider == "strava"
    (workout,) = found.of("workouts")
    assert (workout["title"], workout["average_hr"]) == ("Lp", 121)
    (stream,) = found.of("workout_stream")
    assert stream["heartrate"] == [120, 121, 122]
    assert stream["lat"] == [52.5] * 3


def test_a_tcx_activity_is_a_workout_with_the_sums_of_its_laps(tmp_path):
    found = read(tmp_path, make_tcx())

    (workout,) = found.of("workouts")
    assert (workout["distance"], workout["calories"]) == (6.0, 11.0)
    assert workout["sport"]["slug"] == "running"
    assert found.of("workout_stream")[0]["heartrate"] == [120, 121, 122]


DEEP = b'{"sgv":1,"date":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("content", "code", "saw"),
    [
        (
            b'{"exportVersion": "1.6", "exercises": []}',
            "export_not_supported",
            "a Polar Flow export",
        ),
        (b"<html><body/></html>", "unsupported_file_type", "a web page"),
        (b"%PDF-1.7", "unsupported_file_type", "a PDF document"),
        (
            b'{\n "a": {\n  "b": 1}}',
            "unsupported_file_type",
            "a JSON file with the keys a, b",
        ),
        (
            b"Alpha,Beta\n1,2\n",
            "unsupported_file_type",
            "a table (CSV) with the columns alpha, beta",
        ),
        (b"4711,2026\n1,2\n", "unsupported_file_type", "a table (CSV)"),
        (
            packed({"xl/workbook.xml": "<x/>"}),
            "unsupported_file_type",
            "an Office document",
        ),
        (
            packed({"a/session.json": '{"exportVersion": "1", "deviceId": "x"}'}),
            "export_not_supported",
            "a Polar Flow export",
        ),
        (
            GPX.replace("?>", '?><!DOCTYPE g [<!ENTITY a "b">]>', 1)
            .format(points="")
            .encode(),
            "xml_not_allowed",
            "a GPX file",
        ),
        (
            b"SQLite format 3\0" + b"\0" * 4000,
            "file_damaged",
            "a Health Connect database",
        ),
        (
            gzip.compress(b'[{"sgv":1,"date":1}' + b" " * 20_000_000),
            "archive_too_large",
            "",
        ),
    ],
    ids=[
        "Polar",
        "HTML",
        "PDF",
        "JSON",
        "CSV",
        "values",
        "Office",
        "an archive of Polar",
        "entities",
        "SQLite",
        "a bomb",
    ],
)
def test_a_refusal_names_what_it_saw(tmp_path, content, code, saw):
    with pytest.raises(FileRefused) as refused:
        read(tmp_path, content)

    assert (refused.value.code, refused.value.saw) == (code, saw)
    assert saw in refused.value.message


@pytest.mark.parametrize(
    "content",
    [
        DEEP,
        b'[{"sgv":100,"date":1771574400000}' + b",{" * 50_000,
        (LIBRE.format(unit="mg/dL") + '"' + "x" * 3_000_000).encode(),
        (LIBRE.format(unit="mg/dL") + "a,b\0c,13-02-2026 08:00,0,90,,,,\n").encode(),
        b'[{"sgv":' + b"9" * 10_000 + b',"date":1}]',
        packed(
            {
                "activities.csv": "Activity ID,Activity Date,Activity Type,Elapsed Time"
                + '\n1,"Feb 30, 2026, 4:30:00 PM",Run,1e999\n'
            }
        ),
    ],
    ids=["deep", "cut", "a line without end", "NUL", "a long number", "no such day"],
)
def test_hostile_content_ends_within_bounds_and_crashes_nothing(tmp_path, content):
    try:
        found = read(tmp_path, content)
    except FileRefused as refused:
        assert refused.code  # noqa: PT017 - either end is one
    else:
        assert found.staged.rows_read < 10


def test_the_head_of_deep_json_takes_little_memory():
    # The parser gives each bracket the path to it: of all at once it would be 250 MB.
    head = Head(b"[" * 10_000)
    assert head.kind == "json"

    tracemalloc.start()
    try:
        keys = head.keys
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert keys == {}
    assert peak < 50_000_000
