from __future__ import annotations

import gzip
import struct
import zipfile
from io import BytesIO

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
    "content",
    [make_fit()[:-30], flipped(make_fit()), make_fit()[:-2]],
    ids=["cut in its last message", "flipped", "without its checksum"],
)
def test_what_is_whole_of_a_damaged_activity_is_kept_with_a_note(tmp_path, content):
    found = read(tmp_path, content)

    assert found.staged.drops["salvaged"] == {"FIT file": 1}
    (workout,) = found.of("workouts")
    assert workout["time_start"] == "2026-02-28T16:30:00+00:00"
    (stream,) = found.of("workout_stream")
    assert len(stream["time"]) == 60


def test_an_activity_without_a_session_is_a_workout_of_its_points(tmp_path):
    whole = make_fit(points=60)

    found = read(tmp_path, whole[:-120])

    (workout,) = found.of("workouts")
    assert workout["time_start"] == "2026-02-28T16:30:00+00:00"
    assert workout["time_end"] == "2026-02-28T16:30:57+00:00"
    assert workout["max_hr"] == 139
    assert workout["sport"]["slug"] == "other"


def test_an_impossible_value_costs_itself_and_not_the_stream(tmp_path):
    content = make_fit(points=3).replace(
        struct.pack("<H", (34 + 500) * 5), b"\xfe\xff", 1
    )

    found = read(tmp_path, content)

    (stream,) = found.of("workout_stream")
    assert stream["altitude"] == [None, 34.0, 34.0]
    assert stream["heartrate"] == [120, 121, 122]
    assert found.staged.drops["bad_point"] == {"track point": 1}


def test_a_packed_activity_and_an_archive_of_activities_are_read(tmp_path):
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("a/1.fit", make_fit(points=5))
        written.writestr("a/2.fit.gz", gzip.compress(make_fit(points=7)))
        written.writestr("a/photo.jpg", b"\xff\xd8\xff\xe0")

    packed = read(tmp_path, gzip.compress(make_fit()))
    several = read(tmp_path, archive.getvalue())

    assert [len(each["time"]) for each in packed.of("workout_stream")] == [60]
    assert packed.staged.provider == several.staged.provider == "garmin"
    # Of one start are both: the second is the same workout.
    assert [len(each["time"]) for each in several.of("workout_stream")] == [5, 7]
    assert several.staged.drops["unknown_file"] == {"photo.jpg": 1}


@pytest.mark.parametrize(
    ("content", "code", "saw"),
    [
        (
            make_fit(file_type=5, points=0)[:60],
            "nothing_to_import",
            "a FIT planned workout",
        ),
        (b"\x0e\x20\x00\x00\x00\x00\x00\x00.FIT", "file_damaged", "a FIT file"),
    ],
    ids=["a cut plan", "nothing"],
)
def test_what_is_no_activity_is_refused_by_name(tmp_path, content, code, saw):
    with pytest.raises(FileRefused) as refused:
        read(tmp_path, content)

    assert (refused.value.code, refused.value.saw) == (code, saw)
