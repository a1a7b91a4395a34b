"""Reading what a source sends: kinds of values, each with its bounds and its schema.

A value is of exactly the JSON type asked for (contract 1.9); what can't be read is told
field by field, with the contract's type of error. Must not be here: which fields a
resource has (summaries), the database, or HTTP.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, NoReturn, Protocol
from uuid import UUID

from portal.lib.errors import DomainError
from portal.lib.periods import SkippedTime, from_wall_clock, time_zones

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from portal.lib.choices import OpenChoices

Loc = tuple[str | int, ...]
Schema = dict[str, Any]

TEXT_MAX_LENGTH = 255
# Ours: health data has been measured since about then, and clocks are not this wrong.
_EARLIEST = date(1900, 1, 1)
AHEAD = timedelta(days=2)
# Ours: no element of the contract nests half as deep.
_DEEPEST = 32
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that can't be read: where, a sentence, and the contract's type."""

    loc: Loc
    msg: str
    type: str


class Refused(Exception):
    """A value can't be read."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__([fault.type for fault in faults])
        self.faults = faults

    def below(self, step: str | int) -> list[Fault]:
        """The same faults as seen from one level up."""
        return [Fault((step, *each.loc), each.msg, each.type) for each in self.faults]


def refuse(msg: str, type_: str = "value_error", *loc: str | int) -> NoReturn:
    """Refuse the value in hand. Raises: Refused."""
    raise Refused([Fault(loc, msg, type_)])


class ElementsInvalid(DomainError):
    """Elements of a batch can't be read; none of it is stored.

    `faults` are located below the list of elements: index first.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("elements_invalid", "Elements can't be read.", "data")
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Context:
    """What reading needs besides the value: whose it is, when, and the fallbacks.

    `time_zone` is the user's fallback; `now` is the moment of arrival, UTC.
    """

    user_uuid: UUID
    provider: str
    time_zone: str
    zone: tzinfo
    now: datetime


class Kind(Protocol):
    """A kind of value."""

    def read(self, value: Any, context: Context) -> Any:
        """The value as the wire has it. Raises: Refused."""
        ...

    @property
    def schema(self) -> Schema:
        """The JSON Schema of what `read` gives."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """Text of at most `max_length` characters, kept exactly."""

    max_length: int = TEXT_MAX_LENGTH

    def read(self, value: Any, context: Context) -> str:  # noqa: ARG002 - as all kinds
        text = _text(value)
        if len(text) > self.max_length:
            refuse("Too long.", "string_too_long")
        return text

    @property
    def schema(self) -> Schema:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of an open enumeration, in any case (contract D2)."""

    values: type[OpenChoices]

    def read(self, value: Any, context: Context) -> str:  # noqa: ARG002 - as all kinds
        found = self.values.read(_text(value))
        if found is None:
            refuse("Not an allowed value.", "enum")
        return str(found)

    @property
    def schema(self) -> Schema:
        note = "Among others: " + ", ".join(self.values.values) + ". May gain values."
        return {"type": "string", "description": note}


@dataclass(frozen=True, slots=True)
class Whole:
    """A JSON integer, bounds included, or one of `codes`."""

    low: int = 0
    high: int = 2**31 - 1
    codes: tuple[int, ...] = ()
    note: str = ""

    def read(self, value: Any, context: Context) -> int:  # noqa: ARG002 - as all kinds
        if type(value) is not int:
            refuse("An integer is needed.", "int_parsing")
        if not self.codes:
            _within(value, self.low, self.high)
        elif value not in self.codes:
            refuse("Not an allowed code.", "enum")
        return value

    @property
    def schema(self) -> Schema:
        return {"type": "integer", **_noted(self.note)}


@dataclass(frozen=True, slots=True)
class Number:
    """A finite JSON number, bounds included; `unit` is for the reader."""

    low: float = 0
    high: float = 1e9
    unit: str = ""

    def read(self, value: Any, context: Context) -> float:  # noqa: ARG002 - as all kinds
        if type(value) not in (int, float) or not math.isfinite(value):
            refuse("A number is needed.")
        _within(value, self.low, self.high)
        return value  # type: ignore[no-any-return]  # one of the two

    @property
    def schema(self) -> Schema:
        return {"type": "number", **_noted(self.unit)}


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`; with `only_true` nothing but `true` (contract 1.9)."""

    only_true: bool = False

    def read(self, value: Any, context: Context) -> bool | None:  # noqa: ARG002 - as all kinds
        if type(value) is not bool:
            refuse("true or false is needed.", "bool_parsing")
        return None if self.only_true and not value else value

    @property
    def schema(self) -> Schema:
        note = "true, or null; false is kept as null" if self.only_true else ""
        return {"type": "boolean", **_noted(note)}


@dataclass(frozen=True, slots=True)
class Day:
    """A date as YYYY-MM-DD, at most `ahead` in the future."""

    ahead: timedelta = AHEAD

    def read(self, value: Any, context: Context) -> str:
        text = _text(value, "date_from_datetime_parsing")
        try:
            day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
        except ValueError:
            day = None
        if day is None:
            refuse("A date as YYYY-MM-DD is needed.", "date_from_datetime_parsing")
        _within(day, _EARLIEST, (context.now + self.ahead).date())
        return text

    @property
    def schema(self) -> Schema:
        return {"type": "string", "format": "date"}


@dataclass(frozen=True, slots=True)
class Moment:
    """An ISO 8601 date-time, given back in UTC.

    Without an offset it is wall-clock time in the fallback time zone. A `bare` one is
    UTC then, and written without offset (contract D16).
    """

    bare: bool = False

    def read(self, value: Any, context: Context) -> str:
        text = _text(value, "datetime_parsing")
        moment = _moment(text, UTC if self.bare else context.zone)
        latest = context.now + AHEAD
        _within(moment, datetime.combine(_EARLIEST, datetime.min.time(), UTC), latest)
        return (moment.replace(tzinfo=None) if self.bare else moment).isoformat()

    @property
    def schema(self) -> Schema:
        note = "UTC, written without an offset" if self.bare else ""
        return {"type": "string", **({} if note else _DATE_TIME), **_noted(note)}


@dataclass(frozen=True, slots=True)
class Zone:
    """An identifier of the IANA time zone database, spelt as there."""

    def read(self, value: Any, context: Context) -> str:  # noqa: ARG002 - as all kinds
        name = _text(value)
        if name not in time_zones():
            refuse("Not an IANA time zone.")
        return name

    @property
    def schema(self) -> Schema:
        return {"type": "string", "description": "IANA time zone"}


@dataclass(frozen=True, slots=True)
class Id:
    """A uuid as text."""

    def read(self, value: Any, context: Context) -> str:  # noqa: ARG002 - as all kinds
        try:
            return str(UUID(_text(value, "uuid_parsing")))
        except ValueError:
            refuse("Not a uuid.", "uuid_parsing")

    @property
    def schema(self) -> Schema:
        return {"type": "string", "format": "uuid"}


@dataclass(frozen=True, slots=True)
class Free:
    """An object whose keys are its source's own."""

    def read(self, value: Any, context: Context) -> dict[str, Any]:  # noqa: ARG002 - as all kinds
        if not isinstance(value, dict):
            refuse("An object is needed.")
        return value

    @property
    def schema(self) -> Schema:
        return {"type": "object"}


@dataclass(frozen=True, slots=True)
class Nothing:
    """A key that is there for clients and never has a value."""

    def read(self, value: Any, context: Context) -> None:  # noqa: ARG002 - as all kinds
        return None

    @property
    def schema(self) -> Schema:
        return {"type": "null"}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of at most `max_length` values of one kind, or of exactly `length`."""

    of: Kind
    max_length: int = 1000
    length: int | None = None

    def read(self, value: Any, context: Context) -> list[Any]:
        if not isinstance(value, list):
            refuse("A list is needed.")
        if len(value) > self.max_length or self.length not in (None, len(value)):
            refuse("A wrong number of items.")
        read: list[Any] = []
        faults: list[Fault] = []
        for index, each in enumerate(value):
            try:
                read.append(self.of.read(each, context))
            except Refused as refused:
                faults += refused.below(index)
        if faults:
            raise Refused(faults)
        return read

    @property
    def schema(self) -> Schema:
        return {"type": "array", "items": self.of.schema}


@dataclass(frozen=True, slots=True)
class MapOf:
    """Values of one kind by name; a null one stays null."""

    of: Kind
    max_length: int = 200

    def read(self, value: Any, context: Context) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse("An object is needed.")
        if len(value) > self.max_length:
            refuse("Too many keys.")
        read: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, each in value.items():
            try:
                read[name] = None if each is None else self.of.read(each, context)
            except Refused as refused:
                faults += refused.below(name)
        if faults:
            raise Refused(faults)
        return read

    @property
    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": nullable(self.of.schema)}


@dataclass(frozen=True, slots=True)
class Field:
    """A named value of a record.

    One that is not `required` may be absent or null, and is then `default`. An absent
    one that is `filled` its resource fills; what is `ours` no source sends at all.
    """

    name: str
    kind: Kind
    required: bool = False
    default: Any = None
    filled: bool = False
    ours: bool = False

    @property
    def always(self) -> bool:
        """Whether the wire never has null here."""
        given = self.required or self.filled or self.ours
        return given or self.default is not None

    @property
    def schema(self) -> Schema:
        return self.kind.schema if self.always else nullable(self.kind.schema)


@dataclass(frozen=True, slots=True)
class Record:
    """An object with named fields; keys it does not name are ignored."""

    fields: tuple[Field, ...]
    note: str = ""

    def read(self, value: Any, context: Context) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse("An object is needed.")
        read: dict[str, Any] = {}
        faults: list[Fault] = []
        for each in self.fields:
            if each.ours:
                continue
            given = value.get(each.name)
            if given is None:
                if each.required:
                    faults.append(Fault((each.name,), "This is needed.", "missing"))
                read[each.name] = each.default
                continue
            try:
                read[each.name] = each.kind.read(given, context)
            except Refused as refused:
                faults += refused.below(each.name)
        if faults:
            raise Refused(faults)
        return read

    @property
    def schema(self) -> Schema:
        return {
            "type": "object",
            **_noted(self.note),
            "properties": {each.name: each.schema for each in self.fields},
            "required": [each.name for each in self.fields],
        }

    @property
    def input_schema(self) -> Schema:
        """What a source may send."""
        sent = [each for each in self.fields if not each.ours]
        return {
            "type": "object",
            "properties": {
                each.name: each.kind.schema
                if each.required
                else nullable(each.kind.schema)
                for each in sent
            },
            "required": [each.name for each in sent if each.required],
        }


def nullable(schema: Schema) -> Schema:
    """The same schema, null let in."""
    return {**schema, "type": [schema["type"], "null"]}


def check_text(value: Any) -> None:
    """Refuse what PostgreSQL can't keep: a NUL in any text, or too deep a nesting.

    Raises: Refused.
    """
    waiting: list[tuple[int, Iterable[Any]]] = [(0, (value,))]
    while waiting:
        depth, values = waiting.pop()
        if depth > _DEEPEST:
            refuse("Nested too deep.")
        for each in values:
            if isinstance(each, str):
                if "\0" in each:
                    refuse("Text with a NUL can't be kept.")
            elif isinstance(each, list):
                waiting.append((depth + 1, each))
            elif isinstance(each, dict):
                waiting.append((depth + 1, each.keys()))
                waiting.append((depth + 1, each.values()))


_DATE_TIME: Schema = {"format": "date-time"}


def _noted(note: str) -> Mapping[str, str]:
    return {"description": note} if note else {}


def _text(value: Any, type_: str = "string_type") -> str:
    if type(value) is not str:
        refuse("A text is needed.", type_)
    return value


def _within(value: Any, low: Any, high: Any) -> None:
    if value < low:
        refuse("Below the least allowed.", "greater_than_equal")
    if value > high:
        refuse("Above the most allowed.", "less_than_equal")


def _moment(text: str, zone: tzinfo) -> datetime:
    try:
        if _MOMENT.fullmatch(text):
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                return from_wall_clock(moment, zone)
            return moment.astimezone(UTC)
    except SkippedTime:
        refuse("The time zone skips this time.")
    except (ValueError, OverflowError):
        pass
    refuse("A date-time of ISO 8601 is needed.", "datetime_parsing")
