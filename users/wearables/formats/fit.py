"""FIT activities of sports watches and bike computers: workouts and their streams."""

from __future__ import annotations

import struct
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import fitdecode

from users.states.imports import ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import (
    MergedRows,
    Origin,
    ReportedDevice,
    StreamRow,
    SummaryRow,
)
from users.wearables.streams import POINTS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from users.wearables.formats.rows import Row
    from users.wearables.readings import Context

# Ours: a day and a night at one point a second is about 10 MB.
BYTES_MAX = 100 * 1024**2
# Makers of devices that are sources of their own; all else is the caller's.
_PROVIDERS = {
    "garmin": "garmin",
    "dynastream": "garmin",
    "wahoo_fitness": "wahoo",
    "polar_electro": "polar",
    "hammerhead": "hammerhead",
    "zwift": "zwift",
    "zwift_byte": "zwift",
    "peloton": "peloton",
    "strava": "strava",
}
_DEGREES = 180 / 2**31
# Channels by the fields that may bring them, the better one first.
_CHANNELS: dict[str, tuple[str, ...]] = {
    "heartrate": ("heart_rate",),
    "cadence": ("cadence",),
    "altitude": ("enhanced_altitude", "altitude"),
    "velocity_smooth": ("enhanced_speed", "speed"),
    "lat": ("position_lat",),
    "lng": ("position_long",),
    "distance": ("distance",),
    "power": ("power",),
    "resistance": ("resistance",),
    "temperature": ("temperature",),
}
_SESSION: dict[str, tuple[str, ...]] = {
    "average_hr": ("avg_heart_rate",),
    "max_hr": ("max_heart_rate",),
    "distance": ("total_distance",),
    "calories": ("total_calories",),
    "moving_time": ("total_moving_time", "total_timer_time"),
    "total_elevation_gain": ("total_ascent",),
    "elev_high": ("enhanced_max_altitude", "max_altitude"),
    "elev_low": ("enhanced_min_altitude", "min_altitude"),
    "average_speed": ("enhanced_avg_speed", "avg_speed"),
    "max_speed": ("enhanced_max_speed", "max_speed"),
    "average_watts": ("avg_power",),
    "max_watts": ("max_power",),
    "weighted_average_watts": ("normalized_power",),
}
_WHOLE = {"average_hr", "max_hr", "moving_time", "heartrate"}
# FIT's numbers of sports, by the decoder's words for them.
_SPORTS = {
    "running": 1,
    "cycling": 2,
    "transition": 3,
    "fitness_equipment": 4,
    "swimming": 5,
    "basketball": 6,
    "soccer": 7,
    "tennis": 8,
    "american_football": 9,
    "training": 10,
    "walking": 11,
    "cross_country_skiing": 12,
    "alpine_skiing": 13,
    "snowboarding": 14,
    "rowing": 15,
    "mountaineering": 16,
    "hiking": 17,
    "multisport": 18,
    "paddling": 19,
    "e_biking": 21,
}


class FitReader:
    """A reader of FIT files: one activity or several."""

    def __init__(self, path: Path, context: Context) -> None:
        self.provider = context.provider
        self.bytes_total = path.stat().st_size
        self.bytes_read = 0
        self._path = path
        self._origin = Origin()
        self._sessions: list[Any] = []
        self._points: dict[int, dict[str, float | int]] = {}
        self._offset: int | None = None

    def rows(self) -> Iterator[Row]:
        """Yield all rows after checking the checksum. Raises: FileRefused."""
        if self.bytes_total > BYTES_MAX:
            raise FileRefused(ImportRefusal.TOO_LARGE)
        try:
            points = self._read()
        except (fitdecode.FitError, struct.error, ValueError, KeyError, TypeError):
            raise FileRefused(ImportRefusal.DAMAGED) from None
        if not self._sessions:
            raise FileRefused(ImportRefusal.NO_ROWS)
        yield from self._workouts()
        if points:
            yield MergedRows(points)

    def _read(self) -> int:
        """Read all messages; return the number of points."""
        points = 0
        with fitdecode.FitReader(
            self._path,
            check_crc=fitdecode.CrcCheck.RAISE,
            error_handling=fitdecode.ErrorHandling.IGNORE,
        ) as frames:
            for frame in frames:
                if frame.frame_type != fitdecode.FIT_FRAME_DATA:
                    continue
                self.bytes_read += 1  # no more is told; it takes a second
                if frame.name == "record":
                    points += 1
                    self._add_point(frame)
                elif frame.name == "session":
                    self._sessions.append(frame)
                elif frame.name == "activity":
                    self._offset = _clock_offset(frame)
                elif frame.name == "file_id":
                    self._take_device(frame)
        self.bytes_read = self.bytes_total
        return points

    def _take_device(self, frame: Any) -> None:
        if _value(frame, "type") != "activity":
            raise FileRefused(ImportRefusal.UNSUPPORTED)
        maker = str(_value(frame, "manufacturer") or "")
        self.provider = _PROVIDERS.get(maker, self.provider)
        serial = _value(frame, "serial_number")
        product = _value(frame, "product")
        if serial is not None:
            model = None if product is None else str(product)
            device = ReportedDevice(f"{maker}/{product}/{serial}", maker or None, model)
            self._origin = Origin(device=device)

    def _add_point(self, frame: Any) -> None:
        at = _value(frame, "timestamp")
        if not isinstance(at, datetime):
            return
        point: dict[str, float | int] = {}
        for channel, fields in _CHANNELS.items():
            value = _first_number(frame, fields)
            if value is not None:
                if channel in ("lat", "lng"):
                    value *= _DEGREES
                point[channel] = round(value) if channel in _WHOLE else value
        self._points[int(at.timestamp())] = point

    def _workouts(self) -> Iterator[Row]:
        streams = []
        for session in self._sessions:
            element, start, end = self._workout(session)
            yield SummaryRow("workouts", self._origin, element)
            body = self._stream(int(start.timestamp()), int(end.timestamp()))
            if body is not None:
                streams.append(StreamRow(element, body))
        yield from streams

    def _workout(self, session: Any) -> tuple[dict[str, Any], datetime, datetime]:
        start = _value(session, "start_time")
        lasted = _first_number(session, ("total_elapsed_time", "total_timer_time"))
        if not isinstance(start, datetime) or lasted is None:
            raise FileRefused(ImportRefusal.DAMAGED)
        end = start + timedelta(seconds=lasted)
        element: dict[str, Any] = {
            "time_start": start.isoformat(),
            "time_end": end.isoformat(),
            "sport": _sport(session),
        }
        if self._offset is not None:
            element["timezone_offset"] = self._offset
        for name, fields in _SESSION.items():
            value = _first_number(session, fields)
            if value is not None:
                element[name] = round(value) if name in _WHOLE else value
        return element, start, end

    def _stream(self, start: int, end: int) -> dict[str, list[Any]] | None:
        seconds = sorted(each for each in self._points if start <= each <= end)
        seconds = seconds[:POINTS_MAX]
        if not seconds:
            return None
        body: dict[str, list[Any]] = {"time": seconds}
        for channel in _CHANNELS:
            values = [self._points[each].get(channel) for each in seconds]
            if any(value is not None for value in values):
                body[channel] = values
        return body


def _value(frame: Any, name: str) -> Any:
    return frame.get_value(name, fallback=None)


def _first_number(frame: Any, fields: tuple[str, ...]) -> float | None:
    for name in fields:
        value = _value(frame, name)
        if type(value) in (int, float):
            return value  # type: ignore[no-any-return]  # one of the two
    return None


def _sport(session: Any) -> dict[str, Any]:
    """Return FIT's sport by name, or by number if unknown."""
    sport = _value(session, "sport")
    if isinstance(sport, int):
        return {"id": sport, "name": f"Sport {sport}", "slug": f"sport_{sport}"}
    slug = (
        sport if isinstance(sport, str) and sport not in ("all", "generic") else "other"
    )
    name = slug.replace("_", " ").capitalize()
    return {"id": _SPORTS.get(slug, 0), "name": name, "slug": slug}


def _clock_offset(activity: Any) -> int | None:
    """Return the UTC offset of the device's clock, if the file has it."""
    at, local = _value(activity, "timestamp"), _value(activity, "local_timestamp")
    if not isinstance(at, datetime) or not isinstance(local, datetime):
        return None
    # The decoder calls the wall clock UTC. Clocks of the world differ by quarters.
    quarters = round((local - at).total_seconds() / 900)
    return quarters * 900 if abs(quarters) <= 14 * 4 else None
