"""Parsing of pushed data: records, lists and maps of values.

What can't be read is told field by field, with the contract's type of error.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from portal.lib.errors import DomainError
from portal.lib.periods import find_time_zone_by_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import tzinfo
    from uuid import UUID

    from users.models import User

Loc = tuple[str | int, ...]
Schema = dict[str, Any]

# Ours: more of them would help nobody, and an answer must not outgrow its request.
FAULTS_MAX = 100
# Ours: no element of the contract nests half as deep.
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in pushed data: location, message and the contract's type."""

    loc: Loc
    msg: str
    type: str


class Refused(Exception):
    """The value is invalid."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__([fault.type for fault in faults])
        self.faults = faults

    def located_under(self, step: str | int) -> list[Fault]:
        """Return the faults located one level up."""
        return [Fault((step, *each.loc), each.msg, each.type) for each in self.faults]


def refuse_parsed_value(
    msg: str, type_: str = "value_error", *loc: str | int
) -> NoReturn:
    """Refuse the value in hand. Raises: Refused."""
    raise Refused([Fault(loc, msg, type_)])


def format_violated_bound(bound: float | date) -> str:
    """Write the bound that a value broke: a number, or a date or time of ISO 8601."""
    if isinstance(bound, datetime):
        return bound.isoformat(timespec="seconds")
    return bound.isoformat() if isinstance(bound, date) else f"{bound:.10g}"


class ElementsInvalid(DomainError):
    """Elements of a batch are invalid; nothing is stored.

    `faults` are located below the list of elements: index first.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("elements_invalid", "Some elements are not valid.", "data")
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Context:
    """Context of parsing: the user, the time of arrival, and the fallbacks.

    `time_zone` is the user's fallback; `now` is the moment of arrival, UTC.
    """

    user_uuid: UUID
    provider: str
    time_zone: str
    zone: tzinfo
    now: datetime


def build_batch_parsing_context(*, user: User, provider: str, now: datetime) -> Context:
    """Return the context to parse a batch of a user's source; `now` is UTC."""
    zone = user.fallback_time_zone or "UTC"  # Contract D4
    return Context(
        user_uuid=user.uuid,
        provider=provider,
        time_zone=zone,
        zone=find_time_zone_by_name(zone),
        now=now,
    )


class Kind(Protocol):
    """A kind of value."""

    def read(self, value: Any, context: Context, /) -> Any:
        """Return the value in wire form. Raises: Refused."""
        ...

    @property
    def schema(self) -> Schema:
        """Return the JSON Schema of what `read` returns."""
        ...


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of at most `max_length` values of one kind, or of exactly `length`."""

    of: Kind
    max_length: int = 1000
    length: int | None = None

    def read(self, value: Any, context: Context) -> list[Any]:
        if not isinstance(value, list):
            refuse_parsed_value("Send a list.")
        if len(value) > self.max_length or self.length not in (None, len(value)):
            if self.length is not None:
                refuse_parsed_value(f"Send exactly {self.length} items.")
            refuse_parsed_value(f"Send at most {self.max_length} items.")
        read: list[Any] = []
        faults: list[Fault] = []
        for index, each in enumerate(value):
            try:
                read.append(self.of.read(each, context))
            except Refused as refused:
                faults += refused.located_under(index)
                if len(faults) >= FAULTS_MAX:
                    break
        if faults:
            raise Refused(faults)
        return read

    @property
    def schema(self) -> Schema:
        return {"type": "array", "items": self.of.schema}


@dataclass(frozen=True, slots=True)
class MapOf:
    """Values of one kind by name; nulls stay null or are refused."""

    of: Kind
    max_length: int = 200
    nulls: bool = True

    def read(self, value: Any, context: Context) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse_parsed_value("Send an object.")
        if len(value) > self.max_length:
            refuse_parsed_value(f"Send at most {self.max_length} keys.")
        read: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, each in value.items():
            try:
                is_null = each is None and self.nulls
                read[name] = None if is_null else self.of.read(each, context)
            except Refused as refused:
                faults += refused.located_under(name)
        if faults:
            raise Refused(faults)
        return read

    @property
    def schema(self) -> Schema:
        of = build_nullable_schema(self.of.schema) if self.nulls else self.of.schema
        return {"type": "object", "additionalProperties": of}


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
    def is_empty_absent(self) -> bool:
        """Return whether empty text is as good as absent: optional free text."""
        return not self.required and getattr(self.kind, "is_free_text", False)

    @property
    def is_never_null(self) -> bool:
        """Return whether the wire never has null here."""
        given = self.required or self.filled or self.ours
        return given or self.default is not None

    @property
    def schema(self) -> Schema:
        return (
            self.kind.schema
            if self.is_never_null
            else build_nullable_schema(self.kind.schema)
        )


@dataclass(frozen=True, slots=True)
class Record:
    """An object with named fields; keys it does not name are ignored."""

    fields: tuple[Field, ...]

    def read(self, value: Any, context: Context) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse_parsed_value("Send an object.")
        read: dict[str, Any] = {}
        faults: list[Fault] = []
        for each in self.fields:
            if each.ours:
                continue
            given = value.get(each.name)
            if given is None or (given == "" and each.is_empty_absent):
                if each.required:
                    faults.append(
                        Fault((each.name,), "This field is required.", "missing")
                    )
                read[each.name] = each.default
                continue
            try:
                read[each.name] = each.kind.read(given, context)
            except Refused as refused:
                faults += refused.located_under(each.name)
        if faults:
            raise Refused(faults)
        return read

    @property
    def schema(self) -> Schema:
        return {
            "type": "object",
            "properties": {each.name: each.schema for each in self.fields},
            "required": [each.name for each in self.fields],
        }

    @property
    def input_schema(self) -> Schema:
        """Return the JSON Schema of what a source may send."""
        sent = [each for each in self.fields if not each.ours]
        return {
            "type": "object",
            "properties": {
                each.name: each.kind.schema
                if each.required
                else build_nullable_schema(each.kind.schema)
                for each in sent
            },
            "required": [each.name for each in sent if each.required],
        }


def build_nullable_schema(schema: Schema) -> Schema:
    """Return the schema with null allowed."""
    return {**schema, "type": [schema["type"], "null"]}


def build_closed_object_schema(properties: Mapping[str, Any]) -> Schema:
    """Return the schema of an object with exactly these keys."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
    }


def refuse_unstorable_text(value: Any) -> None:
    """Refuse values that PostgreSQL cannot store: NUL characters, deep nesting.

    Raises: Refused.
    """
    waiting: list[tuple[int, Iterable[Any]]] = [(0, (value,))]
    while waiting:
        depth, values = waiting.pop()
        if depth > _DEEPEST:
            refuse_parsed_value(f"Nested more than {_DEEPEST} levels deep.")
        for each in values:
            if isinstance(each, str):
                if "\0" in each:
                    refuse_parsed_value("Must not contain a NUL character.")
            elif isinstance(each, list):
                waiting.append((depth + 1, each))
            elif isinstance(each, dict):
                waiting.append((depth + 1, each.keys()))
                waiting.append((depth + 1, each.values()))
