from __future__ import annotations

import gzip
import struct
import zipfile
from io import BytesIO

import pytest

from tests.factories.fit import START, fit_file, fit_time, make_fit, pack_12_bits
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


def test_heart_rates_that_a_strap_kept_are_points_of_the_swim(tmp_path):
    began = fit_time(START)
    content = fit_file(
        (0, [(0, "e", 4), (1, "H", 1)]),
        # Its clock is at 10.5 s when the swim is 1.5 s old.
        (132, [(253, "I", began + 1), (0, "H", 16384), (9, "I", 10 * 1024 + 512)]),
        # 11.5, past its 12 bits 12.25, and 13.5 s of it.
        (
            132,
            [
                (6, "BBBB", (90, 91, 92, 0)),
                (10, "B" * 6, pack_12_bits(3584, 256, 1536, 0)),
            ],
        ),
        (101, [(253, "I", began), (2, "I", began + 2), (3, "I", 20_000)]),
        (
            18,
            [
                (253, "I", began + 30),
                (2, "I", began),
                (5, "e", 5),
                (6, "e", 17),
                (7, "I", 30_000),
            ],
        ),
    )

    found = read(tmp_path, content)

    (workout,) = found.of("workouts")
    assert workout["sport"]["slug"] == "lap_swimming"
    (stream,) = found.of("workout_stream")
    at = int(START.timestamp())
    assert stream["time"] == [at + 2, at + 3, at + 4, at + 22]
    assert stream["heartrate"] == [90, 91, 92, None]


def test_a_scale_is_weight_and_fat_by_its_makers_name(tmp_path):
    began = fit_time(START)
    content = fit_file(
        (0, [(0, "e", 9), (1, "H", 65535 - 1), (2, "H", 7), (3, "z", 11)]),
        (30, [(253, "I", began), (0, "H", 8045), (1, "H", 2150)]),
    )

    found = read(tmp_path, content)

    (part,) = [each for each in found.parts if each.resource == "body_weight"]
    assert part.origin.source_type == "scale"
    assert found.of("body_weight") == [
        {"value": 80.45, "timestamp": "2026-02-28T16:30:00+00:00"}
    ]
    assert found.of("body_fat")[0]["value"] == 21.5


def test_monitoring_gives_heart_rates_on_a_clock_of_16_bits_and_no_steps(tmp_path):
    began = fit_time(START)
    content = fit_file(
        (0, [(0, "e", 32), (1, "H", 1)]),
        (55, [(253, "I", began), (3, "I", 400)]),
        (55, [(26, "H", (began + 60) % 65536), (27, "B", 61)]),
    )

    found = read(tmp_path, content)

    assert found.of("heartrate") == [
        {"value": 61.0, "timestamp": "2026-02-28T16:31:00+00:00"}
    ]
    assert found.of("steps") == []
    assert found.staged.drops == {"unknown_kind": {"monitoring": 1}}


def test_points_after_the_stated_end_stay_in_the_stream(tmp_path):
    content = make_fit(points=60).replace(
        struct.pack("<I", 60_000), struct.pack("<I", 50_000)
    )

    found = read(tmp_path, content)

    (stream,) = found.of("workout_stream")
    assert len(stream["time"]) == 60
