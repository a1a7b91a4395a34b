"""Records of Health Connect as senders of its own shape name them (HCGateway).

One type a call, {data: record or [record]}, each with `metadata`. Quantities are
objects of several units. Source: HCGateway 2 and react-native-health-connect.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from users.states import SourceType
from users.states.imports import DropReason
from users.states.phones import PieceKind
from users.wearables.formats.apple.types import Measure
from users.wearables.formats.rows import Origin, ReportedDevice
from users.wearables.formats.uploads.forms import make_sport, make_summary
from users.wearables.phones.nutrition import read_meal
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
)
from users.wearables.phones.types import ANDROID, CYCLE_NUMBERS, SLEEP_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from users.wearables.readings import Context

PROVIDER = "health_connect"
# By type: where the value is, and the unit that it is in.
_VALUES: dict[str, tuple[Measure, tuple[str, ...], str]] = {
    "steps": (ANDROID["STEP_COUNT"], ("count",), "count"),
    "distance": (ANDROID["DISTANCE"], ("distance", "inMeters"), "m"),
    "floorsclimbed": (ANDROID["FLOORS_CLIMBED"], ("floors",), "count"),
    "activecaloriesburned": (
        ANDROID["ACTIVE_CALORIES_BURNED"],
        ("energy", "inKilocalories"),
        "kcal",
    ),
    "wheelchairpushes": (Measure("wheelchair_push"), ("count",), "count"),
    "oxygensaturation": (ANDROID["OXYGEN_SATURATION"], ("percentage",), "%"),
    "respiratoryrate": (ANDROID["RESPIRATORY_RATE"], ("rate",), "breaths/min"),
    "heartratevariabilityrmssd": (
        ANDROID["HEART_RATE_VARIABILITY"],
        ("heartRateVariabilityMillis",),
        "ms",
    ),
    "weight": (ANDROID["WEIGHT"], ("weight", "inKilograms"), "kg"),
    "bodyfat": (ANDROID["BODY_FAT"], ("percentage",), "%"),
    "leanbodymass": (ANDROID["LEAN_BODY_MASS"], ("mass", "inKilograms"), "kg"),
    "bloodglucose": (
        ANDROID["BLOOD_GLUCOSE"],
        ("level", "inMillimolesPerLiter"),
        "mmol/L",
    ),
    "bodytemperature": (
        ANDROID["BODY_TEMPERATURE"],
        ("temperature", "inCelsius"),
        "°C",
    ),
    "basalbodytemperature": (
        Measure("basal_body_temperature"),
        ("temperature", "inCelsius"),
        "°C",
    ),
    "hydration": (ANDROID["HYDRATION"], ("volume", "inLiters"), "L"),
    "vo2max": (ANDROID["VO2_MAX"], ("vo2MillilitersPerMinuteKilogram",), "mL/kg/min"),
}
# DeviceType numbers of Health Connect.
_DEVICES = {
    1: SourceType.WATCH,
    2: SourceType.PHONE,
    3: SourceType.SCALE,
    4: SourceType.RING,
    6: SourceType.WATCH,
    7: SourceType.CHEST_STRAP,
}
_MANUAL = 3
# ExerciseSessionRecord's types, as its documentation numbers them.
_SPORTS = {
    2: "badminton",
    4: "baseball",
    5: "basketball",
    8: "biking",
    9: "stationary biking",
    11: "boxing",
    16: "dancing",
    25: "elliptical",
    28: "american football",
    32: "golf",
    36: "high intensity interval training",
    37: "hiking",
    44: "martial arts",
    48: "pilates",
    53: "rowing",
    54: "rowing machine",
    56: "running",
    57: "treadmill running",
    61: "skiing",
    62: "snowboarding",
    64: "soccer",
    68: "stair climbing",
    70: "strength training",
    71: "stretching",
    73: "open water swimming",
    74: "pool swimming",
    75: "table tennis",
    76: "tennis",
    79: "walking",
    81: "weightlifting",
    83: "yoga",
}


def read_health_connect_batch(
    body: dict[str, Any], context: Context, type_: str
) -> ReadBatch:
    """Read records of one type; nothing in them can fail the batch."""
    batch = ReadBatch(PROVIDER, context)
    data = body.get("data")
    records = data if isinstance(data, list) else [data]
    kind = type_.lower().removesuffix("record")
    for index, record in enumerate(records):
        batch.records += 1
        if not isinstance(record, dict):
            batch.refuse(Where("data", index), type_, DropReason.BAD_ROW)
            continue
        metadata = record.get("metadata")
        given = metadata if isinstance(metadata, dict) else {}
        where = Where("data", index, clean_text(given.get("id")))
        _read(batch, where, kind, type_, record, _read_origin(given))
    return batch


def _read(
    batch: ReadBatch,
    where: Where,
    kind: str,
    type_: str,
    record: dict[str, Any],
    origin: Origin,
) -> None:
    start = read_moment(record.get("startTime") or record.get("time"))
    end = read_moment(record.get("endTime"))
    offset = _read_zone_offset(record)
    if kind in _VALUES:
        measure, path, unit = _VALUES[kind]
        batch.add_quantity(
            where,
            type_,
            measure,
            origin,
            value=_walk(record, path),
            unit=unit,
            start=start,
            end=end,
            offset=offset,
        )
    elif kind == "heartrate":
        for sample in read_list(record, "samples"):
            given = sample if isinstance(sample, dict) else {}
            batch.add_quantity(
                where,
                type_,
                ANDROID["HEART_RATE"],
                origin,
                value=given.get("beatsPerMinute"),
                unit="bpm",
                start=read_moment(given.get("time")),
                offset=offset,
            )
    elif kind == "restingheartrate":
        day = batch.local_day(start, offset)
        rate = record.get("beatsPerMinute")
        batch.add_day(where, type_, "resting_bpm", value=rate, day=day)
    elif kind == "height":
        height = _walk(record, ("height", "inMeters"))
        batch.add_height(where, value=height, unit="m", at=start)
    elif kind == "bloodpressure":
        _read_pressure(batch, where, type_, record, origin)
    elif kind == "nutrition":
        read_meal(batch, where, type_, record, origin, start)
    elif kind in CYCLE_NUMBERS:
        member, words = CYCLE_NUMBERS[kind]
        number = record.get(member)
        word = words.get(number) if isinstance(number, int) else None
        if word is None:
            batch.refuse(where, type_, DropReason.NO_VALUE)
        else:
            day = batch.local_day(start, offset)
            batch.add_cycle_entry(where, type_, day, word)
    elif kind == "intermenstrualbleeding":
        day = batch.local_day(start, offset)
        batch.add_cycle_entry(where, type_, day, "IntermenstrualBleeding")
    elif kind == "menstruationperiod":
        _read_period(batch, where, type_, start, end, offset)
    elif start is None or end is None:
        if kind in ("sleepsession", "exercisesession"):
            batch.refuse(where, type_, DropReason.BAD_TIME)
        else:
            batch.add_unknown(type_)
    elif kind == "sleepsession":
        batch.add_piece(
            where, type_, Piece(PieceKind.SLEEP, origin, start, end, "InBed")
        )
        stages = read_list(record, "stages")
        for stage in stages:
            _read_stage(batch, where, type_, stage, origin)
        if not stages:
            piece = Piece(PieceKind.SLEEP, origin, start, end, "Asleep")
            batch.add_piece(where, type_, piece)
    elif kind == "exercisesession":
        number = record.get("exerciseType")
        sport = _SPORTS.get(number) if isinstance(number, int) else None
        element = {
            "time_start": start.isoformat(),
            "time_end": end.isoformat(),
            "timezone_offset": offset,
            "title": clean_text(record.get("title"), 1000),
            "provider_id": where.id,
            "sport": make_sport(sport or "other"),
        }
        row = make_summary("workouts", origin, element)
        batch.add_summary(where, type_, "workouts", origin, row.element)
        add_workout_stream(batch, origin, element, _read_route(record))
    else:
        batch.add_unknown(type_)


def _read_period(
    batch: ReadBatch,
    where: Where,
    type_: str,
    start: datetime | None,
    end: datetime | None,
    offset: int | None,
) -> None:
    """Read a period as days of unspecified flow; a flow of a day replaces its."""
    first, last = batch.local_day(start, offset), batch.local_day(end, offset)
    if start is None or end is None or first is None or last is None:
        batch.refuse(where, type_, DropReason.BAD_TIME)
        return
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days
    if not 0 <= days < _PERIOD_MAX:
        batch.refuse(where, type_, DropReason.BAD_TIME)
        return
    for number in range(days + 1):
        day = (date.fromisoformat(first) + timedelta(days=number)).isoformat()
        batch.add_cycle_entry(where, type_, day, "MenstrualFlow=Unspecified")


# Ours: what claims to be longer is a mistake. Health Connect's own limit is 31 days.
_PERIOD_MAX = 31


def _read_route(
    record: dict[str, Any],
) -> Iterator[tuple[object, dict[str, object]]]:
    """Yield the places of a session's route, where its person allowed it."""
    for place in read_list(record.get("exerciseRoute"), "route"):
        if isinstance(place, dict):
            yield (
                place.get("time"),
                {
                    "lat": place.get("latitude"),
                    "lng": place.get("longitude"),
                    "altitude": _walk(place, ("altitude", "inMeters")),
                },
            )


def _read_stage(
    batch: ReadBatch, where: Where, type_: str, stage: object, origin: Origin
) -> None:
    given = stage if isinstance(stage, dict) else {}
    number = given.get("stage")
    word = SLEEP_NUMBERS.get(number) if isinstance(number, int) else None
    start, end = read_moment(given.get("startTime")), read_moment(given.get("endTime"))
    if word is not None and start is not None and end is not None:
        piece = Piece(PieceKind.SLEEP, origin, start, end, word)
        batch.add_piece(where, type_, piece)


def _read_pressure(
    batch: ReadBatch, where: Where, type_: str, record: dict[str, Any], origin: Origin
) -> None:
    start = read_moment(record.get("time"))
    high = read_number(_walk(record, ("systolic", "inMillimetersOfMercury")))
    low = read_number(_walk(record, ("diastolic", "inMillimetersOfMercury")))
    if start is None or high is None or low is None:
        batch.refuse(where, type_, DropReason.NO_VALUE)
        return
    element = {"timestamp": start.isoformat(), "systolic": high, "diastolic": low}
    batch.add_sample(where, type_, "blood_pressure", origin, element)


def _walk(record: dict[str, Any], path: tuple[str, ...]) -> object:
    found: object = record
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _read_zone_offset(record: dict[str, Any]) -> int | None:
    given = record.get("startZoneOffset") or record.get("zoneOffset")
    if isinstance(given, dict):
        seconds = given.get("totalSeconds")
        return seconds if type(seconds) is int else read_offset(given.get("id"))
    return read_offset(given)


def _read_origin(metadata: dict[str, Any]) -> Origin:
    given = metadata.get("device")
    device = given if isinstance(given, dict) else {}
    number = device.get("type")
    kind = _DEVICES.get(number) if isinstance(number, int) else None
    kind = kind or SourceType.PHONE
    if metadata.get("recordingMethod") == _MANUAL:
        kind = SourceType.APP
    app = metadata.get("dataOrigin")
    if isinstance(app, dict):
        app = app.get("packageName")
    manufacturer = clean_text(device.get("manufacturer"))
    model = clean_text(device.get("model"))
    told = None
    if manufacturer or model:
        own = f"{manufacturer}/{model}"
        told = ReportedDevice(own, manufacturer or None, model or None)
    return Origin(str(kind), clean_text(app, 255) or None, device=told)
