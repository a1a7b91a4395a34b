"""Routes and heart rates of workouts as streams, and electrocardiograms."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from users.states import SourceType
from users.states.imports import DropReason
from users.wearables.formats.apple.attachments import ECG_CLASSIFICATIONS
from users.wearables.formats.rows import Origin
from users.wearables.formats.tracks import Points
from users.wearables.phones.records import (
    Where,
    clean_text,
    read_list,
    read_moment,
    read_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from users.wearables.phones.records import ReadBatch

_VOLTS = {"mcV": 1e-3, "\u00b5V": 1e-3, "\u03bcV": 1e-3, "mV": 1.0, "V": 1e3}
# Ours: a recording of Apple's is of 30 seconds at 512 Hz.
_VOLTAGES_MAX = 120_000
_ECG_MAX = timedelta(minutes=10)
_INCONCLUSIVE = "inconclusive "


def add_workout_stream(
    batch: ReadBatch,
    origin: Origin,
    element: Mapping[str, Any],
    points: Iterable[tuple[object, Mapping[str, object]]],
) -> None:
    """Add the stream of a workout: points of {channel: value} by their time.

    What is no time, no number or impossible costs itself. Without two points there is
    no stream.
    """
    start = read_moment(element["time_start"])
    end = read_moment(element["time_end"])
    if start is None or end is None:
        return
    found = Points(batch.context.now)
    for time, values in points:
        moment = read_moment(time)
        if moment is not None:
            found.add(
                moment.timestamp(),
                {name: read_number(value) for name, value in values.items()},
            )
    body = found.stream(int(start.timestamp()), int(end.timestamp()) + 1)
    if body is not None and len(body["time"]) > 1 and len(body) > 1:
        batch.streams.append((origin, start, end, body))


def read_electrocardiogram(
    batch: ReadBatch, where: Where, record: dict[str, Any]
) -> None:
    """Read an electrocardiogram of Health Auto Export with its voltages.

    The app writes the time of a voltage in whole seconds: it is counted from the start
    by the sampling frequency. Source: the app's JSON format, read 2026-11-27.
    """
    start = read_moment(record.get("start") or record.get("date"))
    rate = read_number(record.get("samplingFrequency"))
    given = read_list(record, "voltageMeasurements")[:_VOLTAGES_MAX]
    volts = [_read_voltage(each) for each in given]
    known = [each for each in volts if each is not None]
    if start is None:
        batch.refuse(where, "ecg", DropReason.BAD_TIME)
        return
    if not rate or rate <= 0 or not known or len(known) < len(volts):
        batch.refuse(where, "ecg", DropReason.NO_VALUE)
        return
    if timedelta(seconds=min(len(known) / rate, 1e6)) > _ECG_MAX:
        batch.refuse(where, "ecg", DropReason.BAD_TIME)
        return
    origin = Origin(str(SourceType.WATCH))
    element: dict[str, Any] = {
        "session_start": start.isoformat(),
        "session_end": (start + timedelta(seconds=len(known) / rate)).isoformat(),
        "voltage_sample_count": len(known),
        "sampling_frequency_hz": rate,
    }
    mean = read_number(record.get("averageHeartRate"))
    if mean is not None:
        element["heart_rate_mean"] = round(mean)
    word = clean_text(record.get("classification")).lower()
    found = ECG_CLASSIFICATIONS.get(word) or ECG_CLASSIFICATIONS.get(
        word.removeprefix(_INCONCLUSIVE)
    )
    if found is not None:
        element["classification"] = found[0]
        if found[1] is not None:
            element["inconclusive_cause"] = found[1]
    batch.add_summary(where, "ecg", "electrocardiogram", origin, element)
    for number, value in enumerate(known):
        at = (start + timedelta(seconds=number / rate)).isoformat()
        sample = {"timestamp": at, "value": value, "type": "I"}
        batch.add_sample(where, "ecg", "electrocardiogram_voltage", origin, sample)


def _read_voltage(given: object) -> float | None:
    if not isinstance(given, dict):
        return None
    value = read_number(given.get("voltage"))
    factor = _VOLTS.get(clean_text(given.get("units")))
    return None if value is None or factor is None else value * factor
