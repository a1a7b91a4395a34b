"""Health Auto Export's REST automation: {data: {metrics, workouts}}, versions 1 and 2.

Times are written "2026-03-01 07:30:00 +0100". A metric is a list of points, grouped by
the span that the app's header `automation-aggregation` names, or by none; version 1
names some fields of workouts otherwise. A source such as "Ana's Apple Watch|iPhone"
names its owner: only what kind of device it is stays.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from users.states import SourceType
from users.states.imports import DropReason
from users.states.phones import PieceKind
from users.wearables.formats.apple.types import EVENTS
from users.wearables.formats.rows import Origin
from users.wearables.formats.units import find_unit_conversion
from users.wearables.formats.uploads.forms import make_sport, make_summary
from users.wearables.phones.recordings import (
    add_workout_stream,
    read_electrocardiogram,
)
from users.wearables.phones.records import (
    Piece,
    ReadBatch,
    Where,
    clean_text,
    read_list,
    read_moment,
    read_number,
)
from users.wearables.phones.types import (
    HEALTH_AUTO_EXPORT,
    HEIGHTS,
    OF_DAYS,
    SLEEP_WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from users.wearables.readings import Context

PROVIDER = "apple_health_kit"
_SDNN = "heart_rate_variability"
_SPANS = {
    "minute": timedelta(minutes=1),
    "minutes": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "hours": timedelta(hours=1),
    "day": timedelta(days=1),
    "days": timedelta(days=1),
}
_MINUTE, _HOUR, _DAY = _SPANS["minute"], _SPANS["hour"], _SPANS["day"]
# Fields of a workout, newest name first, our field, its unit, whether it is whole.
_QUANTITIES: tuple[tuple[tuple[str, ...], str, str, bool], ...] = (
    (("distance",), "distance", "m", False),
    (("activeEnergyBurned", "activeEnergy"), "calories", "kcal", False),
    (("avgHeartRate", "averageHeartRate"), "average_hr", "bpm", True),
    (("maxHeartRate",), "max_hr", "bpm", True),
    (("avgSpeed", "speed"), "average_speed", "m/s", False),
    (("maxSpeed",), "max_speed", "m/s", False),
    (("elevationUp",), "total_elevation_gain", "m", False),
)
_UNITS = {"mph": "mi/hr", "kmph": "km/hr", "km/h": "km/hr", "count/min": "bpm"}
_READ = {"metrics", "workouts", "ecg", "heartRateNotifications"}
_STAGES = ("core", "deep", "rem", "awake")


def read_health_auto_export_batch(
    body: dict[str, Any], context: Context, aggregation: str = ""
) -> ReadBatch:
    """Read a batch; `aggregation` is the app's header. Nothing in it can fail it."""
    batch = ReadBatch(PROVIDER, context)
    data = body.get("data")
    for metric in read_list(data, "metrics"):
        if isinstance(metric, dict):
            _read_metric(batch, metric, aggregation.lower())
    for index, workout in enumerate(read_list(data, "workouts")):
        batch.records += 1
        where = Where("workouts", index)
        if isinstance(workout, dict):
            _read_workout(batch, where, workout)
        else:
            batch.refuse(where, "workout", DropReason.BAD_ROW)
    for index, record in enumerate(read_list(data, "ecg")):
        batch.records += 1
        where = Where("ecg", index)
        if isinstance(record, dict):
            read_electrocardiogram(batch, where, record)
        else:
            batch.refuse(where, "ecg", DropReason.BAD_ROW)
    for index, record in enumerate(read_list(data, "heartRateNotifications")):
        batch.records += 1
        _read_alert(batch, Where("heartRateNotifications", index), record)
    if isinstance(data, dict):
        for name in sorted(data.keys() - _READ):
            for _each in read_list(data, name):
                batch.records += 1
                batch.add_unknown(name)
    return batch


def _read_metric(batch: ReadBatch, metric: dict[str, Any], aggregation: str) -> None:
    name = clean_text(metric.get("name"))
    unit = clean_text(metric.get("units"))
    points = read_list(metric, "data")
    span = _SPANS.get(aggregation)
    if span is None:
        span = _guess_span(points)
    for index, point in enumerate(points):
        batch.records += 1
        where = Where(name, index)
        if not isinstance(point, dict):
            batch.refuse(where, name, DropReason.BAD_ROW)
            continue
        if name == "sleep_analysis":
            _read_sleep(batch, where, point)
            continue
        start = read_moment(point.get("startDate") or point.get("date"))
        end = read_moment(point.get("endDate"))
        if end is None and start is not None:
            end = _add(start, span)
        origin = _read_origin(point.get("source"))
        value = point.get("qty", point.get("Avg", point.get("avg")))
        offset = None if start is None else _offset_of(start)
        if name == "blood_pressure":
            _read_pressure(batch, where, point, origin, start)
        elif name == _SDNN:
            batch.refuse(where, name, DropReason.NO_BEATS)
        elif name in HEIGHTS:
            batch.add_height(where, value=value, unit=unit, at=start)
        elif name in OF_DAYS:
            day = batch.local_day(start, offset)
            batch.add_day(where, name, OF_DAYS[name], value=value, day=day)
        elif name in HEALTH_AUTO_EXPORT:
            batch.add_quantity(
                where,
                name,
                HEALTH_AUTO_EXPORT[name],
                origin,
                value=value,
                unit=_UNITS.get(unit, unit),
                start=start,
                end=end,
                offset=offset,
            )
        else:
            batch.add_unknown(name)


def _guess_span(points: Iterable[Any]) -> timedelta:
    """Return how long each point is: days begin at midnight, hours at full ones.

    Source: Ours: without the app's header nothing else tells it.
    """
    clocks = set()
    for point in points:
        if isinstance(point, dict):
            moment = read_moment(point.get("date"))
            if moment is None or moment.second:
                return _MINUTE
            clocks.add((moment.hour, moment.minute))
    if clocks == {(0, 0)}:
        return _DAY
    return _HOUR if clocks and all(not minute for _, minute in clocks) else _MINUTE


def _add(start: datetime, span: timedelta) -> datetime | None:
    try:
        return start + span
    except OverflowError:
        return None


def _offset_of(moment: datetime) -> int:
    return int((moment.utcoffset() or timedelta(0)).total_seconds())


def _read_pressure(
    batch: ReadBatch,
    where: Where,
    point: dict[str, Any],
    origin: Origin,
    start: datetime | None,
) -> None:
    high, low = read_number(point.get("systolic")), read_number(point.get("diastolic"))
    if start is None or high is None or low is None:
        reason = DropReason.BAD_TIME if start is None else DropReason.NO_VALUE
        batch.refuse(where, "blood_pressure", reason)
        return
    element = {"timestamp": start.isoformat(), "systolic": high, "diastolic": low}
    batch.add_sample(where, "blood_pressure", "blood_pressure", origin, element)


def _read_sleep(batch: ReadBatch, where: Where, point: dict[str, Any]) -> None:
    """Read a stage, or a night of sums, which has no stages to show."""
    origin = _read_origin(point.get("source") or point.get("sleepSource"))
    value = point.get("value")
    if isinstance(value, str):
        word = SLEEP_WORDS.get(value.lower().replace(" ", "_"))
        start = read_moment(point.get("startDate"))
        end = read_moment(point.get("endDate"))
        if word is None or start is None or end is None:
            reason = DropReason.NO_VALUE if word is None else DropReason.BAD_TIME
            batch.refuse(where, "sleep_analysis", reason)
            return
        piece = Piece(PieceKind.SLEEP, origin, start, end, word)
        batch.add_piece(where, "sleep_analysis", piece)
        return
    start = read_moment(point.get("inBedStart") or point.get("sleepStart"))
    end = read_moment(point.get("inBedEnd") or point.get("sleepEnd"))
    if start is None or end is None or end <= start:
        batch.refuse(where, "sleep_analysis", DropReason.BAD_TIME)
        return
    hours = {name: read_number(point.get(name)) for name in _STAGES}
    told = read_number(point.get("totalSleep")) or read_number(point.get("asleep"))
    total = told or sum(hours[name] or 0 for name in ("core", "deep", "rem"))
    length = (end - start).total_seconds()
    seconds = min(round(total * 3600), round(length))
    element = {
        "bedtime_start": start.isoformat(),
        "bedtime_stop": end.isoformat(),
        "timezone_offset": _offset_of(start),
        "type": "long_sleep" if seconds >= 3 * 3600 else "short_sleep",
        "duration": round(length),
        "total": seconds,
        "efficiency": round(100 * seconds / length, 1),
        **{
            {"core": "light"}.get(name, name): round(each * 3600)
            for name, each in hours.items()
            if each is not None
        },
    }
    row = make_summary("sleep", origin, element)
    batch.add_summary(where, "sleep_analysis", "sleep", origin, row.element)


def _read_workout(batch: ReadBatch, where: Where, workout: dict[str, Any]) -> None:
    start, end = read_moment(workout.get("start")), read_moment(workout.get("end"))
    where = where._replace(id=clean_text(workout.get("id")))
    if start is None or end is None:
        batch.refuse(where, "workout", DropReason.BAD_TIME)
        return
    seconds = read_number(workout.get("duration"))
    element: dict[str, Any] = {
        "time_start": start.isoformat(),
        "time_end": end.isoformat(),
        "timezone_offset": _offset_of(start),
        "provider_id": where.id,
        "moving_time": None if seconds is None else round(seconds),
        "sport": make_sport(clean_text(workout.get("name")) or "other"),
    }
    for names, key, unit, is_whole in _QUANTITIES:
        value = next(
            (found for name in names if (found := _quantity(workout.get(name), unit))),
            None,
        )
        if value is not None:
            element[key] = round(value) if is_whole else value
    heart = workout.get("heartRate")
    if isinstance(heart, dict):
        for name, key in (("avg", "average_hr"), ("max", "max_hr")):
            value = _quantity(heart.get(name), "bpm")
            if value is not None:
                element.setdefault(key, round(value))
    elevation = workout.get("elevation")
    if isinstance(elevation, dict):
        given = {"qty": elevation.get("ascent"), "units": elevation.get("units")}
        element.setdefault("total_elevation_gain", _quantity(given, "m"))
    origin = Origin(str(SourceType.UNKNOWN))
    row = make_summary("workouts", origin, element)
    batch.add_summary(where, "workout", "workouts", origin, row.element)
    add_workout_stream(batch, origin, element, _read_points(workout))


def _read_points(
    workout: dict[str, Any],
) -> Iterator[tuple[object, dict[str, object]]]:
    """Yield places and heart rates; version 1 names coordinates otherwise."""
    for place in read_list(workout, "route"):
        if isinstance(place, dict):
            yield (
                place.get("timestamp"),
                {
                    "lat": place.get("latitude", place.get("lat")),
                    "lng": place.get("longitude", place.get("lon")),
                    "altitude": place.get("altitude"),
                    "velocity_smooth": place.get("speed"),
                },
            )
    for rate in read_list(workout, "heartRateData"):
        if isinstance(rate, dict):
            yield rate.get("date"), {"heartrate": rate.get("Avg", rate.get("qty"))}
    for point in read_list(workout, "cyclingPower"):
        if isinstance(point, dict) and point.get("units") == "W":
            yield point.get("date"), {"power": point.get("qty")}


def _read_alert(batch: ReadBatch, where: Where, record: object) -> None:
    """Read a notice of a high or low heart rate: its rates lie beyond a threshold.

    The app does not name the kind; without a threshold it is of an irregular rhythm,
    or of what a later version adds: counted.
    """
    given = record if isinstance(record, dict) else {}
    start = read_moment(given.get("start"))
    threshold = read_number(given.get("threshold"))
    rates = [
        rate
        for each in read_list(given, "heartRate")
        if isinstance(each, dict) and (rate := read_number(each.get("hr"))) is not None
    ]
    if threshold is None or not rates:
        batch.add_unknown("heartRateNotifications")
        return
    is_high = sum(rates) / len(rates) >= threshold
    name = "HighHeartRateEvent" if is_high else "LowHeartRateEvent"
    batch.add_quantity(
        where,
        "heartRateNotifications",
        EVENTS[name],
        Origin(str(SourceType.WATCH)),
        value=1,
        unit=None,
        start=start,
        end=read_moment(given.get("end")),
        offset=None if start is None else _offset_of(start),
    )


def _quantity(given: object, to: str) -> float | None:
    if not isinstance(given, dict):
        return None
    value, unit = read_number(given.get("qty")), clean_text(given.get("units"))
    conversion = find_unit_conversion(_UNITS.get(unit, unit), to)
    return None if value is None or conversion is None else conversion.apply(value)


def _read_origin(source: object) -> Origin:
    text = clean_text(source, 500)
    kinds = {
        kind
        for word, kind in (
            ("Watch", SourceType.WATCH),
            ("iPhone", SourceType.PHONE),
            ("iPad", SourceType.PHONE),
        )
        if word in text
    }
    if len(kinds) > 1:
        return Origin(str(SourceType.MULTIPLE_SOURCES))
    return Origin(str(next(iter(kinds), SourceType.UNKNOWN)))
