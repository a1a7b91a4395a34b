"""Parsing of a batch of samples, column by column for speed.

A batch that can't be read is read again sample by sample, to name what is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from portal.lib.periods import SkippedTime, convert_local_time_to_utc, find_day_start
from users.models.data.sample import SPORT_MAX_LENGTH, TYPE_MAX_LENGTH
from users.wearables.readings import (
    FAULTS_MAX,
    ElementsInvalid,
    Fault,
    Record,
    Refused,
    format_violated_bound,
    refuse_parsed_value,
    refuse_unstorable_text,
)
from users.wearables.values import AHEAD, EARLIEST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import tzinfo

    from users.wearables.readings import Context
    from users.wearables.timeseries.resources import TimeseriesResource

SAMPLES_MAX = 10_000  # Contract 5.4
FIRST_MOMENT = find_day_start(EARLIEST, UTC)
# Ours: no sample is of more than a month; what is longer is a summary.
LONGEST = timedelta(days=31)
# By the type of a fault, what has to be sent instead.
_KIND_WORDS = {
    "int_parsing": "an integer",
    "datetime_parsing": "an ISO 8601 date-time",
    "string_type": "a string",
    "value_error": "a number",
    "uuid_parsing": "a UUID",
}
# No clock on earth is further from UTC; some sources still say so.
_FARTHEST = 18 * 3600
# A date-time of ISO 8601, each digit a 0: a batch has few such shapes, so that it need
# not be matched ten thousand times.
_SHAPE = re.compile(rb"0000-00-00[T ]00:00(:00(\.0{1,9})?)?(Z|[+-]00:?00)?", re.ASCII)
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_NONE = type(None)


class Workout(NamedTuple):
    """Workout and sport of a sample, beyond the batch's source (contract 3.4)."""

    workout_id: UUID | None = None
    sport: str | None = None


NO_WORKOUT = Workout()


@dataclass(frozen=True, slots=True)
class SampleReadings:
    """Parsed samples as lists of equal length, in the order sent.

    `ts` is UTC; `tz_offset` and `duration` are seconds, the latter 0 for a point.
    `types` are texts where the resource has a type, else None. `extra` has by index the
    extra keys that a sample has.
    """

    ts: list[datetime]
    tz_offset: list[int]
    duration: list[int]
    value: list[float]
    types: list[str | None]
    workouts: list[Workout]
    extra: dict[int, dict[str, Any]]


def parse_sample_batch(
    resource: TimeseriesResource,
    elements: Sequence[object],
    context: Context,
    stated: Workout = NO_WORKOUT,
) -> SampleReadings:
    """Parse a batch completely or not at all.

    `stated` holds for samples that name no workout or sport of their own. A time
    without offset is wall-clock time at the sample's `timezone_offset`, or else in the
    fallback time zone. A missing offset is taken from the time; `Z` states none (RFC
    9557, 2), so the fallback's is used. Intervals are stored to the second.

    Raises: ElementsInvalid, with the first FAULTS_MAX faults. Source: Contract 5.2,
    5.4, D6; Ours: the rules of offsets and seconds.
    """
    if not 1 <= len(elements) <= SAMPLES_MAX:
        few_or_many = f"Send 1 to {SAMPLES_MAX} samples."
        raise ElementsInvalid([Fault((), few_or_many, "value_error")])
    batch = _Batch(resource, context, stated)
    try:
        return batch.read(elements)
    except Refused:
        faults = islice(batch.faults(elements), FAULTS_MAX)
        raise ElementsInvalid(list(faults)) from None


@dataclass(frozen=True, slots=True)
class _Batch:
    """The parser of one batch."""

    resource: TimeseriesResource
    context: Context
    stated: Workout

    def read(self, elements: Sequence[Any]) -> SampleReadings:
        """Parse the batch. Raises: Refused, with a single unlocated fault."""
        if set(map(type, elements)) != {dict}:
            refuse_parsed_value("Send an object.")
        ts, tz_offset, duration = self._moments(elements)
        self._check_units(elements)
        return SampleReadings(
            ts=ts,
            tz_offset=tz_offset,
            duration=duration,
            value=self._values(elements),
            types=self._types(elements),
            workouts=self._workouts(elements),
            extra=self._extras(elements),
        )

    def faults(self, elements: Sequence[object]) -> Iterator[Fault]:
        """Yield the faults by index."""
        columns = (
            self._moments,
            self._check_units,
            self._values,
            self._types,
            self._workouts,
            self._extras,
        )
        for index, element in enumerate(elements):
            if type(element) is not dict:
                yield Fault((index,), "Send an object.", "value_error")
                continue
            for read in columns:
                try:
                    read([element])
                except Refused as refused:
                    yield from refused.located_under(index)

    def _moments(
        self, elements: Sequence[dict[str, Any]]
    ) -> tuple[list[datetime], list[int], list[int]]:
        """Return start, offset and duration of the samples."""
        sent_offsets = _column(elements, "timezone_offset")
        _check_kinds(sent_offsets, {int, _NONE}, "timezone_offset", "int_parsing")
        known = [each for each in sent_offsets if each is not None]
        _check_bounds(known, -_FARTHEST, _FARTHEST, "timezone_offset")
        stamps = _column(elements, "timestamp")
        if not self.resource.is_interval:
            ts, offsets = self._parse(stamps, sent_offsets, "timestamp")
            return ts, self._fill_offsets(sent_offsets, offsets, ts), [0] * len(ts)
        starts = [
            stamp if start is None else start
            for start, stamp in zip(_column(elements, "start"), stamps, strict=True)
        ]
        ts, offsets = self._parse(starts, sent_offsets, "start")
        self._check_stamps(stamps, starts, ts, sent_offsets)
        ends, _ = self._parse(_column(elements, "end"), sent_offsets, "end")
        return ts, self._fill_offsets(sent_offsets, offsets, ts), _durations(ts, ends)

    def _check_stamps(
        self,
        stamps: list[Any],
        starts: list[Any],
        ts: list[datetime],
        sent_offsets: list[int | None],
    ) -> None:
        """Check that the timestamp of an interval is its start."""
        if stamps.count(None) == len(stamps):
            return
        for stamp, start, moment, offset in zip(
            stamps, starts, ts, sent_offsets, strict=True
        ):
            if stamp is not None and stamp != start:
                (read,), _ = self._parse([stamp], [offset], "timestamp")
                if read != moment:
                    refuse_parsed_value("Must equal start.", "value_error", "timestamp")

    def _parse(
        self, texts: list[Any], sent_offsets: list[int | None], name: str
    ) -> tuple[list[datetime], list[int | None] | None]:
        """Parse times to UTC, with the offsets in their texts, or None without any."""
        _check_kinds(texts, {str}, name, "datetime_parsing")
        try:
            drawn = "\n".join(texts).encode("ascii").translate(_DIGITS)
        except UnicodeEncodeError:
            refuse_parsed_value("Send an ISO 8601 date-time.", "datetime_parsing", name)
        shapes = set(drawn.split(b"\n"))
        if not all(map(_SHAPE.fullmatch, shapes)):
            refuse_parsed_value("Send an ISO 8601 date-time.", "datetime_parsing", name)
        try:
            moments = list(map(datetime.fromisoformat, texts))
            own_offsets = None
            if not all(shape.endswith(b"Z") for shape in shapes):
                own_offsets = _stated_offsets(moments, texts)
                moments = self._to_utc(moments, sent_offsets)
        except SkippedTime:
            refuse_parsed_value(
                "This time does not exist in the time zone (clock change).",
                "value_error",
                name,
            )
        except (ValueError, OverflowError):
            refuse_parsed_value(
                "This date-time does not exist.", "datetime_parsing", name
            )
        _check_bounds(moments, FIRST_MOMENT, self.context.now + AHEAD, name)
        return moments, own_offsets

    def _to_utc(
        self, moments: list[datetime], sent_offsets: list[int | None]
    ) -> list[datetime]:
        zones = [moment.tzinfo for moment in moments]
        if None in zones:
            return list(map(self._one_to_utc, moments, sent_offsets))
        if zones.count(UTC) == len(zones):
            return moments
        return [moment.astimezone(UTC) for moment in moments]

    def _one_to_utc(self, moment: datetime, offset: int | None) -> datetime:
        if moment.tzinfo is None:
            if offset is None:
                return convert_local_time_to_utc(moment, self.context.zone)
            moment = moment.replace(tzinfo=timezone(timedelta(seconds=offset)))
        return moment.astimezone(UTC)

    def _fill_offsets(
        self,
        sent_offsets: list[int | None],
        own_offsets: list[int | None] | None,
        ts: list[datetime],
    ) -> list[int]:
        """Return each sample's offset: the sent one, the text's, or the zone's."""
        if own_offsets is not None:
            sent_offsets = [
                own if each is None else each
                for each, own in zip(sent_offsets, own_offsets, strict=True)
            ]
        if None not in sent_offsets:
            return sent_offsets  # type: ignore[return-value]  # as just seen
        is_utc = self.context.time_zone == "UTC"
        fallback = [0] * len(ts) if is_utc else _offsets(ts, self.context.zone)
        return [
            own if each is None else each
            for each, own in zip(sent_offsets, fallback, strict=True)
        ]

    def _check_units(self, elements: Sequence[dict[str, Any]]) -> None:
        units = _column(elements, "unit")
        _check_kinds(units, {str, _NONE}, "unit", "string_type")
        if not set(units) <= {self.resource.unit, None}:
            message = f"The unit must be {self.resource.unit}."
            refuse_parsed_value(message, "enum", "unit")

    def _values(self, elements: Sequence[dict[str, Any]]) -> list[float]:
        name = self.resource.value_key
        if name is None:
            return [0.0] * len(elements)
        values = _column(elements, name)
        _check_kinds(values, {int, float}, name, "value_error")
        if not all(map(isfinite, values)):
            refuse_parsed_value("Send a number.", "value_error", name)
        if self.resource.is_whole and any(value % 1 for value in values):
            refuse_parsed_value("Send an integer.", "int_parsing", name)
        _check_bounds(values, self.resource.low, self.resource.high, name)
        return list(map(float, values))

    def _types(self, elements: Sequence[dict[str, Any]]) -> list[str | None]:
        words = self.resource.types
        if not words and not self.resource.has_open_type:
            return [None] * len(elements)
        types = _column(elements, "type")
        _check_kinds(types, {str}, "type", "string_type")
        if self.resource.has_open_type:
            _check_texts(set(types), TYPE_MAX_LENGTH, "type")
            return types
        read = next(iter(words)).read
        found = {text: read(text) for text in set(types)}
        if None in found.values():
            refuse_parsed_value(f"Send one of: {', '.join(words)}.", "enum", "type")
        return [str(found[text]) for text in types]

    def _workouts(self, elements: Sequence[dict[str, Any]]) -> list[Workout]:
        if not self.resource.takes_sport:
            return [NO_WORKOUT] * len(elements)
        sports = _column(elements, "sport")
        _check_kinds(sports, {str, _NONE}, "sport", "string_type")
        _check_texts(set(sports) - {None, ""}, SPORT_MAX_LENGTH, "sport")
        ids: list[Any] = [None] * len(elements)
        stated = Workout(None, self.stated.sport)
        if self.resource.takes_workout:
            stated = self.stated
            ids = _column(elements, "workout_id")
            _check_kinds(ids, {str, _NONE}, "workout_id", "uuid_parsing")
        try:
            known = {each: None if each is None else UUID(each) for each in set(ids)}
        except ValueError:
            refuse_parsed_value("Send a UUID.", "uuid_parsing", "workout_id")
        pairs = set(zip(ids, sports, strict=True))
        workouts = {
            (id_, sport): Workout(
                known[id_] or stated.workout_id, sport or stated.sport
            )
            for id_, sport in pairs
        }
        if self.resource.needs_workout:
            for workout in workouts.values():
                for name, each in zip(Workout._fields, workout, strict=True):
                    if each is None:
                        refuse_parsed_value("This field is required.", "missing", name)
        return [workouts[key] for key in zip(ids, sports, strict=True)]

    def _extras(self, elements: Sequence[dict[str, Any]]) -> dict[int, dict[str, Any]]:
        extra = {} if self.resource.has_typed_series else self._kept_types(elements)
        if not self.resource.extras:
            return extra
        record = Record(self.resource.extras)
        for index, element in enumerate(elements):
            read = record.read(element, self.context)
            values = {name: each for name, each in read.items() if each is not None}
            if values:
                refuse_unstorable_text(values)
                extra[index] = extra.get(index, {}) | values
        return extra

    def _kept_types(
        self, elements: Sequence[dict[str, Any]]
    ) -> dict[int, dict[str, Any]]:
        """Return the types by index where the resource needs none.

        They are kept and no part of a sample's identity (contract 5.2, D21).
        """
        types = _column(elements, "type")
        if types.count(None) == len(types):
            return {}
        _check_kinds(types, {str, _NONE}, "type", "string_type")
        _check_texts(set(types) - {None, ""}, TYPE_MAX_LENGTH, "type")
        return {index: {"type": each} for index, each in enumerate(types) if each}


def _column(elements: Sequence[dict[str, Any]], name: str) -> list[Any]:
    return [element.get(name) for element in elements]


def _check_kinds(values: list[Any], allowed: set[type], name: str, type_: str) -> None:
    kinds = set(map(type, values))
    if not kinds <= allowed:
        if kinds == {_NONE}:
            refuse_parsed_value("This field is required.", "missing", name)
        refuse_parsed_value(f"Send {_KIND_WORDS[type_]}.", type_, name)


def _check_bounds(values: list[Any], low: Any, high: Any, name: str) -> None:
    if values and min(values) < low:
        refuse_parsed_value(
            f"Must be at least {format_violated_bound(low)}.",
            "greater_than_equal",
            name,
        )
    if values and max(values) > high:
        refuse_parsed_value(
            f"Must be at most {format_violated_bound(high)}.", "less_than_equal", name
        )


def _check_texts(texts: Collection[str], max_length: int, name: str) -> None:
    if "" in texts:
        refuse_parsed_value("Must not be empty.", "string_too_short", name)
    if any(len(text) > max_length for text in texts):
        refuse_parsed_value(
            f"Send at most {max_length} characters.", "string_too_long", name
        )
    if any("\0" in text for text in texts):
        refuse_parsed_value("Must not contain a NUL character.", "value_error", name)


def _stated_offsets(moments: list[datetime], texts: list[str]) -> list[int | None]:
    """Return the UTC offset in each text; None for `Z` or none."""
    # The last six characters have the offset whole, and a batch has few of them.
    ends = [text[-6:] for text in texts]
    offsets: dict[str, int | None] = {}
    for end, moment in dict(zip(ends, moments, strict=True)).items():
        offset = None if end.endswith("Z") else moment.utcoffset()
        offsets[end] = None if offset is None else int(offset.total_seconds())
    return list(map(offsets.__getitem__, ends))


def _durations(starts: list[datetime], ends: list[datetime]) -> list[int]:
    spans = [end - start for start, end in zip(starts, ends, strict=True)]
    # A batch has few different ones.
    lengths = set(spans)
    if min(lengths) <= timedelta(0):
        refuse_parsed_value("The end must be after the start.", "value_error", "end")
    if max(lengths) > LONGEST:
        refuse_parsed_value(
            f"The interval must be at most {LONGEST.days} days.",
            "less_than_equal",
            "end",
        )
    seconds = {span: round(span.total_seconds()) or 1 for span in lengths}
    return list(map(seconds.__getitem__, spans))


def _offsets(moments: list[datetime], zone: tzinfo) -> list[int]:
    """Return UTC offsets in a zone; days without a change need two look-ups."""
    by_day: dict[int, int | None] = {}
    offsets = []
    for moment in moments:
        day = moment.toordinal()
        if day not in by_day:
            first = find_day_start(moment.date(), UTC)
            both = {_offset(first, zone), _offset(first + timedelta(days=1), zone)}
            by_day[day] = both.pop() if len(both) == 1 else None
        offset = by_day[day]
        offsets.append(_offset(moment, zone) if offset is None else offset)
    return offsets


def _offset(moment: datetime, zone: tzinfo) -> int:
    offset = moment.astimezone(zone).utcoffset() or timedelta(0)
    return int(offset.total_seconds())
