from __future__ import annotations

import pytest

from tests.factories.fit import make_fit
from tests.users.wearables.formats.reading import read
from users.wearables.formats.refusals import FileRefused


def test_an_activity_becomes_a_workout(tmp_path):
    found = read(tmp_path, make_fit())

    assert found.staged.provider == "garmin"
    assert (found.staged.rows_read, found.staged.rows_dropped) == (61, 0)
    assert found.of("workouts") == [
        {
            "time_start": "2026-02-28T16:30:00+00:00",
            "time_end": "2026-02-28T16:31:00+00:00",
            "timezone_offset": 3600,
            "sport": {"id": 1, "name": "Running", "slug": "running"},
            "average_hr": 129,
            "max_hr": 139,
            "distance": 180.0,
            "calories": 12,
            "moving_time": 54,
            "total_elevation_gain": 7,
        }
    ]
    (origin,) = {part.origin for part in found.parts if part.resource == "workouts"}
    assert origin.device is not None
    assert origin.device.manufacturer == "garmin"


def test_its_points_become_a_stream(tmp_path):
    found = read(tmp_path, make_fit(points=3))

    (stream,) = found.of("workout_stream")
    assert stream["time"] == [1772296200, 1772296201, 1772296202]
    assert stream["heartrate"] == [120, 121, 122]
    assert stream["cadence"] == [85, 85, 85]
    assert stream["altitude"] == [34.0, 34.0, 34.0]
    assert stream["velocity_smooth"] == [3.0, 3.0, 3.0]
    assert stream["distance"] == [0.0, 3.0, 6.0]
    assert stream["lat"] == pytest.approx([52.5, 52.5001, 52.5002])
    assert stream["lng"] == pytest.approx([13.4] * 3)
    assert "power" not in stream


def test_a_maker_who_is_no_source_leaves_it_to_the_sender(tmp_path):
    found = read(tmp_path, make_fit(points=1, manufacturer=23))

    assert found.staged.provider == "manual"


def test_a_sport_without_a_name_keeps_its_number(tmp_path):
    found = read(tmp_path, make_fit(points=1, sport=99))

    assert found.of("workouts")[0]["sport"]["id"] == 99


def flipped(content):
    return content[:40] + bytes([content[40] ^ 0xFF]) + content[41:]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (make_fit()[:-30], "file_damaged"),
        (flipped(make_fit()), "file_damaged"),
        (make_fit(file_type=6), "unsupported_file_type"),
        (b"\x0e\x20\x00\x00\x00\x00\x00\x00.FIT", "file_damaged"),
    ],
    ids=["cut", "flipped", "a course", "nothing"],
)
def test_what_is_no_whole_activity_is_refused(tmp_path, content, code):
    with pytest.raises(FileRefused) as refused:
        read(tmp_path, content)

    assert refused.value.code == code
