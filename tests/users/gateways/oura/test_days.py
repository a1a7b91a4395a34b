from __future__ import annotations

import pytest

from tests.factories.oura import (
    PERSONAL_INFO,
    daily_activity_document,
    heart_rate_row,
    session_document,
    tag_document,
    vo2_max_document,
    workout_document,
)
from users.gateways.oura.days import (
    convert_oura_activity,
    convert_oura_heart_rates,
    convert_oura_mindfulness_minutes,
    convert_oura_profile,
    convert_oura_session_hrv,
    convert_oura_tags_to_notes,
    convert_oura_vo2_max,
    convert_oura_workouts,
)


def test_a_profile_is_in_centimeters():
    assert convert_oura_profile(PERSONAL_INFO) == [{"height": 168, "sex": "female"}]


def test_a_profile_that_says_nothing_is_none():
    nothing = {"id": "1", "height": None, "biological_sex": "other words"}

    assert convert_oura_profile(nothing) == []


def test_activity_is_in_minutes_and_walking_is_no_distance():
    assert convert_oura_activity([daily_activity_document(), {"id": "no day"}]) == [
        {
            "external_id": "activity-2026-03-10",
            "calendar_date": "2026-03-10",
            "timezone_offset": 3600,
            "calories_total": 2410,
            "calories_active": 512,
            "steps": 8123,
            "daily_movement": 7300,
            "low": 180,
            "medium": 30,
            "high": 10,
        }
    ]


def test_workouts_are_parted_by_who_noticed_them():
    typed = workout_document(id="typed", source="manual", label="Evening tour")
    noticed = workout_document()

    (worn,) = convert_oura_workouts([typed, noticed], by_hand=False)
    (by_hand,) = convert_oura_workouts([typed, noticed], by_hand=True)

    assert by_hand["external_id"] == "typed"
    assert by_hand["title"] == "Evening tour"
    assert worn == {
        "external_id": "workout-2026-03-10",
        "provider_id": "workout-2026-03-10",
        "calendar_date": "2026-03-10",
        "time_start": "2026-03-10T17:00:00+01:00",
        "time_end": "2026-03-10T17:45:00+01:00",
        "timezone_offset": 3600,
        "title": None,
        "calories": 301.5,
        "distance": 5200.0,
        "sport": {
            "id": 0,
            "name": "Cross country skiing",
            "slug": "cross_country_skiing",
        },
    }


def test_a_workout_that_does_not_last_is_left_out():
    still = workout_document(end_datetime="2026-03-10T17:00:00+01:00")

    assert convert_oura_workouts([still], by_hand=False) == []


def test_heart_rates_tell_no_offset():
    rows = [
        heart_rate_row("2026-03-10T06:04:46+00:00", 64),
        heart_rate_row("2026-03-10T08:04:46+02:00", 65),
        {"timestamp": "2026-03-10T06:04:46+00:00", "bpm": None},
        {"timestamp": None, "bpm": 60},
    ]

    assert convert_oura_heart_rates(rows) == [
        {"timestamp": "2026-03-10T06:04:46Z", "value": 64},
        {"timestamp": "2026-03-10T06:04:46Z", "value": 65},
    ]


def test_sessions_of_the_mind_are_minutes():
    nap = session_document(type="nap")

    assert convert_oura_mindfulness_minutes([session_document(), nap]) == [
        {
            "start": "2026-03-10T12:00:00+01:00",
            "end": "2026-03-10T12:10:00+01:00",
            "timezone_offset": 3600,
            "value": 10,
        }
    ]
    assert [
        each["value"] for each in convert_oura_session_hrv([session_document()])
    ] == [50]


def test_an_estimate_lasts_its_second():
    assert convert_oura_vo2_max(
        [vo2_max_document(), vo2_max_document(vo2_max=None)]
    ) == [
        {
            "start": "2026-03-10T09:00:00+01:00",
            "end": "2026-03-10T09:00:01+01:00",
            "timezone_offset": 3600,
            "value": 44,
        }
    ]


@pytest.mark.parametrize(
    ("wanted", "text", "tag"),
    [
        ({}, "Alcohol: two glasses", "food"),
        (
            {"tag_type_code": "tag_sports_hiking"},
            "Sports hiking: two glasses",
            "exercise",
        ),
        (
            {"tag_type_code": "custom", "custom_name": "New pillow", "comment": ""},
            "New pillow",
            "unspecified",
        ),
        ({"tag_type_code": None}, "two glasses", "unspecified"),
    ],
)
def test_a_tag_is_a_note_in_words(wanted, text, tag):
    (note,) = convert_oura_tags_to_notes([tag_document(**wanted)])

    assert note == {
        "start": "2026-03-10T20:00:00+01:00",
        "end": "2026-03-10T20:00:01+01:00",
        "timezone_offset": 3600,
        "value": text,
        "tags": [tag],
    }


def test_a_tag_without_words_or_time_is_no_note():
    wordless = tag_document(tag_type_code=None, comment=None)

    assert convert_oura_tags_to_notes([wordless, tag_document(start_time=None)]) == []


def test_a_tag_that_lasts_keeps_its_end():
    (note,) = convert_oura_tags_to_notes(
        [tag_document(end_time="2026-03-10T22:00:00+01:00")]
    )

    assert note["end"] == "2026-03-10T22:00:00+01:00"
