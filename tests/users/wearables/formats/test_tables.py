from __future__ import annotations

import orjson
import pytest

from tests.users.wearables.formats.reading import read
from users.wearables.formats.refusals import FileRefused

TEN = "2026-02-28T10:00:00+01:00"


def ndjson(*rows):
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def csv(*lines, header="resource,timestamp,value,unit,type"):
    return "\r\n".join([header, *lines, ""]).encode()


@pytest.mark.parametrize(
    ("line", "slug", "element"),
    [
        (f"heartrate,{TEN},61,,", "heartrate", {"timestamp": TEN, "value": 61}),
        (f"weight,{TEN},154,lb,", "body_weight", {"value": 69.85322498}),
        (f"glucose,{TEN},99,mg/dL,", "glucose", {"value": 5.49523746087}),
        (f"cholesterol,{TEN},100,mg/dL,hdl", "cholesterol", {"value": 2.58631837579}),
    ],
    ids=["ours", "by its name in events", "by mass", "by its kind"],
)
def test_a_row_is_a_sample_in_our_unit(tmp_path, line, slug, element):
    found = read(tmp_path, csv(line))

    (given,) = found.of(slug)
    assert given.items() >= element.items()
    assert "unit" not in given
    assert found.staged.provider == "manual"


@pytest.mark.parametrize("delimiter", [";", "\t"], ids=["semicolons", "tabs"])
def test_spreadsheets_write_other_delimiters_and_a_mark(tmp_path, delimiter):
    content = csv(f"heartrate,{TEN},61,,").replace(b",", delimiter.encode())

    found = read(tmp_path, b"\xef\xbb\xbf" + content)

    assert found.of("heartrate") == [{"timestamp": TEN, "value": 61}]


def test_a_row_says_where_it_comes_from(tmp_path):
    device = "0b8ed3d5-7a0c-4f5e-8a52-6f3ff3c0a111"
    row = {
        "resource": "heartrate",
        "timestamp": TEN,
        "value": 61,
        "source_type": "Ring",
        "app_id": "com.example.ring",
        "device_id": device,
    }

    (part,) = read(tmp_path, ndjson(row)).parts

    assert part.origin.source_type == "ring"
    assert part.origin.app_id == "com.example.ring"
    assert str(part.origin.device_id) == device
    assert part.elements == [{"timestamp": TEN, "value": 61}]


def test_blood_pressure_may_be_named_by_its_value(tmp_path):
    row = {"resource": "blood_pressure", "timestamp": TEN, "value": 15.8}

    found = read(tmp_path, ndjson({**row, "diastolic": 10.2, "unit": "kPa"}))

    (given,) = found.of("blood_pressure")
    assert (round(given["systolic"]), round(given["diastolic"])) == (119, 77)


def test_a_note_of_digits_is_a_text(tmp_path):
    header = "resource,start,end,value,tags"

    found = read(
        tmp_path, csv(f"note,{TEN},2026-02-28T10:01:00+01:00,5,food", header=header)
    )

    (note,) = found.of("note")
    assert (note["value"], note["tags"]) == ("5", ["food"])


def test_rows_that_cannot_be_kept_are_counted_by_reason(tmp_path):
    found = read(
        tmp_path,
        csv(
            f"heartrate,{TEN},61,,",
            f"heartrate,{TEN},62,,",
            f"moods,{TEN},1,,",
            f"heartrate,{TEN}",
            f"heartrate,{TEN},61,furlong,",
            "heartrate,2026-02-30T10:00:00Z,61,,",
            "heartrate,2026-02-28T10:01:00Z,fast,,",
            "heartrate,2026-02-28T10:02:00Z,,,",
        ),
    )

    assert found.of("heartrate") == [{"timestamp": TEN, "value": 61}]
    assert found.staged.drops == {
        "same_moment": {"heartrate": 1},
        "unknown_kind": {"moods": 1},
        "bad_row": {"": 1},
        "unknown_unit": {"heartrate furlong": 1},
        "datetime_parsing": {"heartrate": 1},
        "value_error": {"heartrate": 1},
        "missing": {"heartrate": 1},
    }


def test_a_formula_is_a_text_like_any_other(tmp_path):
    found = read(
        tmp_path, csv(f"=cmd|' /C calc'!A0,{TEN},1,,", f"heartrate,{TEN},61,,")
    )

    assert found.staged.drops == {"unknown_kind": {"=cmd|' /C calc'!A0": 1}}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (csv(header="resource,value"), "unsupported_file_type"),
        (csv(header="resource,value,value,timestamp"), "unsupported_file_type"),
        (csv('heartrate,"2026'), "file_damaged"),
        (csv("heartrate,\xff").decode().encode("latin-1"), "file_damaged"),
        (ndjson({"resource": "heartrate"})[:-5], "file_damaged"),
        (b'{"resource": "' + b"a" * 70_000, "file_damaged"),
        (csv("heartrate,\0,"), "unsupported_file_type"),
        (b"a,b,c\n1,2,3\n", "unsupported_file_type"),
    ],
    ids=[
        *("no time", "a name twice", "an open quote", "another encoding"),
        *("cut short", "an endless line", "not a text", "other columns"),
    ],
)
def test_what_is_no_whole_table_is_refused(tmp_path, content, code):
    with pytest.raises(FileRefused) as refused:
        read(tmp_path, content)

    assert refused.value.code == code


def test_a_line_that_is_no_json_is_one_row_less(tmp_path):
    content = b"{nonsense\n" + ndjson(
        {"resource": "heartrate", "timestamp": TEN, "value": 61}
    )

    found = read(tmp_path, content)

    assert found.staged.drops == {"bad_row": {"": 1}}
    assert len(found.of("heartrate")) == 1


def test_what_the_explorer_wrote_is_taken_back(tmp_path):
    header = "series,timestamp,end,timezone_offset,type,value,unit,provider,extra,id"
    extra = '"{""sensor_location"":""wrist""}"'
    end = "2026-02-28T09:01:00Z"

    found = read(
        tmp_path,
        csv(
            f"body_temperature,2026-02-28T09:00:00Z,{end},3600,,36.5,°C,oura,{extra},",
            header=header,
        ),
    )

    assert found.of("body_temperature") == [
        {
            "timestamp": "2026-02-28T09:00:00Z",
            "end": end,
            "timezone_offset": 3600,
            "value": 36.5,
            "unit": "°C",
            "sensor_location": "wrist",
        }
    ]
    assert found.staged.rows_dropped == 0


def test_signs_that_the_database_cannot_keep_do_no_harm(tmp_path):
    beat = {"resource": "heartrate", "timestamp": TEN, "value": 61}

    found = read(
        tmp_path,
        ndjson({**beat, "app_id": "a\0"}, {"resource": "a\0b"}, beat),
    )

    assert found.staged.drops == {
        "bad_row": {"heartrate": 1},
        "unknown_kind": {"ab": 1},
    }
