"""Parsing of segment parts: timestamps, codes and observation values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from labs.states.catalogue import ResultType

if TYPE_CHECKING:
    from datetime import tzinfo

    from labs.gateways.hl7.messages import Segment

_MOMENT = re.compile(
    r"(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)?(\d\d)?(?:\.\d{1,4})?)?([+-]\d{4})?"
)
# Dates that no order has can't be stored either.
_FIRST_YEAR, _LAST_YEAR = 1850, 2200
_FARTHEST_ZONE = 14 * 3600
_LOINC = "LN"
# Comparator, number, separator or suffix, number (HL7 v2.5.1, 2.A.72).
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
_STRUCTURED_NUMBER = re.compile(
    rf"(?:>|<|>=|<=|=|<>)?\^(?:{_NUMBER})(?:\^[-+/.:](?:\^(?:{_NUMBER})?)?)?"
)


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant, and the lab's UTC offset in seconds where given."""

    at: datetime
    offset: int | None = None


def parse_hl7_timestamp(text: str, zone: tzinfo) -> Moment | None:
    """Parse a timestamp (`YYYY[MM[DD[HH[MM[SS]]]]][+ZZZZ]`); None if invalid.

    One without a time of day is its first instant, one without an offset in `zone`.
    """
    found = _MOMENT.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (
        int(part) if part else least
        for part, least in zip(found.groups(), (0, 1, 1, 0, 0, 0), strict=False)
    )
    offset = None
    if found[7]:
        shift = int(found[7][1:3]) * 3600 + int(found[7][3:]) * 60
        offset = -shift if found[7][0] == "-" else shift
    if not _FIRST_YEAR <= year <= _LAST_YEAR or abs(offset or 0) > _FARTHEST_ZONE:
        return None
    here = zone if offset is None else timezone(timedelta(seconds=offset))
    try:
        at = datetime(year, month, day, hour, minute, second, tzinfo=here)
    except ValueError:
        return None
    return Moment(at, offset)


def parse_hl7_coded_identifier(segment: Segment, number: int) -> tuple[str, str, str]:
    """Return a coded identifier's lab code, name and LOINC code."""
    code = name = loinc = loinc_name = ""
    for at in (1, 4):
        identifier, text, system = (segment.text(number, at + n) for n in range(3))
        if system.upper() == _LOINC:
            loinc, loinc_name = loinc or identifier, loinc_name or text
        elif identifier or text:
            code, name = code or identifier, name or text
    return code, name or loinc_name, loinc


def split_hl7_field_repetitions(segment: Segment, number: int) -> list[str]:
    """Return the text of each repetition of a field."""
    return [
        segment.text(number, repeat=repeat)
        for repeat in range(1, segment.repeats(number) + 1)
    ]


def parse_hl7_observation_value(segment: Segment) -> tuple[str, str]:
    """Return OBX-5 as text, and the ResultType that OBX-2 declares, if any.

    Each repetition is a line, of codes a part. A value of a type that we do not know is
    read part by part.
    """
    numbers = range(1, segment.repeats(5) + 1)
    match segment.text(2):
        case "" | "NM" | "ST" | "TX" | "FT":
            texts = [segment.whole(5, repeat=repeat) for repeat in numbers]
            return "\n".join(texts).strip("\n"), ""
        case "SN":
            return "\n".join(_read_structured_number(segment, n) for n in numbers), ""
        case "CE" | "CWE" | "CNE" | "CF" | "IS" | "ID":
            coded = filter(None, (_read_coded_value(segment, n) for n in numbers))
            return "; ".join(coded), ResultType.CODED_VALUE
        case "DT" | "TS" | "DTM":
            days = (_parse_day(segment.text(5, repeat=repeat)) for repeat in numbers)
            return "\n".join(days), ResultType.COMMENT
        case _:
            parts = (
                " ".join(filter(None, segment.components(5, repeat=repeat)))
                for repeat in numbers
            )
            return "\n".join(parts), ResultType.COMMENT


def is_structured_number(segment: Segment) -> bool:
    """Return whether OBX-5 is of type SN in each repetition.

    A single text is one as well: labs write `<5` into the first component.
    """
    return all(
        len(list(filter(None, parts))) <= 1
        or bool(_STRUCTURED_NUMBER.fullmatch("^".join(parts)))
        for repeat in range(1, segment.repeats(5) + 1)
        if (parts := segment.components(5, repeat=repeat))
    )


def _read_structured_number(segment: Segment, repeat: int) -> str:
    comparator, *others = segment.components(5, repeat=repeat) or [""]
    return "".join([comparator.removeprefix("="), *others])


def _read_coded_value(segment: Segment, repeat: int) -> str:
    """Return a code's text: its own, the first written or the other system's."""
    for component in (2, 9, 5, 1, 4):
        if text := segment.text(5, component, repeat=repeat):
            return text
    return ""


def _parse_day(text: str) -> str:
    moment = parse_hl7_timestamp(text, UTC)
    if moment is None or len(text) < len("YYYYMMDD"):
        return text
    if len(text) == len("YYYYMMDD"):
        return moment.at.date().isoformat()
    return moment.at.isoformat(" ", "minutes")
