"""FIT files of watches, bike computers and scales: workouts, streams and measures.

What can be read of a damaged file is kept: an activity without its checksum, session or
type is a workout of its points. Fields and messages: Garmin FIT SDK, Profile.xlsx
21.141 (through the library fitdecode 0.11).
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import fitdecode

from users.states import SourceType
from users.states.imports import DropReason, ImportFormat, ImportRefusal
from users.wearables.formats.fit_fields import (
    build_sport,
    find_clock_offset,
    find_first_number,
    find_session_span,
    find_timestamp,
    get_field,
    read_sport,
    unpack_12_bits,
)
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import (
    MergedRows,
    Origin,
    ReportedDevice,
    SkippedRows,
    StreamRow,
    SummaryRow,
)
from users.wearables.formats.tracks import Points
from users.wearables.formats.uploads.forms import Form, make_sample, make_summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from users.wearables.formats.rows import Row
    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member
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
# Of scales: our resource by the field of `weight_scale`.
_SCALE = {"weight": "body_weight", "percent_fat": "body_fat"}
# Files that hold settings and plans, and nothing measured.
_PLANS = {
    "device": "device file",
    "settings": "settings file",
    "sport": "settings file",
    "workout": "planned workout",
    "course": "course",
    "schedules": "schedule",
    "goals": "goals file",
    "totals": "totals file",
    "segment": "segment",
    "segment_list": "segment list",
}
_BROKEN: tuple[type[Exception], ...] = (
    fitdecode.FitError,
    AssertionError,  # of lengths that go past the end of the file
    struct.error,
    ValueError,
    KeyError,
    TypeError,
    OverflowError,
    IndexError,
    EOFError,
)
_HOURS_16_BITS = 2**16
_STRAP_TICKS = 1024
_FIT_EPOCH = 631_065_600


class FitFile:
    """The messages of one file: a workout or several, their points, and measures."""

    def __init__(self, path: Path, context: Context) -> None:
        self._path = path
        self._size = path.stat().st_size
        self._context = context
        self._provider = ""
        self._maker = ""
        self._device: ReportedDevice | None = None
        self._type: str | None = None
        self._is_damaged = False
        self._messages = 0
        self._sessions: list[Any] = []
        self._points = Points(context.now)
        self._measures: list[Row] = []
        self._offset: int | None = None
        self._clock = 0
        self._rates: list[tuple[float, int]] = []
        self._strap_clock: float | None = None
        self._strap_ticks = 0

    def rows(self) -> Iterator[Row]:
        """Yield workouts, streams, measures and what was lost. Raises: FileRefused."""
        if self._size > BYTES_MAX:
            raise FileRefused(ImportRefusal.TOO_LARGE, "a FIT file")
        try:
            self._read()
        except _BROKEN:
            self._is_damaged = True
        if not self._messages:
            raise FileRefused(ImportRefusal.DAMAGED, "a FIT file")
        self._add_swim_rates()
        workouts = list(self._workouts())
        if not workouts and not self._measures:
            name = _PLANS.get(self._type or "")
            if name is not None:
                raise FileRefused(ImportRefusal.NO_ROWS, f"a FIT {name}")
            reason = (
                ImportRefusal.DAMAGED if self._is_damaged else ImportRefusal.NO_ROWS
            )
            raise FileRefused(reason, "a FIT file")
        yield from workouts
        yield from self._measures
        if self._points.taken:
            yield MergedRows(self._points.taken)
        if self._points.bad:
            yield SkippedRows(DropReason.BAD_POINT, "track point", self._points.bad)
        if self._is_damaged:
            yield SkippedRows(DropReason.SALVAGED, "FIT file")

    @property
    def _origin(self) -> Origin:
        # A maker who is no source of its own keeps its name.
        app = None if self._provider else self._maker or None
        return Origin(app_id=app, device=self._device, provider=self._provider)

    def _read(self) -> None:
        readers = {
            "record": self._add_point,
            "session": self._sessions.append,
            "activity": self._add_clock,
            "file_id": self._take_device,
            "hr": self._add_rates,
            "length": self._add_length,
            "weight_scale": self._add_weight,
            "blood_pressure": self._add_pressure,
            "monitoring": self._add_monitoring,
        }
        with fitdecode.FitReader(
            self._path,
            check_crc=fitdecode.CrcCheck.READONLY,
            error_handling=fitdecode.ErrorHandling.IGNORE,
        ) as frames:
            for frame in frames:
                if frame.frame_type == fitdecode.FIT_FRAME_CRC:
                    self._is_damaged |= not frame.matched
                if frame.frame_type != fitdecode.FIT_FRAME_DATA:
                    continue
                self._messages += 1
                read = readers.get(frame.name)
                if read is not None:
                    read(frame)

    def _take_device(self, frame: Any) -> None:
        if self._maker:  # files one after the other in one
            return
        self._type = get_field(frame, "type")
        maker = str(get_field(frame, "manufacturer") or "")
        self._maker = maker
        self._provider = _PROVIDERS.get(maker, "")
        serial = get_field(frame, "serial_number")
        product = get_field(frame, "product")
        if serial is not None:
            model = None if product is None else str(product)
            self._device = ReportedDevice(
                f"{maker}/{product}/{serial}", maker or None, model
            )

    def _add_point(self, frame: Any) -> None:
        at = get_field(frame, "timestamp")
        if not isinstance(at, datetime):
            self._points.bad += 1
            return
        point: dict[str, float | None] = {}
        for channel, fields in _CHANNELS.items():
            value = find_first_number(frame, fields)
            if value is not None and channel in ("lat", "lng"):
                value *= _DEGREES
            point[channel] = value
        self._points.add(at.timestamp(), point)

    def _add_rates(self, frame: Any) -> None:
        """Add heart rates that a strap kept under water and sent afterwards.

        The first message gives the strap's clock at a moment. Later ones have the last
        12 bits of its ticks, two in three bytes. Source: FIT SDK, HR plugin.
        """
        begins = get_field(frame, "timestamp")
        ticks = get_field(frame, "event_timestamp")
        if isinstance(begins, datetime) and type(ticks) in (int, float):
            part = find_first_number(frame, ("fractional_timestamp",)) or 0
            self._strap_clock = begins.timestamp() + part - ticks
            self._strap_ticks = round(ticks * _STRAP_TICKS)
            rate = find_first_number(frame, ("filtered_bpm",))
            if rate:
                self._rates.append((begins.timestamp() + part, round(rate)))
        rates = get_field(frame, "filtered_bpm")
        packed = get_field(frame, "event_timestamp_12")
        if self._strap_clock is None or not isinstance(packed, tuple):
            return
        rates = rates if isinstance(rates, tuple) else (rates,)
        for short, rate in zip(unpack_12_bits(packed), rates, strict=False):
            self._strap_ticks += (short - self._strap_ticks) % 4096
            if type(rate) is int and rate:
                at = self._strap_clock + self._strap_ticks / _STRAP_TICKS
                self._rates.append((at, rate))

    def _add_swim_rates(self) -> None:
        for at, rate in self._rates:
            self._points.add(at, {"heartrate": rate})

    def _add_length(self, frame: Any) -> None:
        """Add a length of a pool as a point at its end."""
        start = get_field(frame, "start_time")
        lasted = find_first_number(frame, ("total_elapsed_time",))
        if isinstance(start, datetime) and lasted is not None:
            speed = find_first_number(frame, ("avg_speed",))
            cadence = find_first_number(frame, ("avg_swimming_cadence",))
            values = {"velocity_smooth": speed, "cadence": cadence}
            self._points.add(start.timestamp() + lasted, values)

    def _add_weight(self, frame: Any) -> None:
        origin = self._origin._replace(source_type=str(SourceType.SCALE))
        for field, slug in _SCALE.items():
            value = find_first_number(frame, (field,))
            if value is not None:
                self._measures.append(
                    make_sample(slug, origin, value, find_timestamp(frame))
                )

    def _add_pressure(self, frame: Any) -> None:
        origin = self._origin._replace(source_type=str(SourceType.CUFF))
        systolic = find_first_number(frame, ("systolic_pressure",))
        diastolic = find_first_number(frame, ("diastolic_pressure",))
        self._measures.append(
            make_sample(
                "blood_pressure",
                origin,
                systolic,
                find_timestamp(frame),
                diastolic=diastolic,
            )
        )

    def _add_monitoring(self, frame: Any) -> None:
        """Add a heart rate of the day, whose clock has 16 bits beside the last whole.

        Sums of steps of the day are left out: what each adds is not told.
        """
        at = get_field(frame, "timestamp")
        if isinstance(at, datetime):
            self._clock = int(at.timestamp()) - _FIT_EPOCH
        short = get_field(frame, "timestamp_16")
        if type(short) is int and self._clock:
            self._clock += (short - self._clock) % _HOURS_16_BITS
        rate = find_first_number(frame, ("heart_rate",))
        if rate is None or not self._clock:
            self._measures.append(SkippedRows(DropReason.UNKNOWN_KIND, "monitoring"))
            return
        moment = datetime.fromtimestamp(self._clock + _FIT_EPOCH, UTC).isoformat()
        origin = self._origin._replace(source_type=str(SourceType.WATCH))
        self._measures.append(make_sample("heartrate", origin, rate, moment))

    def _add_clock(self, frame: Any) -> None:
        self._offset = find_clock_offset(frame)

    def _workouts(self) -> Iterator[Row]:
        spans = [
            each for session in self._sessions if (each := find_session_span(session))
        ]
        seconds = self._points.seconds
        if not spans:
            yield from self._workout_of_points()
            return
        streams = []
        for number, (session, start, end) in enumerate(spans):
            element = self._element(session, start, end)
            row = make_summary("workouts", self._origin, element)
            yield row
            last = int(end.timestamp())
            if number == len(spans) - 1 and seconds:
                # A watch can write on after the end that it states.
                last = max(last, seconds[-1])
            body = self._points.stream(int(start.timestamp()), last)
            if body is not None:
                streams.append(StreamRow(row.element, body, self._origin))
        yield from streams

    def _workout_of_points(self) -> Iterator[Row]:
        self._points.drop_strays()
        element = self._points.workout()
        if element is None:
            return
        self._is_damaged = True  # its session is missing
        element |= {"sport": build_sport("other", None)}
        if self._offset is not None:
            element["timezone_offset"] = self._offset
        row = make_summary("workouts", self._origin, element)
        yield row
        seconds = self._points.seconds
        body = self._points.stream(seconds[0], seconds[-1])
        if body is not None:
            yield StreamRow(row.element, body, self._origin)

    def _element(self, session: Any, start: datetime, end: datetime) -> dict[str, Any]:
        element: dict[str, Any] = {
            "time_start": start.isoformat(),
            "time_end": end.isoformat(),
            "sport": read_sport(session),
            "timezone_offset": self._offset,
        }
        for name, fields in _SESSION.items():
            value = find_first_number(session, fields)
            if value is not None:
                element[name] = round(value) if name in _WHOLE else value
        return element


def _read_member(member: Member, _head: Head, reading: Reading) -> Iterator[Row]:
    with member.as_path() as path:
        rows = list(FitFile(path, reading.context).rows())
    name = member.name.rsplit("/", 1)[-1].removesuffix(".gz")
    known = reading.kept.get("recordings", {}).get(name)
    for row in rows:
        if known is None:
            yield row
        elif isinstance(row, StreamRow):
            # The workout is in the archive's own list, and this is its recording.
            yield StreamRow(known, row.body)
        elif not isinstance(row, SummaryRow):
            yield row


FORMS = (Form("FIT activity", ImportFormat.FIT, _read_member, "fit"),)
PROVIDER = ""
