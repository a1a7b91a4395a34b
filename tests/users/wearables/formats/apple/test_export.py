from __future__ import annotations

import struct
import zipfile
from io import BytesIO

import pytest

from tests.factories.apple_health import (
    PROLOG,
    beats,
    by_app,
    category,
    entry,
    make_archive,
    make_export,
    phone_quantity,
    quantity,
    record,
    wrap,
)
from tests.users.wearables.formats.reading import read
from users.states.imports import ImportFormat
from users.wearables.formats.apple import source
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.sniffing import detect_file_format
from users.wearables.formats.uploads import archives
from users.wearables.formats.uploads.archives import find_export_in_archive

TEN = "2026-02-28T10:00:00+01:00"


def test_an_archive_and_its_document_give_the_same(tmp_path):
    packed = read(tmp_path, make_archive())

    plain = read(tmp_path, make_export())

    assert packed == plain
    assert packed.staged.provider == "apple_health_kit"
    assert packed.staged.bytes_total == len(make_export())
    assert packed.staged.rows_read == 1162
    assert packed.staged.drops == {
        "unknown_kind": {"EnvironmentalAudioExposure": 2},
        "part_of_another": {"BloodPressureSystolic": 2, "BloodPressureDiastolic": 2},
    }


@pytest.mark.parametrize("name", ["Export.xml", "导出.xml", "exportación.xml"])
def test_the_phones_language_names_the_export(tmp_path, name):
    path = tmp_path / "upload"
    path.write_bytes(make_archive(b"<HealthData/>", name=name))

    assert find_export_in_archive(path).filename == f"apple_health_export/{name}"


def make_members(number, *, name="workout-routes/{}.gpx"):
    """An archive of so many empty members; 10 000 are a directory of 1.1 MB."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for each in range(number):
            archive.writestr("apple_health_export/" + name.format(each), b"")
    return written.getvalue()


def test_a_long_directory_is_read_when_the_file_is_and_not_when_it_is_sent(tmp_path):
    long, short = tmp_path / "long", tmp_path / "short"
    long.write_bytes(make_members(15_000))
    short.write_bytes(make_members(100))

    with pytest.raises(FileRefused) as at_once:
        detect_file_format(short)
    taken = detect_file_format(long)
    with pytest.raises(FileRefused) as later:
        find_export_in_archive(long)

    assert taken == ImportFormat.APPLE_HEALTH
    assert [at_once.value.reason, later.value.reason] == ["no_export_inside"] * 2


def test_a_directory_without_an_end_is_not_taken_into_memory(tmp_path):
    path = tmp_path / "fat"
    head = struct.pack(
        "<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, *[0] * 8, 1, 65_000, 0, 0, 0, 0, 0
    )
    directory = (head + b"a" + b"\0" * 65_000) * 1_100
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1_100, 1_100, len(directory), 30, 0)
    path.write_bytes(b"PK\3\4" + b"\0" * 26 + directory + end)

    taken = detect_file_format(path)
    with pytest.raises(FileRefused) as refusal:
        find_export_in_archive(path)

    assert taken == ImportFormat.APPLE_HEALTH
    assert refusal.value.reason == "archive_too_large"


@pytest.mark.parametrize(
    ("line", "slug", "element"),
    [
        (
            quantity("HeartRate", 61, "count/min"),
            "heartrate",
            {"timestamp": TEN, "value": 61.0},
        ),
        (
            quantity("OxygenSaturation", 0.975, "%"),
            "blood_oxygen",
            {"timestamp": TEN, "value": 97.5},
        ),
        (
            by_app("BodyMass", 150, "lb"),
            "body_weight",
            {"timestamp": TEN, "value": 68.0388555},
        ),
        (
            by_app("BloodGlucose", 99, "mg/dL"),
            "glucose",
            {"timestamp": TEN, "value": 5.49523746087},
        ),
        (
            by_app("BloodGlucose", 5.5, "mmol&lt;180.1558800000541&gt;/L"),
            "glucose",
            {"timestamp": TEN, "value": 5.5},
        ),
        (
            by_app("BodyTemperature", 98.6, "degF"),
            "body_temperature",
            {"start": TEN, "end": "2026-02-28T10:00:01+01:00", "value": 37.0},
        ),
        (
            quantity(
                "DistanceWalkingRunning",
                0.25,
                "mi",
                end="2026-02-28 10:05:00 +0100",
            ),
            "distance",
            {"start": TEN, "end": "2026-02-28T10:05:00+01:00", "value": 402.336},
        ),
        (
            by_app("DietaryWater", 8, "fl_oz_us"),
            "water",
            {"timestamp": TEN, "value": 236.5882365},
        ),
        (
            by_app("DietaryCaffeine", 95, "mg"),
            "caffeine",
            {"start": TEN, "end": "2026-02-28T10:00:01+01:00", "value": 0.095},
        ),
        (
            category("HighHeartRateEvent", 0, end="2026-02-28 10:10:00 +0100"),
            "heart_rate_alert",
            {
                "start": TEN,
                "end": "2026-02-28T10:10:00+01:00",
                "value": 1,
                "type": "high_heart_rate",
            },
        ),
        (
            category("MindfulSession", None, end="2026-02-28 10:07:30 +0100"),
            "mindfulness_minutes",
            {"start": TEN, "end": "2026-02-28T10:07:30+01:00", "value": 7.5},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "<" not in value else "",
)
def test_a_record_becomes_a_sample_in_our_unit(tmp_path, line, slug, element):
    found = read(tmp_path, wrap(line))

    assert found.of(slug) == [element]
    assert found.staged.rows_dropped == 0


def test_insulin_is_told_apart_by_its_reason(tmp_path):
    reason = entry("HKInsulinDeliveryReason", "2")

    found = read(tmp_path, wrap(quantity("InsulinDelivery", 4, "IU", inside=reason)))

    (given,) = found.of("insulin_injection")
    assert (given["type"], given["delivery_mode"]) == ("rapid_acting", "bolus")


def test_variability_is_reckoned_from_the_beats(tmp_path):
    inside = beats(*[0.8, 0.82, 0.8, 0.84] * 4)

    found = read(
        tmp_path,
        wrap(quantity("HeartRateVariabilitySDNN", 55, "ms", inside=inside)),
    )

    # Differences of 20, -20, 40 and -40 ms take turns.
    assert found.of("hrv") == [{"timestamp": TEN, "value": 31.6}]


def test_variability_without_beats_is_another_measure(tmp_path):
    found = read(
        tmp_path,
        wrap(
            quantity("HeartRateVariabilitySDNN", 55, "ms"),
            quantity("HeartRate", 61, "count/min"),
        ),
    )

    assert found.of("hrv") == []
    assert found.staged.drops == {"no_beats": {"HeartRateVariabilitySDNN": 1}}


def test_who_measured_is_kept_without_the_owners_name(tmp_path):
    by_hand = entry("HKWasUserEntered", "1")

    found = read(
        tmp_path,
        wrap(
            quantity("StepCount", 1, "count"),
            phone_quantity("StepCount", 2, "count"),
            by_app("StepCount", 3, "count"),
            by_app("StepCount", 4, "count", inside=by_hand),
        ),
    )

    by_value = {
        part.elements[0]["value"]: (
            part.origin.source_type,
            part.origin.app_id,
            part.origin.device and part.origin.device.id,
        )
        for part in found.parts
        if part.resource == "steps"
    }
    assert by_value == {
        1: ("watch", "com.apple.health", "Apple Inc./Watch7,5"),
        2: ("phone", "com.apple.health", "Apple Inc./iPhone15,4"),
        3: ("unknown", "Weighty", None),
        4: ("app", "Weighty", None),
    }


def test_blood_pressure_is_one_sample_of_both(tmp_path):
    found = read(tmp_path, make_export(days=1))

    assert found.of("blood_pressure") == [
        {"timestamp": "2026-02-28T07:05:00+01:00", "systolic": 118.0, "diastolic": 76.0}
    ]


def test_a_night_becomes_a_sleep_and_its_stages(tmp_path):
    found = read(tmp_path, make_export(days=1))

    (sleep,) = found.of("sleep")
    assert sleep == {
        "bedtime_start": "2026-02-28T00:00:00+01:00",
        "bedtime_stop": "2026-02-28T06:00:00+01:00",
        "timezone_offset": 3600,
        "type": "long_sleep",
        "duration": 21600,
        "total": 21000,
        "awake": 600,
        "light": 13200,
        "rem": 3000,
        "deep": 4800,
        "latency": 0,
        "efficiency": 97.2,
    }
    (cycle,) = found.of("sleep_cycle")
    assert cycle["session_start"] == "2026-02-27T23:00:00"
    assert cycle["time_zone"] == "Europe/Berlin"
    assert cycle["stage_type"] == [2, 1, 2, 3, 4, 2, 1, 2, 3, 4]
    assert cycle["stage_end_offset_second"][-1] == 21600


def asleep(value, start, end):
    return category(
        "SleepAnalysis",
        f"HKCategoryValueSleepAnalysis{value}",
        start=f"2026-02-28 {start}:00 +0100",
        end=f"2026-02-28 {end}:00 +0100",
    )


def test_stretches_apart_are_nights_of_their_own(tmp_path):
    found = read(
        tmp_path,
        wrap(
            asleep("AsleepCore", "13:00", "13:40"),
            asleep("AsleepCore", "01:00", "05:00"),
            asleep("AsleepCore", "06:20", "07:00"),
        ),
    )

    assert [(each["type"], each["total"]) for each in found.of("sleep")] == [
        ("long_sleep", 16800),
        ("short_sleep", 2400),
    ]


def test_stages_that_overlap_are_cut(tmp_path):
    found = read(
        tmp_path,
        wrap(
            asleep("InBed", "00:30", "07:30"),
            asleep("AsleepCore", "01:00", "03:00"),
            asleep("AsleepDeep", "02:30", "04:00"),
        ),
    )

    (sleep,) = found.of("sleep")
    assert (sleep["light"], sleep["deep"], sleep["latency"]) == (7200, 3600, 1800)
    assert sleep["duration"] == 7 * 3600


def test_time_in_bed_alone_is_no_sleep(tmp_path):
    found = read(
        tmp_path,
        wrap(asleep("InBed", "00:30", "07:30"), quantity("HeartRate", 61, "count/min")),
    )

    assert found.of("sleep") == []
    assert found.staged.drops == {"in_bed_only": {"SleepAnalysis": 1}}


def test_a_workout_has_its_statistics_and_its_heart_rate(tmp_path):
    found = read(tmp_path, make_export(days=1))

    (workout,) = found.of("workouts")
    assert workout == {
        "time_start": "2026-02-28T17:30:00+01:00",
        "time_end": "2026-02-28T18:00:00+01:00",
        "timezone_offset": 3600,
        "sport": {"id": 37, "name": "Running", "slug": "running"},
        "average_hr": 141,
        "max_hr": 156,
        "distance": 5210.0,
        "calories": 342.4,
        "moving_time": 1800,
        "total_elevation_gain": 31.5,
    }
    (stream,) = found.of("workout_stream")
    assert stream["time"][0] == 1772296200
    assert stream["heartrate"] == [140, 144, 142, 140, 145, 142, 70]


def test_days_and_the_person_are_summed_up(tmp_path):
    found = read(
        tmp_path,
        wrap(
            by_app("Height", 1.71, "m"),
            by_app("BodyMass", 70, "kg"),
            by_app("BodyMass", 69, "kg", start="2026-02-28 18:00:00 +0100"),
            quantity("RestingHeartRate", 54, "count/min"),
            '<ActivitySummary dateComponents="2026-02-28" activeEnergyBurned="2000"'
            ' activeEnergyBurnedUnit="kJ"/>',
        ),
    )

    assert found.of("profile") == [
        {"birth_date": "1985-04-12", "sex": "female", "height": 171}
    ]
    assert found.of("body") == [{"calendar_date": "2026-02-28", "weight": 69.0}]
    assert found.of("activity") == [
        {
            "calendar_date": "2026-02-28",
            "heart_rate": {"resting_bpm": 54.0},
            "calories_active": 478.011472275,
        }
    ]
    assert found.staged.rows_dropped == 0


def flow(day, word="Medium", *, starts=False):
    inside = entry("HKMenstrualCycleStart", "1") if starts else ""
    return category(
        "MenstrualFlow",
        f"HKCategoryValueVaginalBleeding{word}",
        start=f"2026-{day} 12:00:00 +0100",
        inside=inside,
    )


def logged(name, value, day, inside=""):
    at = f"2026-{day} 12:00:00 +0100"
    return category(name, value, start=at, inside=inside)


def test_what_was_logged_by_day_becomes_cycles(tmp_path):
    found = read(
        tmp_path,
        wrap(
            flow("01-03", "Heavy", starts=True),
            flow("01-05", "Light"),
            flow("01-12", "None"),
            flow("01-31", starts=True),
            flow("02-01"),
            flow("02-26"),
            logged(
                "OvulationTestResult",
                "HKCategoryValueOvulationTestResultLuteinizingHormoneSurge",
                "01-16",
            ),
            logged(
                "SexualActivity",
                "HKCategoryValueNotApplicable",
                "01-15",
                entry("HKSexualActivityProtectionUsed", "1"),
            ),
            logged("IrregularMenstrualCycles", "HKCategoryValueNotApplicable", "02-10"),
            logged(
                "CervicalMucusQuality",
                "HKCategoryValueCervicalMucusQualityEggWhite",
                "01-02",
            ),
            quantity(
                "BasalBodyTemperature", 36.5, "degC", start="2026-02-14 06:30:00 +0100"
            ),
        ),
    )

    first, second, third = found.of("menstrual_cycle")
    assert first == {
        "period_start": "2026-01-03",
        "period_end": "2026-01-05",
        "cycle_end": "2026-01-30",
        "is_predicted": False,
        "menstrual_flow": [
            {"date": "2026-01-03", "flow": "heavy"},
            {"date": "2026-01-05", "flow": "light"},
            {"date": "2026-01-12", "flow": "none"},
        ],
        "ovulation_test": [
            {"date": "2026-01-16", "test_result": "luteinizing_hormone_surge"}
        ],
        "sexual_activity": [{"date": "2026-01-15", "protection_used": True}],
    }
    assert second["cycle_end"] == "2026-02-25"
    assert second["detected_deviations"] == [
        {"date": "2026-02-10", "deviation": "irregular_menstrual_cycles"}
    ]
    assert second["basal_body_temperature"] == [{"date": "2026-02-14", "value": 36.5}]
    # Nothing tells that it starts, but that bleeding had stopped for weeks.
    assert (third["period_start"], third["cycle_end"]) == ("2026-02-26", "2026-02-26")
    assert found.staged.drops == {"outside_cycles": {"Cycle tracking": 1}}
    assert found.staged.rows_read == 11


# As iOS 16 writes them: a declaration without an end, what XML forbids as it is and as
# a reference, and one attribute twice.
UNFINISHED = PROLOG.replace("]>", "<!ATTLIST HeartRateVariabilityMetadataList\n]>")
FORBIDDEN = "a\x0bb\x1f&#11;&#x0B;&#xFFFF;\ufffec&amp;d"


@pytest.mark.parametrize("chunk", [97, 4096], ids="chunk of {}".format)
def test_what_ios_16_writes_against_xml_costs_nothing(tmp_path, monkeypatch, chunk):
    content = wrap(
        quantity("HeartRate", 60, "count/min"),
        by_app("BodyMass", 80, "kg").replace(
            'sourceName="', f'sourceName="{FORBIDDEN}'
        ),
        quantity("StepCount", 7, "count").replace(" value=", ' value="7" value='),
        prolog=UNFINISHED,
    )
    read_checked = source.WatchedSource._read_checked
    monkeypatch.setattr(
        source.WatchedSource,
        "_read_checked",
        lambda self, _size: read_checked(self, chunk),
    )

    found = read(tmp_path, content)

    assert {
        slug: [each["value"] for each in found.of(slug)]
        for slug in ("heartrate", "body_weight", "steps")
    } == {"heartrate": [60], "body_weight": [80], "steps": [7]}
    assert found.staged.drops == {}
    (app,) = {p.origin.app_id for p in found.parts if p.resource == "body_weight"}
    assert app.startswith("abc&d")


def test_what_cannot_be_kept_is_counted_by_its_reason(tmp_path):
    found = read(
        tmp_path,
        wrap(
            quantity("HeartRate", 61, "count/min"),
            quantity("HeartRate", 62, "count/min"),
            quantity("HeartRate", "", "count/min"),
            quantity("HeartRate", "inf", "count/min"),
            quantity("HeartRate", 5000, "count/min", start="2026-02-28 11:00:00 +0100"),
            quantity("HeartRate", 61, "count/min", start="2027-02-28 11:00:00 +0100"),
            quantity("HeartRate", 61, "count/min", start="yesterday"),
            quantity("HeartRate", 61, "furlong"),
            record("HKDataTypeSleepDurationGoal", value=8, unit="hr"),
        ),
    )

    assert found.of("heartrate") == [{"timestamp": TEN, "value": 61.0}]
    assert found.staged.rows_read == 9
    assert found.staged.drops == {
        "same_moment": {"heartrate": 1},
        "no_value": {"HeartRate": 2},
        "less_than_equal": {"heartrate": 2},
        "datetime_parsing": {"HeartRate": 1},
        "unknown_unit": {"HeartRate furlong": 1},
        "unknown_kind": {"HKDataTypeSleepDurationGoal": 1},
    }


def archive_of(content):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("apple_health_export/export.xml", content)
    return packed.getvalue()


def damaged(archive):
    """The same with a flipped byte in what is packed."""
    broken = bytearray(archive)
    broken[len(broken) // 2] ^= 0xFF
    return bytes(broken)


LAUGHS = PROLOG.replace(
    "]>", '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
)
FILE = PROLOG.replace("]>", '<!ENTITY file SYSTEM "file:///etc/hostname">]>')
HIDDEN = PROLOG.replace("[", "[ <!-- <HealthData> --> <!entity x 'y'>", 1)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "file_empty"),
        (b"\xef\xbb\xbf \n", "file_empty"),
        (make_archive()[:-200], "file_damaged"),
        (damaged(make_archive()), "file_damaged"),
        (make_export(days=1)[:-40], "file_damaged"),
        (
            make_export(days=1).replace(b"</HealthData>", b"</HealthDat>"),
            "file_damaged",
        ),
        (wrap(prolog=LAUGHS), "xml_not_allowed"),
        (wrap(prolog=FILE), "xml_not_allowed"),
        (wrap(prolog=HIDDEN), "xml_not_allowed"),
        (wrap(prolog=PROLOG.replace("UTF-8", "UTF-7")), "xml_not_allowed"),
        (make_export(days=1).decode().encode("utf-16"), "unsupported_file_type"),
        (b"<html><body/></html>", "unsupported_file_type"),
        (b"%PDF-1.7", "unsupported_file_type"),
        (archive_of("<other><HealthData/></other>"), "unsupported_file_type"),
        (archive_of(make_export())[:4] + b"\0" * 40, "file_damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_whole_export_is_refused(tmp_path, content, code):
    with pytest.raises(FileRefused) as refused:
        read(tmp_path, content)

    assert refused.value.code == code


def test_what_unpacks_to_far_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_RATIO_FROM", 100_000)

    with pytest.raises(FileRefused) as refused:
        read(tmp_path, archive_of("<HealthData>" + " " * 1_000_000))

    assert refused.value.code == "archive_too_large"


def test_elements_that_no_export_has_do_not_pile_up(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "_ELEMENT_MAX", 100_000)

    with pytest.raises(FileRefused) as refused:
        read(tmp_path, b"<HealthData>" + b"<x/>" * 50_000 + b"</HealthData>")

    assert refused.value.code == "file_damaged"


def test_an_archive_that_lies_about_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "UNPACKED_MAX", 500_000)
    packed = make_archive()
    size = len(make_export()).to_bytes(4, "little")
    assert packed.count(size) == 2

    with pytest.raises(FileRefused) as refused:
        read(tmp_path, packed.replace(size, (400_000).to_bytes(4, "little")))

    assert refused.value.code in {"archive_too_large", "file_damaged"}


def test_an_archive_without_an_export_is_refused(tmp_path):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("holiday.jpg", b"")

    with pytest.raises(FileRefused) as refused:
        read(tmp_path, packed.getvalue())

    assert refused.value.code == "no_export_inside"
