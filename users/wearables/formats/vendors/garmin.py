"""Garmin Connect: lists of activities, days and nights, as exported and as archived.

Activities.csv states no unit of length, which is the account's: its distances are not
read. The fields of JSON and of the API's CSV, as seen in public files: meters,
seconds, kcal; in an archive's
summarizedActivities centimeters and milliseconds, whose energy is left out for its
unit. gcexport's CSV names each unit (pe-st/garmin-connect-export, read 2026-11-24).
Recordings of the archive are FIT files, read as such.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from portal.lib.periods import find_time_zone_by_name, list_time_zones
from users.states import SourceType
from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.rows import Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Cells,
    Form,
    iterate_cells,
    iterate_items,
    make_sample,
    make_sport,
    make_summary,
)
from users.wearables.formats.uploads.values import (
    add_seconds,
    parse_duration,
    parse_local_time,
    parse_number,
    parse_whole,
    write_unix_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_WATCH = Origin(str(SourceType.WATCH))
_SCALE = Origin(str(SourceType.SCALE))
_LIST = ("activity type", "date", "title", "time", "avg hr")
_EXPORT = ("start time", "activity id", "time zone", "duration (h:m:s)")
_API = ("activityid", "starttimegmt", "duration", "activitytype_typekey")
_DAY = ("calendardate", "totalsteps", "totalkilocalories")
_WEIGHT = ("timestampgmt", "weight", "sourcetype")


def _rows(columns: tuple[str, ...], convert: Any) -> Any:
    def read(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
        for cells in iterate_cells(member, head, columns):
            if isinstance(cells, SkippedRows):
                yield cells
            else:
                yield from convert(cells)

    return read


def _listed(cells: Cells) -> Iterator[Row]:
    """Read a row of Connect's list; what states no unit is left out."""
    start = parse_local_time(cells.first("date"))
    lasted = parse_duration(cells.first("elapsed time")) or parse_duration(
        cells.first("time")
    )
    if start is None or not lasted:
        reason = DropReason.BAD_TIME if start is None else DropReason.NO_VALUE
        yield SkippedRows(reason, "activity")
        return
    moving = parse_duration(cells.first("moving time"))
    yield make_summary(
        "workouts",
        _WATCH,
        {
            "time_start": start,
            "time_end": add_seconds(start, lasted),
            "title": cells.first("title")[:1000],
            "sport": make_sport(cells.first("activity type")),
            "calories": parse_number(cells.first("calories")),
            # 0 is what it writes without the sensor.
            "average_hr": parse_whole(cells.first("avg hr")) or None,
            "max_hr": parse_whole(cells.first("max hr")) or None,
            "average_watts": parse_number(cells.first("avg power")) or None,
            "max_watts": parse_number(cells.first("max power")) or None,
            "steps": parse_whole(cells.first("steps")) or None,
            "moving_time": round(moving) if moving else None,
        },
    )


def _exported(cells: Cells) -> Iterator[Row]:
    """Read a row of gcexport, whose offsets can be wrong: the zone's name counts."""
    lasted = parse_duration(cells.first("elapsed duration (h:m:s)", "duration (h:m:s)"))
    zone = cells.first("time zone")
    local = parse_local_time(cells.first("start time")[:19])
    if local is None or not lasted:
        reason = DropReason.BAD_TIME if local is None else DropReason.NO_VALUE
        yield SkippedRows(reason, "activity")
        return
    if zone in list_time_zones():
        at = datetime.fromisoformat(local).replace(tzinfo=find_time_zone_by_name(zone))
        local = at.isoformat()
    kilometers = parse_number(cells.first("distance (km)"))
    moving = parse_duration(cells.first("moving duration (h:m:s)"))
    yield make_summary(
        "workouts",
        _WATCH,
        {
            "time_start": local,
            "time_end": add_seconds(local, lasted),
            "provider_id": cells.first("activity id"),
            "title": cells.first("activity name")[:1000],
            "sport": make_sport(cells.first("activity type")),
            "distance": None if kilometers is None else kilometers * 1000,
            "calories": parse_number(cells.first("calories")),
            "average_hr": parse_whole(cells.first("average heart rate (bpm)")),
            "max_hr": parse_whole(cells.first("max. heart rate (bpm)")),
            "elev_high": parse_number(cells.first("elevation max. (m)")),
            "elev_low": parse_number(cells.first("elevation min. (m)")),
            "total_elevation_gain": parse_number(cells.first("elevation gain (m)")),
            "moving_time": round(moving) if moving else None,
        },
    )


def _utc(value: Any) -> str | None:
    """Return a time in UTC, of milliseconds or of text without zone."""
    number = parse_number(value)
    if number is not None:
        return write_unix_time(number / 1000)
    local = parse_local_time(str(value or "").partition(".")[0])
    return None if local is None else f"{local}+00:00"


def _activity(fields: Mapping[str, Any]) -> Iterator[Row]:
    """Read an activity of the API, its names in lower case."""
    start = _utc(fields.get("starttimegmt"))
    lasted = parse_number(fields.get("elapsedduration")) or parse_number(
        fields.get("duration")
    )
    if start is None or not lasted:
        reason = DropReason.BAD_TIME if start is None else DropReason.NO_VALUE
        yield SkippedRows(reason, "activity")
        return
    moving = parse_number(fields.get("movingduration"))
    yield make_summary(
        "workouts",
        _WATCH,
        {
            "time_start": start,
            "time_end": add_seconds(start, lasted),
            "provider_id": str(fields.get("activityid") or ""),
            "title": str(fields.get("activityname") or "")[:1000],
            "sport": make_sport(str(fields.get("activitytype_typekey") or "")),
            "distance": parse_number(fields.get("distance")),
            "calories": parse_number(fields.get("calories")),
            "average_hr": parse_whole(fields.get("averagehr")),
            "max_hr": parse_whole(fields.get("maxhr")),
            "average_speed": parse_number(fields.get("averagespeed")),
            "max_speed": parse_number(fields.get("maxspeed")),
            "average_watts": parse_number(fields.get("avgpower")),
            "max_watts": parse_number(fields.get("maxpower")),
            "weighted_average_watts": parse_number(fields.get("normpower")),
            "elev_high": parse_number(fields.get("maxelevation")),
            "elev_low": parse_number(fields.get("minelevation")),
            "total_elevation_gain": parse_number(fields.get("elevationgain")),
            "steps": parse_whole(fields.get("steps")),
            "moving_time": round(moving) if moving else None,
        },
    )


def _day(fields: Mapping[str, Any]) -> Iterator[Row]:
    """Read a day of the API or the archive, its names in lower case."""
    moderate, vigorous = (
        parse_number(fields.get(f"{name}intensityminutes"))
        for name in ("moderate", "vigorous")
    )
    bpm = {
        "min_bpm": parse_whole(fields.get("minheartrate")),
        "max_bpm": parse_whole(fields.get("maxheartrate")),
        "resting_bpm": parse_whole(fields.get("restingheartrate")),
    }
    yield make_summary(
        "activity",
        _WATCH,
        {
            "calendar_date": str(fields.get("calendardate") or "")[:10],
            "steps": parse_whole(fields.get("totalsteps")),
            "distance": parse_number(fields.get("totaldistancemeters")),
            "calories_total": parse_number(fields.get("totalkilocalories")),
            "calories_active": parse_number(fields.get("activekilocalories")),
            "floors_climbed": parse_whole(fields.get("floorsascended")),
            "medium": moderate,
            "high": vigorous,
            "heart_rate": bpm if any(bpm.values()) else None,
        },
    )


def _weighed(cells: Cells) -> Iterator[Row]:
    """Read a weight in grams, at the moment of its sample."""
    grams = parse_number(cells.first("weight"))
    kilograms = None if grams is None else grams / 1000
    at = _utc(cells.first("timestampgmt"))
    yield make_sample("body_weight", _SCALE, kilograms, at)
    fat = parse_number(cells.first("bodyfat"))
    if fat is not None:
        yield make_sample("body_fat", _SCALE, fat, at)


def _night(night: Mapping[str, Any]) -> Iterator[Row]:
    start, end = (
        _utc(str(night.get(f"sleep{name}timestampgmt") or "").replace("T", " "))
        for name in ("start", "end")
    )
    if start is None or end is None:
        yield SkippedRows(DropReason.NO_VALUE, "sleep")
        return
    yield make_summary(
        "sleep",
        _WATCH,
        {
            "calendar_date": night.get("calendardate"),
            "bedtime_start": start,
            "bedtime_stop": end,
            "deep": parse_whole(night.get("deepsleepseconds")),
            "light": parse_whole(night.get("lightsleepseconds")),
            "rem": parse_whole(night.get("remsleepseconds")),
            "awake": parse_whole(night.get("awakesleepseconds")),
        },
    )


def _summarized(fields: Mapping[str, Any]) -> Iterator[Row]:
    """Read an activity of the archive: centimeters and milliseconds."""
    start = _utc(fields.get("begintimestamp") or fields.get("starttimegmt"))
    lasted = parse_number(fields.get("elapsedduration")) or parse_number(
        fields.get("duration")
    )
    if start is None or not lasted:
        yield SkippedRows(DropReason.BAD_TIME, "activity")
        return
    centimeters = parse_number(fields.get("distance"))
    yield make_summary(
        "workouts",
        _WATCH,
        {
            "time_start": start,
            "time_end": add_seconds(start, lasted / 1000),
            "provider_id": str(fields.get("activityid") or ""),
            "title": str(fields.get("name") or "")[:1000],
            "sport": make_sport(str(fields.get("activitytype") or "")),
            "distance": None if centimeters is None else centimeters / 100,
            "average_hr": parse_whole(fields.get("avghr")),
            "max_hr": parse_whole(fields.get("maxhr")),
            "steps": parse_whole(fields.get("steps")),
        },
    )


def _items(prefix: str, convert: Any) -> Any:
    def read(member: Member, _head: Head, _reading: Reading) -> Iterator[Row]:
        for item in iterate_items(member, prefix):
            if isinstance(item, dict):
                yield from convert({name.lower(): each for name, each in item.items()})
            else:
                yield SkippedRows(DropReason.BAD_ROW, prefix)

    return read


_FORMAT = ImportFormat.GARMIN
_ARCHIVED = "item.summarizedActivitiesExport.item"
FORMS = (
    Form("Garmin activities", _FORMAT, _rows(_LIST, _listed), columns=_LIST),
    Form("Garmin gcexport", _FORMAT, _rows(_EXPORT, _exported), columns=_EXPORT),
    Form("Garmin activities (API)", _FORMAT, _rows(_API, _activity), columns=_API),
    Form("Garmin days", _FORMAT, _rows(_DAY, _day), columns=_DAY),
    Form("Garmin weights", _FORMAT, _rows(_WEIGHT, _weighed), columns=_WEIGHT),
    Form(
        "Garmin activities (archive)",
        _FORMAT,
        _items(_ARCHIVED, _summarized),
        "json",
        keys=(("item", ("summarizedActivitiesExport",)),),
    ),
    Form(
        "Garmin days (archive)",
        _FORMAT,
        _items("item", _day),
        "json",
        keys=(("item", ("calendarDate", "totalSteps")),),
    ),
    Form(
        "Garmin nights (archive)",
        _FORMAT,
        _items("item", _night),
        "json",
        keys=(("item", ("sleepStartTimestampGMT", "sleepEndTimestampGMT")),),
    ),
)
PROVIDER = "garmin"
