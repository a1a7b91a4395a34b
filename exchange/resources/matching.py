"""Search parameters of FHIR, matched against finished resources.

One reading of each kind of parameter serves all resources. Source: FHIR R4, 3.1.1
Search.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from django.utils import timezone

from portal.lib.errors import DomainError

_DATE = re.compile(
    r"(?P<prefix>eq|ne|gt|lt|ge|le|sa|eb|ap)?"
    r"(?P<year>\d{4})(-(?P<month>\d\d)(-(?P<day>\d\d)"
    r"(T(?P<hour>\d\d):(?P<minute>\d\d)(:(?P<second>\d\d)(\.(?P<fraction>\d{1,9}))?)?"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?)?)?)?"
)
Span = tuple[datetime, datetime]
Json = dict[str, Any]


class Kind(StrEnum):
    """The kind of a search parameter, as FHIR names it."""

    TOKEN = "token"  # noqa: S105 - FHIR's word for a code
    DATE = "date"
    REFERENCE = "reference"
    STRING = "string"


class SearchInvalid(DomainError):
    """A search parameter can't be read; `field` is its name."""


@dataclass(frozen=True, slots=True)
class Param:
    """A search parameter: its values are at these paths of a resource.

    Without paths the rows of its sources have been narrowed by it already.
    """

    name: str
    kind: Kind
    paths: tuple[str, ...]

    def read(self, text: str) -> Wanted:
        """Return what a value asks for. Raises: SearchInvalid."""
        alternatives = [
            part.replace("\\,", ",") for part in re.split(r"(?<!\\),", text)
        ]
        if self.kind == Kind.DATE:
            return Wanted(
                self, dates=[read_date(self.name, one) for one in alternatives]
            )
        if not all(alternatives):
            raise SearchInvalid("value_missing", "The value is empty.", self.name)
        return Wanted(self, texts=alternatives)


@dataclass(frozen=True, slots=True)
class WantedDate:
    """A date to compare with: its prefix and the time it covers, end excluded."""

    prefix: str
    span: Span

    def matches(self, given: Span) -> bool:
        """Return whether a time that a resource has is meant."""
        start, end = self.span
        first, last = given
        match self.prefix:
            case "ne":
                return not (start <= first and last <= end)
            case "gt":
                return last > end
            case "lt":
                return first < start
            case "ge":
                return last > end or (start <= first and last <= end)
            case "le":
                return first < start or (start <= first and last <= end)
            case "sa":
                return first >= end
            case "eb":
                return last <= start
            case "ap":
                # Ours: within a tenth of the distance to it, as the standard proposes.
                slack = abs(timezone.now() - start) / 10
                return first < end + slack and last > start - slack
            case _:
                return start <= first and last <= end

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """Return the widest time that can match, None where it is open."""
        start, end = self.span
        return {
            "eq": (start, end),
            "gt": (start, None),
            "ge": (start, None),
            "sa": (end, None),
            "lt": (None, end),
            "le": (None, end),
            "eb": (None, start),
        }.get(self.prefix, (None, None))


@dataclass(frozen=True, slots=True)
class Wanted:
    """One value of a search parameter; any of its alternatives matches."""

    param: Param
    texts: list[str] | None = None
    dates: list[WantedDate] | None = None

    def matches(self, resource: Json) -> bool:
        """Return whether a resource has a value that is asked for.

        When a resource changed may not be known: then it may have changed since.
        """
        if not self.param.paths:
            return True
        values = [value for path in self.param.paths for value in _walk(resource, path)]
        if self.dates is not None:
            if self.param is LAST_UPDATED and not values:
                return True
            spans = [span for value in values if (span := find_span(value)) is not None]
            return any(one.matches(span) for one in self.dates for span in spans)
        match self.param.kind:
            case Kind.REFERENCE:
                return any(
                    _refers(value, text)
                    for value in values
                    for text in self.texts or []
                )
            case Kind.STRING:
                return any(
                    str(value).casefold().startswith(text.casefold())
                    for value in values
                    for text in self.texts or []
                )
            case _:
                return any(
                    _has_code(value, text)
                    for value in values
                    for text in self.texts or []
                )


def read_date(name: str, text: str) -> WantedDate:
    """Return the date of a search parameter. Raises: SearchInvalid."""
    found = _DATE.fullmatch(text.replace(" ", "+"))
    span = _read_span(found) if found else None
    if found is None or span is None:
        raise SearchInvalid(
            "date_invalid", "Use a date such as ge2026-01-31 or 2026-01.", name
        )
    return WantedDate(found["prefix"] or "eq", span)


def find_span(value: Any) -> Span | None:
    """Return the time that a date, time or Period covers, end excluded."""
    if isinstance(value, dict):
        start = find_span(value.get("start"))
        end = find_span(value.get("end"))
        first = start[0] if start else datetime.min.replace(tzinfo=UTC)
        last = end[1] if end else datetime.max.replace(tzinfo=UTC)
        return (first, last) if start or end else None
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    return _read_span(found) if found else None


def _read_span(found: re.Match[str]) -> Span | None:
    part = {name: text for name, text in found.groupdict().items() if text}
    numbers = {
        name: int(part[name])
        for name in ("year", "month", "day", "hour", "minute", "second")
        if name in part
    }
    try:
        start = datetime(**{"month": 1, "day": 1, **numbers}, tzinfo=UTC)
        if "fraction" in part:
            micro = int(part["fraction"].ljust(6, "0")[:6])
            start = start.replace(microsecond=micro)
        zone = part.get("zone", "Z")
        if zone != "Z":
            hours, minutes = int(zone[1:3]), int(zone[4:])
            offset = timedelta(hours=hours, minutes=minutes)
            start = start - offset if zone[0] == "+" else start + offset
        return start, start + _length(start, part)
    except (ValueError, OverflowError):
        return None


def _length(start: datetime, part: dict[str, str]) -> timedelta:
    if "fraction" in part:
        return timedelta(microseconds=10 ** max(0, 6 - len(part["fraction"])))
    if "second" in part:
        return timedelta(seconds=1)
    if "hour" in part:
        return timedelta(minutes=1)
    if "day" in part:
        return timedelta(days=1)
    if "month" in part:
        return timedelta(days=monthrange(start.year, start.month)[1])
    return timedelta(days=366 if monthrange(start.year, 2)[1] == 29 else 365)


def _walk(value: Any, path: str) -> Iterator[Any]:
    """Yield what stands at a path such as "code.coding", through lists."""
    if isinstance(value, list):
        for each in value:
            yield from _walk(each, path)
        return
    if not path:
        if value is not None:
            yield value
        return
    name, _, rest = path.partition(".")
    if isinstance(value, dict) and name in value:
        yield from _walk(value[name], rest)


def _has_code(value: Any, text: str) -> bool:
    """Return whether a code, Coding, CodeableConcept or Identifier is meant."""
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, str):
        return text.rpartition("|")[2] == value
    if not isinstance(value, dict):
        return False
    if "coding" in value:
        return any(_has_code(each, text) for each in value["coding"])
    code = value.get("code", value.get("value"))
    system, bar, wanted = text.rpartition("|")
    if not bar:
        return bool(code == wanted)
    if system and value.get("system") != system:
        return False
    if not system and value.get("system"):
        return False
    return not wanted or code == wanted


def _refers(value: Any, text: str) -> bool:
    own = value.get("reference", "") if isinstance(value, dict) else ""
    wanted = "/".join(text.split("/")[-2:])
    return bool(own == wanted or own.rpartition("/")[2] == text)


ID = Param("_id", Kind.TOKEN, ("id",))
LAST_UPDATED = Param("_lastUpdated", Kind.DATE, ("meta.lastUpdated",))
