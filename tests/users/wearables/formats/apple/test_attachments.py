"""Routes and electrocardiograms of an Apple archive, of nobody."""

from __future__ import annotations

import pytest

from tests.factories.apple_health import quantity, wrap
from tests.factories.health_exports import packed
from tests.users.wearables.formats.reading import read

WORKOUT = (
    '<Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="Watch"'
    ' startDate="2026-02-28 10:00:00 +0100" endDate="2026-02-28 10:10:00 +0100">'
    '<WorkoutRoute><FileReference path="/workout-routes/route_1.gpx"/></WorkoutRoute>'
    "</Workout>"
)
POINT = (
    '<trkpt lon="13.4" lat="52.5{n}"><ele>34.5</ele><time>2026-02-28T09:00:0{n}Z</time>'
    "<extensions><speed>2.5</speed><hAcc>3</hAcc></extensions></trkpt>"
)
ROUTE = (
    '<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>'
    "{points}</trkseg></trk></gpx>"
)
ECG = (
    'Name,Nobody\nDate of Birth,"Jan 1, 1980"\n'
    "Recorded Date,2026-02-28 10:00:00 +0100\nClassification,{word}\nSymptoms,\n"
    'Software Version,1.9\nDevice,"Watch5,4"\nSample Rate,512 hertz\n\n'
    "Lead,Lead I\nUnit,\u00b5V\n\n{voltages}\n"
)


def archive(**files):
    inside = wrap(
        WORKOUT,
        quantity("HeartRate", 120, "count/min", start="2026-02-28 10:00:01 +0100"),
        '<ClinicalRecord type="HKClinicalTypeIdentifierLabResultRecord"'
        ' resourceFilePath="/clinical-records/DiagnosticReport-1.json"/>',
    )
    return packed(
        {
            "apple_health_export/export.xml": inside,
            "apple_health_export/workout-routes/route_1.gpx": ROUTE.format(
                points="".join(POINT.format(n=n) for n in range(3))
            ),
            "apple_health_export/clinical-records/DiagnosticReport-1.json": "{}",
            **{f"apple_health_export/{name}": each for name, each in files.items()},
        }
    )


def test_a_route_is_in_the_stream_of_its_workout_with_its_heart_rates(tmp_path):
    found = read(tmp_path, archive(**{"workout-routes/route_2.gpx": "x"}))

    (stream,) = found.of("workout_stream")
    assert stream == {
        "time": [1772269200, 1772269201, 1772269202],
        "heartrate": [None, 120, None],
        "lat": [52.50, 52.51, 52.52],
        "lng": [13.4] * 3,
        "altitude": [34.5] * 3,
        "velocity_smooth": [2.5] * 3,
    }
    assert found.staged.drops == {
        "no_workout": {"route_#.gpx": 1},
        "missing": {"LabResultRecord": 1},
    }


@pytest.mark.parametrize(
    "content",
    ["<gpx>", '<!DOCTYPE g [<!ENTITY a "b">]><gpx/>'],
    ids=["cut", "entities"],
)
def test_a_damaged_route_costs_itself(tmp_path, content):
    found = read(tmp_path, archive(**{"workout-routes/route_1.gpx": content}))

    assert len(found.of("workouts")) == 1
    assert found.staged.drops["bad_file"] == {"route_#.gpx": 1}


@pytest.mark.parametrize("voltages", ["-48.5\n0\n12", "-48,5\n0\n12"])
def test_an_electrocardiogram_has_its_voltages_in_millivolts(tmp_path, voltages):
    ecg = ECG.format(word="High Heart Rate", voltages=voltages)

    found = read(tmp_path, archive(**{"electrocardiograms/ecg_2026-02-28.csv": ecg}))

    assert found.of("electrocardiogram") == [
        {
            "session_start": "2026-02-28T10:00:00+01:00",
            "session_end": "2026-02-28T10:00:00.005859+01:00",
            "voltage_sample_count": 3,
            "sampling_frequency_hz": 512.0,
            "source_device_model": "Watch5,4",
            "classification": "inconclusive",
            "inconclusive_cause": "high_heart_rate",
            "algorithm_version": "1.9",
        }
    ]
    samples = found.of("electrocardiogram_voltage")
    assert [round(each["value"], 6) for each in samples] == [-0.0485, 0, 0.012]
    assert samples[1]["timestamp"] == "2026-02-28T10:00:00.001953+01:00"
    assert {each["type"] for each in samples} == {"I"}
    assert "Nobody" not in repr(found)


def test_what_an_electrocardiogram_does_not_say_is_not_guessed(tmp_path):
    no_rate = ECG.format(word="Sinus Rhythm", voltages="1").replace("512 hertz", "")
    other = ECG.format(word="Sinusrhythmus", voltages="1\n2")
    files = {"e/ecg_2026-02-28.csv": no_rate, "e/ecg_2026-02-28_1.csv": other}

    found = read(tmp_path, archive(**files))

    (kept,) = found.of("electrocardiogram")
    assert "classification" not in kept
    assert found.staged.drops["no_value"] == {
        "Electrocardiogram": 1,
        "Electrocardiogram classification": 1,
    }
