"""TCX activities: a workout, and its points as a stream (library: tcxreader).

Garmin's Training Center format, which most watches and platforms write; times are UTC
(TrainingCenterDatabase v2). An activity without points has its laps alone.
"""

from __future__ import annotations

import io
from datetime import UTC
from typing import TYPE_CHECKING, Any

from lxml import etree
from tcxreader.tcxreader import TCXReader

from users.states.imports import DropReason, ImportFormat, ImportRefusal
from users.wearables.formats.gpx import read_document, track_rows
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import Origin, Row, SkippedRows
from users.wearables.formats.tracks import Points
from users.wearables.formats.uploads.forms import Form, make_sport
from users.wearables.formats.uploads.values import (
    add_seconds,
    parse_number,
    parse_whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_EXTENSIONS = {"Speed": "velocity_smooth", "Watts": "power"}
_FAULTS: tuple[type[Exception], ...] = (
    etree.XMLSyntaxError,
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    RecursionError,
)


def _read(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
    document = read_document(member, head, "a TCX file")
    try:
        exercise = TCXReader().read(io.StringIO(document), only_gps=False)
        laps = _laps(document)
    except _FAULTS:
        raise FileRefused(ImportRefusal.DAMAGED, "a TCX file") from None
    points = Points(reading.context.now)
    for point in exercise.trackpoints:
        if point.time is None:
            yield SkippedRows(DropReason.BAD_TIME, "track point")
            continue
        points.add(point.time.replace(tzinfo=UTC).timestamp(), _values(point))
    origin = Origin()
    points.drop_strays()
    element = points.workout() or _workout_of_laps(laps)
    if element is None:
        yield SkippedRows(DropReason.NO_VALUE, "activity")
        return
    sums = {
        name: sum(known)
        for name, tag in (("calories", "Calories"), ("distance", "DistanceMeters"))
        if (known := [each[tag] for each in laps if each.get(tag) is not None])
    }
    element |= {
        "sport": make_sport(exercise.activity_type or ""),
        **{name: value for name, value in sums.items() if value},
    }
    yield from track_rows(reading, member, origin, element, points)


def _values(point: Any) -> dict[str, float | None]:
    extra = point.tpx_ext or {}
    return {
        "lat": point.latitude,
        "lng": point.longitude,
        "altitude": point.elevation,
        "distance": point.distance,
        "heartrate": point.hr_value,
        "cadence": point.cadence,
        **{ours: parse_number(extra.get(name)) for name, ours in _EXTENSIONS.items()},
    }


def _laps(document: str) -> list[dict[str, Any]]:
    """Return start, duration and sums of each lap, which the library leaves out."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    root = etree.fromstring(document.encode(), parser)
    laps = []
    for lap in root.iter("{*}Lap"):
        found: dict[str, Any] = {"start": lap.get("StartTime")}
        for tag in ("TotalTimeSeconds", "DistanceMeters", "Calories"):
            found[tag] = parse_number(lap.findtext(f"{{*}}{tag}"))
        for tag in ("AverageHeartRateBpm", "MaximumHeartRateBpm"):
            found[tag] = parse_whole(lap.findtext(f"{{*}}{tag}/{{*}}Value"))
        laps.append(found)
    return laps


def _workout_of_laps(laps: list[dict[str, Any]]) -> dict[str, Any] | None:
    lasted = sum(each["TotalTimeSeconds"] or 0 for each in laps)
    if not lasted or not laps[0]["start"]:
        return None
    end = add_seconds(laps[-1]["start"], laps[-1]["TotalTimeSeconds"] or 0)
    rates = [each["MaximumHeartRateBpm"] for each in laps]
    return {
        "time_start": laps[0]["start"],
        "time_end": end or add_seconds(laps[0]["start"], lasted),
        "moving_time": round(lasted),
        "max_hr": max((each for each in rates if each), default=None),
    }


FORMS = (
    Form("TCX activity", ImportFormat.TCX, _read, "xml", root="TrainingCenterDatabase"),
)
PROVIDER = ""
