"""Kinds of single values: text, numbers, dates, with bounds and schema.

A value is of exactly the JSON type asked for (contract 1.9).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from portal.lib.periods import SkippedTime, convert_local_time_to_utc, list_time_zones
from users.wearables.readings import format_violated_bound, refuse_parsed_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from portal.lib.choices import OpenChoices
    from users.wearables.readings import Context, Schema

_TEXT_MAX_LENGTH = 255
# Ours: health data has been measured since about then, and clocks are not this wrong.
EARLIEST = date(1900, 1, 1)
AHEAD = timedelta(days=2)
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Text:
    """Text of at most `max_length` characters, stored exactly."""

    max_length: int = _TEXT_MAX_LENGTH
    is_free_text: ClassVar[bool] = True

    def read(self, value: Any, _context: Context, /) -> str:
        text = _text(value)
        if len(text) > self.max_length:
            refuse_parsed_value(
                f"Send at most {self.max_length} characters.", "string_too_long"
            )
        return text

    @property
    def schema(self) -> Schema:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of an open enumeration, in any case (contract D2)."""

    values: type[OpenChoices]

    def read(self, value: Any, _context: Context, /) -> str:
        found = self.values.read(_text(value))
        if found is None:
            refuse_parsed_value(
                f"Send one of: {', '.join(self.values.values)}.", "enum"
            )
        return str(found)

    @property
    def schema(self) -> Schema:
        note = "Known values: " + ", ".join(self.values.values) + ". More may be added."
        return {"type": "string", "description": note}


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """A JSON integer, bounds included, or one of `codes`."""

    low: int = 0
    high: int = 2**31 - 1
    codes: tuple[int, ...] = ()
    note: str = ""

    def read(self, value: Any, _context: Context, /) -> int:
        if type(value) is not int:
            refuse_parsed_value("Send an integer.", "int_parsing")
        if not self.codes:
            _within(value, self.low, self.high)
        elif value not in self.codes:
            refuse_parsed_value(
                f"Send one of: {', '.join(map(str, self.codes))}.", "enum"
            )
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

    def read(self, value: Any, _context: Context, /) -> float:
        if type(value) not in (int, float) or not math.isfinite(value):
            refuse_parsed_value("Send a number.")
        _within(value, self.low, self.high)
        return value  # type: ignore[no-any-return]  # one of the two

    @property
    def schema(self) -> Schema:
        return {"type": "number", **_noted(self.unit)}


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`; with `only_true` nothing but `true` (contract 1.9)."""

    only_true: bool = False

    def read(self, value: Any, _context: Context, /) -> bool | None:
        if type(value) is not bool:
            refuse_parsed_value("Send true or false.", "bool_parsing")
        return None if self.only_true and not value else value

    @property
    def schema(self) -> Schema:
        note = "true or null; false is stored as null" if self.only_true else ""
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
            refuse_parsed_value(
                "Send a date as YYYY-MM-DD.", "date_from_datetime_parsing"
            )
        _within(day, EARLIEST, (context.now + self.ahead).date())
        return text

    @property
    def schema(self) -> Schema:
        return {"type": "string", "format": "date"}


@dataclass(frozen=True, slots=True)
class Moment:
    """An ISO 8601 date-time, returned in UTC.

    Without an offset it is wall-clock time in the fallback time zone. A `bare` one is
    UTC then, and written without offset (contract D16).
    """

    bare: bool = False

    def read(self, value: Any, context: Context) -> str:
        text = _text(value, "datetime_parsing")
        moment = _moment(text, UTC if self.bare else context.zone)
        latest = context.now + AHEAD
        _within(moment, datetime.combine(EARLIEST, datetime.min.time(), UTC), latest)
        return (moment.replace(tzinfo=None) if self.bare else moment).isoformat()

    @property
    def schema(self) -> Schema:
        if self.bare:
            return {
                "type": "string",
                "minLength": 1,
                "description": "UTC, without an offset",
            }
        return {"type": "string", "format": "date-time"}


@dataclass(frozen=True, slots=True)
class Zone:
    """An identifier of the IANA time zone database, spelt as there."""

    def read(self, value: Any, _context: Context, /) -> str:
        name = _text(value)
        if name not in list_time_zones():
            refuse_parsed_value("Send an IANA time zone, such as Europe/Paris.")
        return name

    @property
    def schema(self) -> Schema:
        return {"type": "string", "minLength": 1, "description": "IANA time zone"}


@dataclass(frozen=True, slots=True)
class Id:
    """A uuid as text."""

    def read(self, value: Any, _context: Context, /) -> str:
        try:
            return str(UUID(_text(value, "uuid_parsing")))
        except ValueError:
            refuse_parsed_value("Send a UUID.", "uuid_parsing")

    @property
    def schema(self) -> Schema:
        return {"type": "string", "format": "uuid"}


@dataclass(frozen=True, slots=True)
class FreeObject:
    """An object whose keys are its source's own."""

    def read(self, value: Any, _context: Context, /) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse_parsed_value("Send an object.")
        return value

    @property
    def schema(self) -> Schema:
        return {"type": "object"}


@dataclass(frozen=True, slots=True)
class AlwaysNull:
    """A key that clients expect and that is always null."""

    def read(self, _value: Any, _context: Context, /) -> None:
        return None

    @property
    def schema(self) -> Schema:
        return {"type": "null"}


def _noted(note: str) -> Mapping[str, str]:
    return {"description": note} if note else {}


def _text(value: Any, type_: str = "string_type") -> str:
    if type(value) is not str:
        refuse_parsed_value("Send a string.", type_)
    return value


def _within(value: Any, low: Any, high: Any) -> None:
    if value < low:
        refuse_parsed_value(
            f"Must be at least {format_violated_bound(low)}.", "greater_than_equal"
        )
    if value > high:
        refuse_parsed_value(
            f"Must be at most {format_violated_bound(high)}.", "less_than_equal"
        )


def _moment(text: str, zone: tzinfo) -> datetime:
    if not _MOMENT.fullmatch(text):
        refuse_parsed_value("Send an ISO 8601 date-time.", "datetime_parsing")
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return convert_local_time_to_utc(moment, zone)
        return moment.astimezone(UTC)
    except SkippedTime:
        refuse_parsed_value("This time does not exist in the time zone (clock change).")
    except (ValueError, OverflowError):
        refuse_parsed_value("This date-time does not exist.", "datetime_parsing")
