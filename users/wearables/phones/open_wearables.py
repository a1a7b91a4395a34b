"""Batches of the Open Wearables SDKs: {provider, data: {records, sleep, workouts}}.

The shape is that of their published code (SyncRequest, version 1): iOS, Android,
Flutter and React Native send the same. Times are UTC; `zoneOffset` is "+01:00" or null.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from users.states import SourceType
from users.states.imports import DropReason
from users.states.phones import PieceKind
from users.wearables.formats.apple.cycles import FLOW, LOGS, SEXUAL_ACTIVITY
from users.wearables.formats.apple.types import (
    CATEGORY,
    DIASTOLIC,
    EVENTS,
    INSULIN,
    INSULIN_DELIVERY,
    MEASURES,
    MINDFUL,
    QUANTITY,
    STAND_HOUR,
    SYSTOLIC,
    TEMPERATURE_SENSORS,
    VARIABILITY,
    Measure,
)
from users.wearables.formats.rows import Origin, ReportedDevice
from users.wearables.formats.uploads.forms import make_sport, make_summary
from users.wearables.phones.recordings import add_workout_stream
from users.wearables.phones.records import (
    Piece,
    ReadBatch,
    Where,
    clean_text,
    read_list,
    read_moment,
    read_number,
    read_offset,
    read_zone,
)
from users.wearables.phones.types import (
    ANDROID,
    CATEGORY_VALUES,
    DEVICES,
    HEIGHTS,
    OF_DAYS,
    SLEEP_WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from users.wearables.readings import Context

PROVIDERS = {
    "apple": "apple_health_kit",
    "google": "health_connect",
    "samsung": "samsung_health",
}
_HALVES = {
    "BLOOD_PRESSURE_SYSTOLIC": PieceKind.SYSTOLIC,
    "BLOOD_PRESSURE_DIASTOLIC": PieceKind.DIASTOLIC,
    QUANTITY + SYSTOLIC: PieceKind.SYSTOLIC,
    QUANTITY + DIASTOLIC: PieceKind.DIASTOLIC,
}
_STANDS = {0: "stood", 1: "idle"}
# A statistic of a workout: our field, and whether it is a whole number.
_STATISTICS = {
    "distance": ("distance", False),
    "totalDistance": ("distance", False),
    "activeEnergyBurned": ("calories", False),
    "calories": ("calories", False),
    "averageHeartRate": ("average_hr", True),
    "meanHeartRate": ("average_hr", True),
    "maxHeartRate": ("max_hr", True),
    "averageSpeed": ("average_speed", False),
    "averageRunningSpeed": ("average_speed", False),
    "meanSpeed": ("average_speed", False),
    "maxSpeed": ("max_speed", False),
    "elevationAscended": ("total_elevation_gain", False),
    "altitudeGain": ("total_elevation_gain", False),
    "maxAltitude": ("elev_high", False),
    "minAltitude": ("elev_low", False),
    "averageRunningPower": ("average_watts", False),
    "stepCount": ("steps", True),
}
_SECONDS = {"s": 1.0, "ms": 0.001, "min": 60.0}
# Health Connect keeps no device's own number: what it is made by stands for it.
_UNKNOWN_DEVICE = "/"


def read_open_wearables_batch(body: dict[str, Any], context: Context) -> ReadBatch:
    """Read a batch whose provider is one of PROVIDERS; nothing in it can fail it."""
    provider = PROVIDERS[str(body.get("provider")).lower()]
    batch = ReadBatch(provider, context)
    data = body.get("data")
    for name, read in (
        ("records", _read_record),
        ("sleep", _read_stage),
        ("workouts", _read_workout),
    ):
        for index, record in enumerate(read_list(data, name)):
            batch.records += 1
            if not isinstance(record, dict):
                batch.refuse(Where(name, index), name, DropReason.BAD_ROW)
                continue
            where = Where(name, index, clean_text(record.get("id")))
            read(batch, where, record)
    return batch


def _read_record(batch: ReadBatch, where: Where, record: dict[str, Any]) -> None:
    type_ = record.get("type")
    type_ = type_ if isinstance(type_, str) else ""
    start, end = (
        read_moment(record.get("startDate")),
        read_moment(record.get("endDate")),
    )
    origin = _read_origin(record.get("source"))
    offset = read_offset(record.get("zoneOffset"))
    value, unit = record.get("value"), record.get("unit")
    unit = unit if isinstance(unit, str) else None
    metadata = record.get("metadata")
    half = _HALVES.get(type_)
    if half is not None:
        number = read_number(value)
        if start is None or number is None:
            reason = DropReason.BAD_TIME if start is None else DropReason.NO_VALUE
            batch.refuse(where, type_, reason)
        else:
            piece = Piece(half, origin, start, start, value=number)
            batch.add_piece(where, type_, piece)
        return
    if type_ in HEIGHTS:
        batch.add_height(where, value=value, unit=unit, at=start)
        return
    if type_ in OF_DAYS:
        day = batch.local_day(start, offset, read_zone(metadata))
        batch.add_day(where, type_, OF_DAYS[type_], value=value, day=day)
        return
    if type_ == QUANTITY + VARIABILITY:
        batch.refuse(where, type_, DropReason.NO_BEATS)
        return
    if type_.startswith(CATEGORY):
        _read_category(batch, where, record, origin, start, end)
        return
    measure = _find_measure(type_, metadata)
    if measure is None:
        batch.add_unknown(type_)
        return
    batch.add_quantity(
        where,
        type_,
        measure,
        origin,
        value=value,
        unit=unit,
        start=start,
        end=end,
        offset=offset,
    )


def _find_measure(type_: str, metadata: object) -> Measure | None:
    if not type_.startswith(QUANTITY):
        return ANDROID.get(type_)
    name = type_.removeprefix(QUANTITY)
    given = metadata if isinstance(metadata, dict) else {}
    if name == INSULIN_DELIVERY:
        keys = INSULIN.get(str(given.get("HKInsulinDeliveryReason", "")))
        return None if keys is None else Measure("insulin_injection", keys=keys)
    if name == "BodyTemperature":
        place = str(given.get("HKBodyTemperatureSensorLocation", ""))
        sensor = TEMPERATURE_SENSORS.get(place)
        return Measure(
            "body_temperature", keys={"sensor_location": sensor} if sensor else {}
        )
    return MEASURES.get(name)


def _read_category(
    batch: ReadBatch,
    where: Where,
    record: dict[str, Any],
    origin: Origin,
    start: datetime | None,
    end: datetime | None,
) -> None:
    type_ = str(record["type"])
    name = type_.removeprefix(CATEGORY)
    if start is None or end is None:
        batch.refuse(where, type_, DropReason.BAD_TIME)
        return
    if name == MINDFUL:
        measure, value = Measure("mindfulness_minutes"), (end - start) / _MINUTE
    elif name == STAND_HOUR:
        word = _STANDS.get(record.get("value"))  # type: ignore[arg-type]  # any JSON
        if word is None:
            batch.refuse(where, type_, DropReason.NO_VALUE)
            return
        measure, value = Measure("stand_hour", keys={"type": word}), 1.0
    elif name in EVENTS:
        measure, value = EVENTS[name], 1.0
    elif name in LOGS:
        _read_cycle_entry(batch, where, record, name, start)
        return
    else:
        batch.add_unknown(type_)
        return
    batch.add_quantity(
        where, type_, measure, origin, value=value, unit=None, start=start, end=end
    )


_MINUTE = timedelta(minutes=1)


def _read_cycle_entry(
    batch: ReadBatch, where: Where, record: dict[str, Any], name: str, start: datetime
) -> None:
    """Read an entry of a menstrual cycle; the numbers are HealthKit's."""
    metadata = record.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    number = record.get("value")
    words = CATEGORY_VALUES.get(name, {})
    if words and not (isinstance(number, int) and number in words):
        batch.refuse(where, CATEGORY + name, DropReason.NO_VALUE)
        return
    word = f"{name}={words[number]}" if words else name  # type: ignore[index]  # checked
    if name == SEXUAL_ACTIVITY:
        protected = given.get("HKSexualActivityProtectionUsed")
        if protected is None:
            batch.refuse(where, CATEGORY + name, DropReason.NO_VALUE)
            return
        word = f"{name}={int(protected in _TRUE)}"
    if name == FLOW and given.get("HKMenstrualCycleStart") in _TRUE:
        word = f"{word}|start"
    day = batch.local_day(
        start, read_offset(record.get("zoneOffset")), read_zone(metadata)
    )
    batch.add_cycle_entry(where, CATEGORY + name, day, word)


# HealthKit writes a flag as a number, and apps as a text.
_TRUE = (True, 1, "1", "true")


def _read_stage(batch: ReadBatch, where: Where, record: dict[str, Any]) -> None:
    stage = record.get("stage")
    word = SLEEP_WORDS.get(stage.lower()) if isinstance(stage, str) else None
    start, end = (
        read_moment(record.get("startDate")),
        read_moment(record.get("endDate")),
    )
    if word is None:
        batch.refuse(where, "sleep", DropReason.NO_VALUE)
    elif start is None or end is None:
        batch.refuse(where, "sleep", DropReason.BAD_TIME)
    else:
        origin = _read_origin(record.get("source"))
        zone = read_zone(record.get("metadata"))
        piece = Piece(PieceKind.SLEEP, origin, start, end, word, zone=zone)
        batch.add_piece(where, "sleep", piece)


def _read_workout(batch: ReadBatch, where: Where, record: dict[str, Any]) -> None:
    start, end = (
        read_moment(record.get("startDate")),
        read_moment(record.get("endDate")),
    )
    if start is None or end is None:
        batch.refuse(where, "workout", DropReason.BAD_TIME)
        return
    element: dict[str, Any] = {
        "time_start": start.isoformat(),
        "time_end": end.isoformat(),
        "timezone_offset": read_offset(record.get("zoneOffset")),
        "title": clean_text(record.get("title"), 1000),
        "provider_id": where.id,
        "sport": make_sport(clean_text(record.get("type")) or "other"),
    }
    for statistic in read_list(record, "values"):
        if not isinstance(statistic, dict):
            continue
        value = read_number(statistic.get("value"))
        name = statistic.get("type")
        if value is None or not isinstance(name, str):
            continue
        if name in ("duration", "totalDuration"):
            scale = _SECONDS.get(str(statistic.get("unit")), 1.0)
            element["moving_time"] = round(value * scale)
        elif name in _STATISTICS:
            key, is_whole = _STATISTICS[name]
            element[key] = round(value) if is_whole else value
    origin = _read_origin(record.get("source"))
    row = make_summary("workouts", origin, element)
    batch.add_summary(where, "workout", "workouts", origin, row.element)
    add_workout_stream(batch, origin, element, _read_points(record))


def _read_points(workout: dict[str, Any]) -> Iterator[tuple[object, dict[str, object]]]:
    """Yield the places of a workout's route, and its samples.

    A cadence is of steps or of turns, which the SDK does not say: it stays out.
    """
    for place in read_list(workout, "route"):
        if isinstance(place, dict):
            yield (
                place.get("timestamp"),
                {
                    "lat": place.get("latitude"),
                    "lng": place.get("longitude"),
                    "altitude": place.get("altitudeM"),
                },
            )
    for sample in read_list(workout, "samples"):
        if isinstance(sample, dict):
            channel = _CHANNELS.get(str(sample.get("type")))
            if channel is not None and sample.get("unit") == channel[1]:
                yield sample.get("timestamp"), {channel[0]: sample.get("value")}


_CHANNELS = {
    "heartRate": ("heartrate", "bpm"),
    "speed": ("velocity_smooth", "m/s"),
    "power": ("power", "W"),
}


def _read_origin(source: object) -> Origin:
    """Return the device and app of a record; a device's name may be its owner's."""
    given = source if isinstance(source, dict) else {}
    kind = DEVICES.get(str(given.get("deviceType")), SourceType.UNKNOWN)
    if given.get("recordingMethod") == "manual":
        kind = SourceType.APP
    app_id = clean_text(given.get("appId") or given.get("bundleIdentifier"), 255)
    manufacturer = clean_text(given.get("deviceManufacturer"))
    model = clean_text(given.get("deviceModel") or given.get("productType"))
    own = clean_text(given.get("deviceId")) or f"{manufacturer}/{model}"
    device = None
    if own != _UNKNOWN_DEVICE:
        device = ReportedDevice(own, manufacturer or None, model or None)
    return Origin(str(kind), app_id or None, device=device)
