"""Laboratory results in FHIR: DiagnosticReport and Observation, as they came.

A report is read with its results, and an Observation in no report is one of its own. No
value is converted, no range chosen and no code guessed. Own code: fhir.resources has no
DSTU2, which older exports of Apple hold, and refuses a resource whole for one field
(569 files, 15 MB, read 2026-11-26). Source: FHIR R4, STU3, DSTU2; US Core 3.0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from users.wearables.formats.fhir.values import (
    find_loinc,
    parse_fhir_time,
    read_codes,
    read_concept,
    read_dict,
    read_dicts,
    read_number,
    read_quantity,
    read_range,
    read_text,
    read_time,
    write_number,
    write_range,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Its name where resources are counted, as in the plan of an import.
LAB_REPORT_RESOURCE = "outside_lab_report"
REPORT = "DiagnosticReport"
OBSERVATION = "Observation"
ENTERED_IN_ERROR = "entered-in-error"
# Sections of HL7 table 0074 that are a laboratory's, and FHIR's own category.
_LABORATORY = frozenset(
    {
        *("laboratory", "lab", "bg", "blb", "cg", "ch", "cp", "ge", "hm", "imm"),
        *("mb", "mcb", "myc", "par", "sr", "sp", "tx", "vr", "pat", "lp29693-6"),
    }
)
# Categories that say it is none; others are an institution's own.
_NOT_LABORATORY = frozenset(
    {
        *("vital-signs", "social-history", "imaging", "procedure", "survey", "exam"),
        *("therapy", "activity", "rad", "rus", "ct", "nmr", "nms", "cus", "ous", "xrc"),
        *("cth", "ec", "en", "au", "eeg", "lp29684-5", "lp29708-2", "lp7839-6"),
    }
)
# HL7 table 0078 and what FHIR made of it.
_FLAGS = re.compile(r"v2[-/]0078|ObservationInterpretation", re.IGNORECASE)
# A report of reports of results: deeper ones of a file refer in a circle.
_DEPTH_MAX = 3
_RESULTS_MAX = 1000


def is_laboratory_resource(resource: dict[str, Any]) -> bool | None:
    """Return whether a category says that it is a laboratory's; None if none does."""
    category = resource.get("category")
    words = {code["code"].lower() for code in read_codes(category)}
    words |= {read_text(each.get("text")).lower() for each in read_dicts(category)}
    if words & _LABORATORY:
        return True
    return False if words & _NOT_LABORATORY else None


def describe_resource_kind(resource: dict[str, Any]) -> str:
    """Return its type, and its category if it has one: "Observation vital-signs"."""
    words = [code["code"] for code in read_codes(resource.get("category"))]
    return " ".join([read_text(resource.get("resourceType")), *words[:1]])


def get_resource_key(resource: dict[str, Any]) -> str:
    """Return "Observation/17"; empty without an id."""
    id_ = read_text(resource.get("id"))
    return f"{read_text(resource.get('resourceType'))}/{id_}" if id_ else ""


def list_result_keys(resource: dict[str, Any]) -> list[str]:
    """List the keys of the Observations that a resource is made of."""
    found = read_dicts(resource.get("result")) + read_dicts(resource.get("hasMember"))
    for related in read_dicts(resource.get("related")):  # DSTU2, STU3
        if read_text(related.get("type")) == "has-member":
            found.append(read_dict(related.get("target")))
    keys = [_key_of(reference) for reference in found]
    return [key for key in keys if key]


def read_lab_report(
    resource: dict[str, Any], find: Callable[[str], dict[str, Any] | None]
) -> dict[str, Any]:
    """Return a laboratory's report of a person, with its results.

    `resource` is a DiagnosticReport, or an Observation that is a report of its own.
    `find` returns the Observation of a key, None where there is none.

    Shape: record_id ("DiagnosticReport/17"), name, loinc, codes, status, collected and
    issued (FHIR dateTime as written, empty where there is none), laboratory,
    conclusion, attachments (how many files it has, which are not read),
    missing_results (how many it refers to that `find` lacks), source_updated, results:
    see read_lab_result. What was entered in error has neither results nor conclusion.
    """
    codes = read_codes(resource.get("code"))
    contained = _contained_observations(resource)
    found = {each["record_id"]: each for each in _read_results(resource, find)}
    missing = {
        key
        for key in list_result_keys(resource)
        if key not in contained and find(key) is None
    }
    status = read_text(resource.get("status"))
    is_void = status == ENTERED_IN_ERROR
    return {
        "record_id": get_resource_key(resource),
        "name": read_concept(resource.get("code")),
        "loinc": find_loinc(codes),
        "codes": codes,
        "status": status,
        "collected": _collected(resource),
        "issued": read_time(resource.get("issued")),
        "laboratory": _performer(resource),
        "conclusion": ""
        if is_void
        else read_text(resource.get("conclusion"))
        or read_concept(resource.get("conclusionCode"))
        or read_concept(resource.get("codedDiagnosis")),
        "attachments": len(read_dicts(resource.get("presentedForm"))),
        # Also those that are too many to keep.
        "missing_results": len(missing) + max(0, len(found) - _RESULTS_MAX),
        "source_updated": read_time(read_dict(resource.get("meta")).get("lastUpdated"))
        or read_time(resource.get("issued")),
        "results": [] if is_void else list(found.values())[:_RESULTS_MAX],
    }


def find_report_time(report: dict[str, Any]) -> str:
    """Return when a report's sample was collected, else when it was issued, in UTC.

    Empty where neither it nor a result says so.
    """
    times = [report["collected"], *(each["collected"] for each in report["results"])]
    for text in (*times, report["issued"], report.get("received", "")):
        at = parse_fhir_time(text)
        if at is not None:
            return at.isoformat()
    return ""


def _read_results(
    resource: dict[str, Any], find: Callable[[str], dict[str, Any] | None]
) -> Iterator[dict[str, Any]]:
    if resource.get("resourceType") == OBSERVATION and _has_content(resource):
        yield read_lab_result(resource)
    contained = _contained_observations(resource)
    own = get_resource_key(resource)
    seen = {own}
    waiting = [(key, 1) for key in list_result_keys(resource)]
    while waiting:
        key, depth = waiting.pop(0)
        found = contained.get(key) or find(key)
        if key in seen or found is None:
            continue
        seen.add(key)
        below = list_result_keys(found)
        if _has_content(found) or not below:
            # A contained resource has an id within its report alone.
            inside = f"{own}{key}" if key in contained else ""
            yield read_lab_result(found) | ({"record_id": inside} if inside else {})
        if depth < _DEPTH_MAX:
            waiting[:0] = [(each, depth + 1) for each in below]


def _contained_observations(resource: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"#{read_text(each.get('id'))}": each
        for each in read_dicts(resource.get("contained"))
        if each.get("resourceType") == OBSERVATION
    }


def read_lab_result(resource: dict[str, Any]) -> dict[str, Any]:
    """Return one result.

    Shape: record_id, name, loinc, codes, status, collected, type (quantity, text,
    coded, range, ratio, boolean, time; empty without a value), value (as a text, with
    its comparator), number (of a quantity without comparator), comparator, unit, ucum,
    absent (why there is no value, a code of FHIR's data-absent-reason or the source's),
    flag (the source's, such as "H"), interpretation (its words), ranges: {text, low,
    high, unit, applies_to: for whom, such as "age >= 18 yrs"}, note, specimen, method,
    components: the same of its parts.
    What was entered in error has no value.
    """
    codes = read_codes(resource.get("code"))
    status = read_text(resource.get("status"))
    is_void = status == ENTERED_IN_ERROR
    flags = read_codes(resource.get("interpretation"))
    return {
        "record_id": get_resource_key(resource),
        "name": read_concept(resource.get("code")),
        "loinc": find_loinc(codes),
        "codes": codes,
        "status": status,
        "collected": _collected(resource),
        **(_no_value() if is_void else _read_value(resource)),
        "absent": read_text(resource.get("dataAbsentReason"))
        or next(
            (code["code"] for code in read_codes(resource.get("dataAbsentReason"))),
            read_concept(resource.get("dataAbsentReason")),
        ),
        "flag": "" if is_void else _find_flag(flags),
        "interpretation": ""
        if is_void
        else read_concept(resource.get("interpretation")),
        "ranges": [
            _read_reference_range(each)
            for each in read_dicts(resource.get("referenceRange"))
        ],
        "note": "" if is_void else _note(resource),
        "specimen": read_text(read_dict(resource.get("specimen")).get("display")),
        "method": read_concept(resource.get("method")),
        "components": []
        if is_void
        else [read_lab_result(each) for each in _components(resource)],
    }


def _components(resource: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of an Observation; a part has none of its own."""
    return [
        {name: each for name, each in part.items() if name != "component"}
        for part in read_dicts(resource.get("component"))
    ]


def _has_content(resource: dict[str, Any]) -> bool:
    return (
        any(name.startswith("value") for name in resource)
        or "component" in resource
        or "dataAbsentReason" in resource
    )


def _no_value() -> dict[str, Any]:
    return {
        "type": "",
        "value": "",
        "number": None,
        "comparator": "",
        "unit": "",
        "ucum": "",
    }


def _read_value(resource: dict[str, Any]) -> dict[str, Any]:
    """Return the value[x] of an Observation or component."""
    for name, (kind, read) in _VALUES.items():
        if name in resource:
            found = _no_value() | read(resource[name])
            return found | {"type": kind if found["value"] else ""}
    return _no_value()


def _read_range_value(value: object) -> dict[str, Any]:
    low, high = read_range(value)
    return {
        "value": write_range(low, high),
        "unit": low["unit"] or high["unit"],
        "ucum": low["ucum"] or high["ucum"],
    }


def _read_ratio(value: object) -> dict[str, Any]:
    given = read_dict(value)
    above, below = (
        read_quantity(given.get(name)) for name in ("numerator", "denominator")
    )
    if not above["value"] or not below["value"]:
        return {}
    units = {each["unit"] for each in (above, below)} - {"", "1"}
    if not units:
        return {"value": f"{above['value']}:{below['value']}"}
    parts = [f"{each['value']} {each['unit']}".strip() for each in (above, below)]
    return {"value": " : ".join(parts)}


def _read_whole(value: object) -> dict[str, Any]:
    number = read_number(value)
    if number is None:
        return {}
    return {"value": write_number(number), "number": float(number)}


def _read_period(value: object) -> dict[str, Any]:
    given = read_dict(value)
    ends = [read_time(given.get(name)) for name in ("start", "end")]
    return {"value": " - ".join(ends)} if all(ends) else {"value": "".join(ends)}


def _read_boolean(value: object) -> dict[str, Any]:
    return (
        {"value": {True: "true", False: "false"}[value]}
        if value
        in (
            True,
            False,
        )
        and isinstance(value, bool)
        else {}
    )


_VALUES: dict[str, tuple[str, Callable[[object], dict[str, Any]]]] = {
    "valueQuantity": ("quantity", read_quantity),
    "valueString": ("text", lambda value: {"value": read_text(value)}),
    "valueCodeableConcept": ("coded", lambda value: {"value": read_concept(value)}),
    "valueInteger": ("quantity", _read_whole),
    "valueRange": ("range", _read_range_value),
    "valueRatio": ("ratio", _read_ratio),
    "valueBoolean": ("boolean", _read_boolean),
    "valueDateTime": ("time", lambda value: {"value": read_time(value)}),
    "valueTime": ("time", lambda value: {"value": read_text(value)}),
    "valuePeriod": ("time", _read_period),
}


def _find_flag(codes: list[dict[str, str]]) -> str:
    """Return the flag of HL7's own table, such as "H", else the first."""
    own = [each["code"] for each in codes if _FLAGS.search(each["system"])]
    return (own or [each["code"] for each in codes] or [""])[0]


def _read_reference_range(given: dict[str, Any]) -> dict[str, Any]:
    low, high = read_range(given)
    applies = [
        read_concept(given.get(name)) for name in ("type", "meaning", "appliesTo")
    ]
    youngest, oldest = read_range(given.get("age"))
    if ages := write_range(youngest, oldest):
        unit = youngest["unit"] or oldest["unit"]
        applies.append(f"age {ages} {unit}".strip())
    return {
        "text": read_text(given.get("text")) or write_range(low, high),
        "low": low["number"],
        "high": high["number"],
        "unit": low["unit"] or high["unit"],
        "applies_to": ", ".join(each for each in applies if each),
    }


def _collected(resource: dict[str, Any]) -> str:
    """Return the time of the specimen; of a period, its start."""
    period = read_dict(resource.get("effectivePeriod"))
    return (
        read_time(resource.get("effectiveDateTime"))
        or read_time(resource.get("effectiveInstant"))
        or read_time(period.get("start"))
        or read_time(period.get("end"))
    )


def _performer(resource: dict[str, Any]) -> str:
    """Return who performed it, by name; STU3 has an actor within."""
    for each in read_dicts(resource.get("performer")):
        actor = read_dict(each.get("actor")) or each
        if name := read_text(actor.get("display")):
            return name
    return ""


def _note(resource: dict[str, Any]) -> str:
    notes = [read_text(each.get("text")) for each in read_dicts(resource.get("note"))]
    notes += [read_text(resource.get(name)) for name in ("comment", "comments")]
    return "\n".join(each for each in notes if each)


def _key_of(reference: dict[str, Any]) -> str:
    """Return the key that a reference names: of a whole address, its end."""
    text = read_text(reference.get("reference"))
    if text.startswith("#"):
        return text
    if text.startswith("urn:uuid:"):
        return f"{OBSERVATION}/{text.removeprefix('urn:uuid:')}"
    parts = text.partition("/_history/")[0].split("/")
    return "/".join(parts[-2:]) if len(parts) > 1 else ""
