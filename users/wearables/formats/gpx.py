"""GPX tracks with times: a workout each, and its points as a stream (library: gpxpy).

Heart rate, cadence, power and temperature are Garmin's extensions
(TrackPointExtension 1 and 2), which others write as well. A track without times, a
route or a list of places is no workout.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import gpxpy
import gpxpy.gpx

from users.states.imports import DropReason, ImportFormat, ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import MergedRows, Origin, Row, SkippedRows, StreamRow
from users.wearables.formats.tracks import Points
from users.wearables.formats.uploads.forms import Form, make_sport, make_summary
from users.wearables.formats.uploads.values import parse_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

# Ours: a day at a point a second is 20 MB, and the library holds the document whole.
DOCUMENT_MAX = 48 * 1024**2
# By the start of the creator: the source that wrote it.
_CREATORS = {"garmin": "garmin", "strava": "strava", "apple health": "apple_health_kit"}
_EXTENSIONS = {
    "hr": "heartrate",
    "cad": "cadence",
    "power": "power",
    "pwr": "power",
    "watts": "power",
    "atemp": "temperature",
    "speed": "velocity_smooth",
}
_ENTITY = re.compile("<!ENTITY", re.IGNORECASE)
# One is not XML 1.0 and stands in files of iOS and old bike computers all the same.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read_document(member: Member, head: Head, saw: str) -> str:
    """Return an XML document as text, without what XML forbids. Raises: FileRefused."""
    with member.open() as opened:
        content = opened.read(DOCUMENT_MAX + 1)
    if len(content) > DOCUMENT_MAX:
        raise FileRefused(ImportRefusal.UNPACKS_TOO_LARGE, saw)
    text = content.decode(head.encoding, "replace").removeprefix("\ufeff").lstrip()
    if _ENTITY.search(text):
        raise FileRefused(ImportRefusal.NOT_ALLOWED_XML, saw)
    # The text is decoded: what the declaration says of bytes holds no longer.
    text = re.sub(r"\A<\?xml[^>]*\?>", "", text)
    return _FORBIDDEN.sub("", text)


def _read(member: Member, head: Head, reading: Reading) -> Iterator[Row]:
    document = read_document(member, head, "a GPX file")
    try:
        parsed = gpxpy.parse(document)
    except (gpxpy.gpx.GPXException, ValueError, TypeError, KeyError, RecursionError):
        raise FileRefused(ImportRefusal.DAMAGED, "a GPX file") from None
    creator = (parsed.creator or "").lower()
    provider = next(
        (slug for word, slug in _CREATORS.items() if creator.startswith(word)), ""
    )
    origin = Origin(provider=provider)
    rows = 0
    for track in parsed.tracks:
        points = Points(reading.context.now)
        untimed = 0
        for segment in track.segments:
            for point in segment.points:
                if point.time is None:
                    untimed += 1
                    continue
                points.add(point.time.timestamp(), _values(point))
        if untimed:
            yield SkippedRows(DropReason.BAD_TIME, "track point", untimed)
        points.drop_strays()
        element = points.workout()
        if element is None:
            continue
        rows += 1
        element |= {
            "title": (track.name or "")[:1000],
            "sport": make_sport(track.type or ""),
            "distance": round(track.length_2d(), 1) or None,
        }
        yield from track_rows(reading, member, origin, element, points)
    others = len(parsed.waypoints) + sum(len(each.points) for each in parsed.routes)
    if others:
        yield SkippedRows(DropReason.UNKNOWN_KIND, "waypoint", others)
    if not rows and not others:
        yield SkippedRows(DropReason.NO_VALUE, "track")


def _values(point: Any) -> dict[str, float | None]:
    found: dict[str, float | None] = {
        "lat": point.latitude,
        "lng": point.longitude,
        "altitude": point.elevation,
        "velocity_smooth": getattr(point, "speed", None),
    }
    for extension in point.extensions:
        for element in extension.iter():
            name = _EXTENSIONS.get(str(element.tag).rpartition("}")[2].lower())
            if name is not None:
                found[name] = parse_number(element.text)
    return found


def track_rows(
    reading: Reading,
    member: Member,
    origin: Origin,
    element: dict[str, Any],
    points: Points,
) -> Iterator[Row]:
    """Yield a workout with its stream, or the stream alone of one that is known.

    An archive can list its recordings by name with their workouts (Strava).
    """
    name = member.name.rsplit("/", 1)[-1].removesuffix(".gz")
    known = reading.kept.get("recordings", {}).get(name)
    seconds = points.seconds
    body = points.stream(seconds[0], seconds[-1]) if seconds else None
    if known is None:
        row = make_summary("workouts", origin, element)
        yield row
        known = row.element
    if body is not None:
        yield StreamRow(known, body, origin)
    yield MergedRows(points.taken)
    if points.bad:
        yield SkippedRows(DropReason.BAD_POINT, "track point", points.bad)


FORMS = (Form("GPX track", ImportFormat.GPX, _read, "xml", root="gpx"),)
PROVIDER = ""
