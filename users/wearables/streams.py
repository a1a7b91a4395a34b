"""Workout streams: channels, parsing, and seconds by heart rate.

A stream is an object of index-aligned arrays (contract 5.3).
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import orjson

from portal.lib.errors import DomainError
from users.wearables.payloads import EVENT_SOURCE, build_event_source
from users.wearables.readings import (
    FAULTS_MAX,
    Fault,
    Schema,
    build_closed_object_schema,
    build_nullable_schema,
    format_violated_bound,
)
from users.wearables.values import AHEAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from uuid import UUID

    from users.queries import SummaryRow

# Ours: a day and a night at one a second, and some; with all channels at full length
# it is what a body may hold (portal.lib.api.json).
POINTS_MAX = 100_000
# Ours: a recorder that says nothing for longer was paused.
PAUSE_SECONDS = 30
_LEVEL = 6
_YEAR_1990 = 631_152_000
_NONE = type(None)


@dataclass(frozen=True, slots=True)
class Channel:
    """One array of a stream; bounds are included, a null is a point without a value."""

    name: str
    unit: str
    low: float
    high: float
    is_whole: bool = False
    has_nulls: bool = True

    def faults(self, values: Sequence[Any]) -> Iterator[Fault]:
        """Yield the faults with their index."""
        taken: set[type] = {int} if self.is_whole else {int, float}
        if self.has_nulls:
            taken.add(_NONE)
        # Over columns first: a stream has a million values, and next to none is bad.
        if set(map(type, values)) <= taken:
            items = [value for value in values if value is not None]
            # A NaN hides from min and max, not from the sum.
            if not items or (
                self.low <= min(items)
                and max(items) <= self.high
                and isfinite(sum(items))
            ):
                return
        for index, value in enumerate(values):
            # A NaN is not even equal to itself.
            if type(value) not in taken or value != value:
                kind = "int_parsing" if self.is_whole else "value_error"
                yield Fault(
                    (self.name, index),
                    f"Send {'an integer' if self.is_whole else 'a number'}.",
                    kind,
                )
            elif value is not None and value < self.low:
                yield Fault(
                    (self.name, index),
                    f"Must be at least {format_violated_bound(self.low)}.",
                    "greater_than_equal",
                )
            elif value is not None and value > self.high:
                yield Fault(
                    (self.name, index),
                    f"Must be at most {format_violated_bound(self.high)}.",
                    "less_than_equal",
                )

    @property
    def schema(self) -> Schema:
        """Return the JSON Schema of the array, null if the channel is absent."""
        item: Schema = {"type": "integer" if self.is_whole else "number"}
        items = build_nullable_schema(item) if self.has_nulls else item
        array: Schema = {"type": "array", "items": items, "description": self.unit}
        return build_nullable_schema(array)


TIME = Channel(
    "time", "unix seconds", _YEAR_1990, 2**40, is_whole=True, has_nulls=False
)
HEART_RATE = Channel("heartrate", "bpm", 0, 400, is_whole=True)
CHANNELS = (
    TIME,
    HEART_RATE,
    Channel("cadence", "rpm", 0, 1000),
    Channel("altitude", "m", -1000, 10_000),
    Channel("velocity_smooth", "m/s", 0, 1000),
    Channel("lat", "degree", -90, 90),
    Channel("lng", "degree", -180, 180),
    Channel("distance", "m from start", 0, 1e8),
    Channel("power", "W", 0, 10_000),
    Channel("resistance", "scalar", -1e6, 1e6),
    Channel("temperature", "degree C", -100, 200),
)
# Its name in events, arrivals and introspection (contract 3.4).
STREAM_RESOURCE = "workout_stream"
STREAM_SCHEMA: Schema = {
    "type": "object",
    "properties": {channel.name: channel.schema for channel in CHANNELS},
    "required": [channel.name for channel in CHANNELS],
}
STREAM_INPUT_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        channel.name: {**channel.schema, "maxItems": POINTS_MAX} for channel in CHANNELS
    },
}


EVENT_SCHEMA: Schema = build_closed_object_schema(
    {
        "message": {"type": "string"},
        "provider_id": {"type": "string"},
        "sport": build_closed_object_schema(
            {
                "id": {"type": "integer"},
                "name": {"type": "string"},
                "slug": {"type": "string"},
            }
        ),
        "workout_id": {"type": "string", "format": "uuid"},
        "source": EVENT_SOURCE,
        "user_id": {"type": "string", "format": "uuid"},
    }
)
_OTHER_SPORT = {"id": 0, "name": "Other", "slug": "other"}


class StreamInvalid(DomainError):
    """The stream is invalid; `faults` are located below the body."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("stream_invalid", "The stream is not valid.", "body")
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Stream:
    """A parsed stream.

    `content` is the answer of contract 5.3, gzipped: every channel, in their order.
    `digest` tells it from another one. `heart_rate_seconds` is how long each heart rate
    (bpm) lasted, None without times or heart rates.
    """

    points: int
    content: bytes
    digest: bytes
    heart_rate_seconds: dict[int, int] | None


def parse_workout_stream(body: Any, *, now: datetime) -> Stream:
    """Parse a stream.

    Channels given are of one length, times never go back, and none lies more than AHEAD
    after `now`. Raises: StreamInvalid, with the first FAULTS_MAX faults.
    """
    channels = _channels(body)
    faults = [
        fault
        for channel in CHANNELS
        if (values := channels[channel.name]) is not None
        for fault in _first(channel.faults(values))
    ]
    times = channels[TIME.name]
    if times is not None and not faults:
        faults += _first(_faults_of_order(times, (now + AHEAD).timestamp()))
    if faults:
        raise StreamInvalid(faults[:FAULTS_MAX])
    plain = orjson.dumps(channels)
    return Stream(
        points=max(len(each) for each in channels.values() if each is not None),
        content=gzip.compress(plain, _LEVEL, mtime=0),
        digest=hashlib.sha256(plain).digest(),
        heart_rate_seconds=_heart_rate_seconds(times, channels[HEART_RATE.name]),
    )


def build_empty_workout_stream() -> bytes:
    """Return the gzipped answer of a workout without a stream: all channels null."""
    return _EMPTY


def workout_stream_event_type(*, is_new: bool) -> str:
    """Return the event type of a first or later stream."""
    return f"daily.data.{STREAM_RESOURCE}.{'created' if is_new else 'updated'}"


def build_workout_stream_event(user_uuid: UUID, workout: SummaryRow) -> dict[str, Any]:
    """Return the data of the event, without the large stream (contract 8.2)."""
    return {
        "message": "The stream of this workout is available at"
        f" /v2/timeseries/workouts/{workout.id}/stream.",
        "provider_id": workout.body["provider_id"],
        "sport": workout.body.get("sport") or _OTHER_SPORT,
        "workout_id": workout.id,
        "source": build_event_source(
            workout.provider, workout.source_type, workout.app_id, workout.device_id
        ),
        "user_id": user_uuid,
    }


def _channels(body: Any) -> dict[str, list[Any] | None]:
    """Return the body's channels by name, of one length. Raises: StreamInvalid."""
    if not isinstance(body, dict):
        raise StreamInvalid([Fault((), "Send an object.", "value_error")])
    channels: dict[str, list[Any] | None] = {}
    for channel in CHANNELS:
        values = body.get(channel.name)
        if values is not None and not isinstance(values, list):
            at = (channel.name,)
            raise StreamInvalid([Fault(at, "Send a list.", "value_error")])
        channels[channel.name] = values
    lengths = {name: len(each) for name, each in channels.items() if each is not None}
    if not lengths or not max(lengths.values()):
        raise StreamInvalid([Fault((), "Send at least one point.", "value_error")])
    first, length = next(iter(lengths.items()))
    for name, each in lengths.items():
        if each > POINTS_MAX:
            few = f"Send at most {POINTS_MAX} points."
            raise StreamInvalid([Fault((name,), few, "value_error")])
        if each != length:
            differs = f"Must have the same length as {first}: {length}."
            raise StreamInvalid([Fault((name,), differs, "value_error")])
    return channels


def _faults_of_order(times: Sequence[int], latest: float) -> Iterator[Fault]:
    before = times[0]
    for index, at in enumerate(times):
        if at < before:
            yield Fault(
                (TIME.name, index),
                "Must not be earlier than the previous time.",
                "value_error",
            )
        elif at > latest:
            yield Fault(
                (TIME.name, index), "Must not be in the future.", "less_than_equal"
            )
        before = at


def _first(faults: Iterator[Fault]) -> list[Fault]:
    return [fault for _, fault in zip(range(FAULTS_MAX), faults, strict=False)]


def _heart_rate_seconds(
    times: Sequence[int] | None, rates: Sequence[int | None] | None
) -> dict[int, int] | None:
    """Return the seconds of each heart rate, until the next point, without pauses."""
    if times is None or rates is None:
        return None
    lasted: dict[int, int] = {}
    for start, end, rate in zip(times, times[1:], rates, strict=False):
        if rate is not None and 0 < end - start <= PAUSE_SECONDS:
            lasted[rate] = lasted.get(rate, 0) + end - start
    return lasted or None


_EMPTY = gzip.compress(
    orjson.dumps({channel.name: None for channel in CHANNELS}), _LEVEL, mtime=0
)
