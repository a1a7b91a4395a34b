"""Values of FHIR resources: texts, codes, quantities, ranges and times.

Forms of DSTU2, STU3 and R4 are read alike, and what a field should not hold is none.
Numbers come as Decimal, so that 5.20 stays 5.20: FHIR's decimals keep their precision.
Source: FHIR R4 (hl7.org/fhir/R4/datatypes.html), DSTU2 (hl7.org/fhir/DSTU2).
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

LOINC_SYSTEM = "http://loinc.org"
UCUM_SYSTEM = "http://unitsofmeasure.org"
_NOON = time(12)
# Ours: of 28 digits a laboratory means none.
_DIGITS_MAX = 28


def load_fhir_json(content: bytes) -> dict[str, Any]:
    """Return a resource. Raises: ValueError, for what is no JSON object."""
    try:
        found = json.loads(
            content.decode("utf-8-sig"),
            parse_float=Decimal,
            parse_int=Decimal,
            parse_constant=_refuse_constant,
        )
    except (RecursionError, ArithmeticError) as error:
        raise ValueError("not a resource") from error
    if not isinstance(found, dict):
        raise ValueError("not a resource")  # noqa: TRY004 - the file's fault
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def read_text(value: object) -> str:
    """Return a text that PostgreSQL can store; empty for what is none."""
    if not isinstance(value, str):
        return ""
    # A lone surrogate is no character.
    return value.replace("\0", "").encode("utf-8", "replace").decode().strip()


def read_dict(value: object) -> dict[str, Any]:
    """Return an object, empty for what is none."""
    return value if isinstance(value, dict) else {}


def read_dicts(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list, or a single one, as DSTU2 has some."""
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list):
        return []
    return [each for each in value if isinstance(each, dict)]


def read_codes(concepts: object) -> list[dict[str, str]]:
    """Return the codings of one or several concepts: system, code, display."""
    return [
        {
            "system": read_text(coding.get("system")),
            "code": read_text(coding.get("code")),
            "display": read_text(coding.get("display")),
        }
        for concept in read_dicts(concepts)
        for coding in read_dicts(concept.get("coding"))
        if read_text(coding.get("code"))
    ]


def read_concept(concepts: object) -> str:
    """Return what a concept is called: its text, else its first code's."""
    for concept in read_dicts(concepts):
        if text := read_text(concept.get("text")):
            return text
    codes = read_codes(concepts)
    named = [each["display"] for each in codes if each["display"]]
    return (named or [each["code"] for each in codes] or [""])[0]


def find_loinc(codes: list[dict[str, str]]) -> str:
    """Return the LOINC code among codings; empty without one."""
    found = [each["code"] for each in codes if each["system"] == LOINC_SYSTEM]
    return found[0] if found else ""


def read_number(value: object) -> Decimal | None:
    """Return a number, as JSON had it."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    if abs(value.adjusted()) > _DIGITS_MAX or len(value.as_tuple().digits) > (
        _DIGITS_MAX
    ):
        return None
    return value


def write_number(value: Decimal) -> str:
    """Write a number without exponent, no digit changed."""
    return format(value, "f")


def read_quantity(value: object) -> dict[str, Any]:
    """Return a Quantity: value, number, comparator, unit and ucum.

    `value` has the comparator and the digits of the source, `number` is the number of
    one without comparator; `ucum` is empty where its unit's system is another.
    """
    given = read_dict(value)
    number = read_number(given.get("value"))
    comparator = read_text(given.get("comparator"))
    code = read_text(given.get("code"))
    is_ucum = read_text(given.get("system")) == UCUM_SYSTEM
    return {
        "value": "" if number is None else f"{comparator}{write_number(number)}",
        "number": None if number is None or comparator else float(number),
        "comparator": comparator,
        "unit": read_text(given.get("unit")) or read_text(given.get("units")) or code,
        "ucum": code if is_ucum else "",
    }


def read_range(value: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the low and high Quantity of a Range."""
    given = read_dict(value)
    return read_quantity(given.get("low")), read_quantity(given.get("high"))


def write_range(low: dict[str, Any], high: dict[str, Any]) -> str:
    """Write a range without its unit: "3.5 - 5.1", "<= 5.1"."""
    if low["value"] and high["value"]:
        return f"{low['value']} - {high['value']}"
    if high["value"]:
        return f"<= {high['value']}"
    return f">= {low['value']}" if low["value"] else ""


def read_time(value: object) -> str:
    """Return a FHIR dateTime as written; empty if none can be read."""
    text = read_text(value)
    return text if parse_fhir_time(text) else ""


def parse_fhir_time(text: str) -> datetime | None:
    """Return the moment of a FHIR dateTime: of a day, noon UTC of it.

    Of a month or year it is the first day: to sort by, never to show.
    """
    try:
        if "T" not in text:
            parts = [int(part) for part in text.split("-")]
            day = date(*[*parts, 1, 1][:3])
            return datetime.combine(day, _NOON, UTC)
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else None
    except (ValueError, TypeError, OverflowError):  # the last: no year there is
        return None
