"""Records of phones as our own rows, each with its place in the batch it came in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from portal.lib.periods import find_time_zone_by_name, list_time_zones
from users.states import SourceType
from users.states.imports import DropReason
from users.states.phones import PieceKind
from users.wearables.formats.apple.types import Measure
from users.wearables.formats.rows import Origin, SampleRow, SkippedRows
from users.wearables.formats.units import (
    find_conversion_to_resource_unit,
    find_unit_conversion,
)
from users.wearables.formats.uploads.forms import make_sample
from users.wearables.formats.uploads.values import parse_number, parse_utc_offset
from users.wearables.phones.types import UNITS
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from users.wearables.readings import Context

# Ours: more of them help nobody; all are counted.
REFUSALS_MAX = 200
_UNKNOWN_MAX = 100
_OTHERS = "others"
_TEXT_MAX = 100
_SHARE = 100


class Where(NamedTuple):
    """The place of a record: the list it was in, its index there, and its own ID."""

    list: str
    at: int
    id: str = ""


class Refusal(NamedTuple):
    """A record that is not stored, and why, by a code."""

    where: Where
    type: str
    reason: str


class Piece(NamedTuple):
    """A stage of sleep or half of a blood pressure, see PhonePiece."""

    kind: PieceKind
    origin: Origin
    starts_at: datetime
    ends_at: datetime
    word: str = ""
    value: float | None = None
    zone: str = ""


@dataclass(slots=True)
class Rows:
    """Elements of one resource and origin, and where each was in the batch."""

    elements: list[dict[str, Any]] = field(default_factory=list)
    places: list[tuple[Where, str]] = field(default_factory=list)


@dataclass(slots=True)
class ReadBatch:
    """What a batch holds.

    `samples` and `summaries` are by (slug, origin). Values of a day or of the person
    are in `days`, by (slug, calendar date or empty), to be merged into what is stored.
    `streams` are those of workouts, by origin, start and end.
    `unknown` counts records by types that have no resource.
    """

    provider: str
    context: Context
    records: int = 0
    samples: dict[tuple[str, Origin], Rows] = field(default_factory=dict)
    summaries: dict[tuple[str, Origin], Rows] = field(default_factory=dict)
    days: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    streams: list[tuple[Origin, datetime, datetime, dict[str, list[Any]]]] = field(
        default_factory=list
    )
    unknown: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    _heights: str = ""

    def __post_init__(self) -> None:
        """Read all of it as of its source."""
        self.context = replace(self.context, provider=self.provider)

    def refuse(self, where: Where, type_: str, reason: str) -> None:
        """Count a record that is not stored."""
        self.refused += 1
        if len(self.refusals) < REFUSALS_MAX:
            self.refusals.append(Refusal(where, clean_text(type_), str(reason)))

    def add_unknown(self, type_: str) -> None:
        """Count a record of a type that has no resource."""
        name = clean_text(type_) or _OTHERS
        if name not in self.unknown and len(self.unknown) >= _UNKNOWN_MAX:
            name = _OTHERS
        self.unknown[name] += 1

    def add_sample(
        self, where: Where, type_: str, slug: str, origin: Origin, element: Any
    ) -> None:
        """Add an element of a timeseries as it would be pushed."""
        self._add(self.samples, where, type_, slug, origin, element)

    def add_summary(
        self, where: Where, type_: str, slug: str, origin: Origin, element: Any
    ) -> None:
        """Add a summary as it would be pushed."""
        self._add(self.summaries, where, type_, slug, origin, element)

    def add_quantity(
        self,
        where: Where,
        type_: str,
        measure: Measure,
        origin: Origin,
        *,
        value: object,
        unit: str | None,
        start: datetime | None,
        end: datetime | None = None,
        offset: int | None = None,
    ) -> None:
        """Add a value in its sender's unit as a sample, or refuse it."""
        number = read_number(value)
        if number is None:
            self.refuse(where, type_, DropReason.NO_VALUE)
            return
        if start is None:
            self.refuse(where, type_, DropReason.BAD_TIME)
            return
        if start < _FIRST:
            self.refuse(where, type_, DropReason.TOO_LOW)
            return
        converted = convert(measure, number, unit)
        if converted is None:
            self.refuse(where, type_, DropReason.UNKNOWN_UNIT)
            return
        row = make_sample(
            measure.slug,
            origin,
            converted,
            start.isoformat(),
            None if end is None else end.isoformat(),
            what=type_,
            timezone_offset=offset,
            **measure.keys,
        )
        if isinstance(row, SampleRow):
            self.add_sample(where, type_, row.resource, origin, row.element)
        elif isinstance(row, SkippedRows):
            self.refuse(where, type_, row.reason)

    def add_day(
        self, where: Where, type_: str, key: str, *, value: object, day: str | None
    ) -> None:
        """Add a heart rate that is of a whole day."""
        number = read_number(value)
        if number is None or day is None:
            reason = DropReason.NO_VALUE if number is None else DropReason.BAD_TIME
            self.refuse(where, type_, reason)
            return
        rates = self.days.setdefault(("activity", day), {})
        rates.setdefault("heart_rate", {})[key] = number

    def add_height(
        self, where: Where, *, value: object, unit: str | None, at: datetime | None
    ) -> None:
        """Add the person's height; the latest of a batch counts."""
        number = read_number(value)
        conversion = find_unit_conversion(unit or "m", "cm")
        if number is None or at is None or conversion is None:
            self.refuse(where, "height", DropReason.NO_VALUE)
        elif at.isoformat() >= self._heights:
            self._heights = at.isoformat()
            height = round(conversion.apply(number))
            self.days.setdefault(("profile", ""), {})["height"] = height

    def add_cycle_entry(
        self, where: Where, type_: str, day: str | None, word: str
    ) -> None:
        """Add an entry of a cycle's day, as formats.apple.cycles names it."""
        if day is None:
            self.refuse(where, type_, DropReason.BAD_TIME)
            return
        at = datetime.fromisoformat(day).replace(tzinfo=UTC)
        piece = Piece(PieceKind.CYCLE, Origin(str(SourceType.APP)), at, at, word)
        self.add_piece(where, type_, piece)

    def add_piece(self, where: Where, type_: str, piece: Piece) -> None:
        """Add a stage of sleep or half of a blood pressure."""
        now = self.context.now
        if (piece.kind == PieceKind.SLEEP and piece.ends_at <= piece.starts_at) or not (
            _FIRST <= piece.starts_at <= now + _AHEAD
            and piece.ends_at - piece.starts_at <= _LONGEST
        ):
            self.refuse(where, type_, DropReason.BAD_TIME)
        else:
            self.pieces.append(piece)

    @staticmethod
    def _add(
        groups: dict[tuple[str, Origin], Rows],
        where: Where,
        type_: str,
        slug: str,
        origin: Origin,
        element: Any,
    ) -> None:
        rows = groups.setdefault((slug, origin), Rows())
        rows.elements.append(element)
        rows.places.append((where, type_))

    def local_day(
        self, at: datetime | None, offset: int | None, zone: str = ""
    ) -> str | None:
        """Return the date of a moment where the phone was, else by the fallback."""
        if at is None:
            return None
        try:
            if zone:
                return at.astimezone(find_time_zone_by_name(zone)).date().isoformat()
            if offset is not None:
                return (
                    (at.astimezone(UTC) + timedelta(seconds=offset)).date().isoformat()
                )
            return at.astimezone(self.context.zone).date().isoformat()
        except (OverflowError, ValueError):
            return None


# Ours: no phone has kept data for longer, and clocks run ahead by minutes.
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(days=1)
_LONGEST = timedelta(days=2)


def convert(measure: Measure, value: float, unit: str | None) -> float | None:
    """Return a value in its resource's unit; None where the unit is another kind.

    A share is written as 0.97 or as 97, by app and version: no share of ours is below
    one percent.
    """
    resource = TIMESERIES[measure.slug]
    given = UNITS.get(unit or "", unit or "")
    given = resource.unit if given in ("", measure.unit) else given
    found = find_conversion_to_resource_unit(resource, given)
    if found is None and given in ("count", "count/min"):
        found = find_conversion_to_resource_unit(resource, resource.unit)
    if found is None:
        return None
    scale = measure.scale
    if scale == _SHARE and value > 1:
        scale = 1
    return found._replace(factor=found.factor * scale).apply(value)


def read_number(value: object) -> float | None:
    """Return a finite number of JSON; None for anything else.

    Also of a text: the published models of Open Wearables write decimals so.
    """
    if isinstance(value, str):
        return parse_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST and isfinite(value) else None


_LARGEST = 1e300


def read_moment(value: object) -> datetime | None:
    """Return a moment of ISO 8601 or as Apple writes it, with its offset; else None."""
    if not isinstance(value, str) or not _TIME_MIN <= len(value) <= _TIME_MAX:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return None
    return moment


_TIME_MIN, _TIME_MAX = 10, 40


def read_offset(value: object) -> int | None:
    """Return seconds east of UTC of "+01:00", else None."""
    return parse_utc_offset(value) if isinstance(value, str) and value else None


def read_zone(metadata: object) -> str:
    """Return the time zone that HealthKit kept with a record, else nothing."""
    zone = metadata.get("HKTimeZone") if isinstance(metadata, dict) else None
    return zone if isinstance(zone, str) and zone in list_time_zones() else ""


def clean_text(value: object, length: int = _TEXT_MAX) -> str:
    """Return a text that can be stored, cut to its length; nothing for no text."""
    return value.replace("\0", "")[:length] if isinstance(value, str) else ""


def read_list(body: object, name: str) -> list[Any]:
    """Return a list of a body; an empty one where there is none."""
    found = body.get(name) if isinstance(body, dict) else None
    return found if isinstance(found, list) else []
