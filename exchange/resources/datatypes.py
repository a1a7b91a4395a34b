"""FHIR's data types, made of our values: codes, quantities, references, times."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import orjson

from portal.lib.units import normalize_unit
from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from exchange.resources.base import Json

LOINC = "http://loinc.org"
SNOMED = "http://snomed.info/sct"
UCUM = "http://unitsofmeasure.org"
ABSENT = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
ABSENT_EXTENSION = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
CATEGORY = "http://terminology.hl7.org/CodeSystem/observation-category"
INTERPRETATION = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation"
US_CORE = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-"
# A number as JSON may write it: what a lab printed keeps its digits.
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?")
_COMPARED = re.compile(rf"(<=|>=|<|>)\s*({_NUMBER.pattern})")
_INTERPRETATIONS = {
    "normal": ("N", "N", "N"),
    "abnormal": ("A", "H", "L"),
    "critical": ("AA", "HH", "LL"),
}


def drop_empty(resource: Json) -> Json:
    """Return an object without what is None, empty text or an empty list or object."""
    return {
        name: value
        for name, value in resource.items()
        if value is not None and value != "" and value != [] and value != {}
    }


def build_own_url(path: str) -> str:
    """Return an address of this server that names a system of codes or an extension."""
    return build_absolute_url(f"/fhir/{path}")


def hash_id_part(*parts: str) -> str:
    """Return 16 characters that stand for texts in an id."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def write_time(at: datetime | None) -> str | None:
    """Return an instant as FHIR writes it."""
    return at.isoformat() if at else None


def build_meta(
    updated: datetime | None, version: object = None, *profiles: str
) -> Json:
    """Return what is said of a resource's version."""
    if version is None and updated is not None:
        version = int(updated.timestamp() * 1000)
    return drop_empty(
        {
            "versionId": None if version is None else str(version),
            "lastUpdated": write_time(updated),
            "profile": list(profiles),
        }
    )


def build_coding(system: str, code: str, display: str = "") -> Json:
    """Return a Coding."""
    return drop_empty({"system": system, "code": code, "display": display})


def build_concept(text: str, *codings: Json) -> Json:
    """Return a CodeableConcept; empty without text and codes."""
    return drop_empty(
        {"coding": [one for one in codings if one.get("code")], "text": text}
    )


def build_reference(type_: str, id_: object, display: str = "") -> Json:
    """Return a Reference to a resource that is served."""
    return drop_empty({"reference": f"{type_}/{id_}", "display": display})


def build_patient_reference(uuid: UUID) -> Json:
    """Return a Reference to a user."""
    return build_reference("Patient", uuid)


def build_absent_reason(code: str) -> Json:
    """Return a CodeableConcept of why there is no value."""
    return build_concept("", build_coding(ABSENT, code))


def build_category(code: str, display: str) -> list[Json]:
    """Return the category of Observations."""
    return [build_concept("", build_coding(CATEGORY, code, display))]


def write_number(text: str, value: float | None) -> Any:
    """Return a number for JSON, with the digits as printed where they are a number."""
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped):
        return orjson.Fragment(stripped.encode())
    if value is None:
        return None
    return int(value) if value == int(value) else value


def build_quantity(
    text: str, value: float | None, unit: str, *, ucum: str | None = None
) -> Json | None:
    """Return a Quantity; its code is UCUM's where the printed unit has one."""
    number = write_number(text, value)
    if number is None:
        return None
    code = ucum or (normalize_unit(unit) if unit else None)
    return drop_empty(
        {
            "value": number,
            "unit": unit or code,
            "system": UCUM if code else None,
            "code": code,
        }
    )


def build_compared_quantity(text: str, unit: str, ucum: str | None) -> Json | None:
    """Return the Quantity of a text such as "<0.5"; None for another text."""
    found = _COMPARED.fullmatch(text.strip())
    if found is None:
        return None
    quantity = build_quantity(found[2], None, unit, ucum=ucum)
    return {"comparator": found[1], **quantity} if quantity else None


def build_interpretation(
    interpretation: str, *, above: bool | None, below: bool | None, flag: str = ""
) -> list[Json]:
    """Return how a result compares with its range; empty where nothing says so."""
    codes = _INTERPRETATIONS.get(interpretation)
    if codes is None:
        return [build_concept(flag)] if flag else []
    code = codes[1] if above else codes[2] if below else codes[0]
    return [build_concept(flag, build_coding(INTERPRETATION, code))]


def build_reference_range(
    text: str, low: float | None, high: float | None, unit: str, ucum: str | None = None
) -> list[Json]:
    """Return the range that a result is compared with."""
    found = drop_empty(
        {
            "low": build_quantity("", low, unit, ucum=ucum),
            "high": build_quantity("", high, unit, ucum=ucum),
            "text": text,
        }
    )
    return [found] if found else []
