"""Read a transaction Bundle: its reports, what they refer to, and each fault's place.

Everything is checked before anything is stored. Source: FHIR R4, 3.1.0.11.2
Transaction, 2.36 Bundle.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exchange.resources.datatypes import build_own_url
from exchange.resources.outside_results import OBSERVATION_STATUSES, REPORT_STATUSES
from portal.lib.errors import DomainError
from users.wearables.formats.fhir.values import (
    parse_fhir_time,
    read_codes,
    read_concept,
    read_dict,
    read_dicts,
    read_number,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exchange.resources.base import Json

ENTRIES_MAX = 10_000
# As outside reports keep them (users.wearables.formats.fhir.lab_reports).
RESULTS_MAX = 1000
REPORT, OBSERVATION, PATIENT = "DiagnosticReport", "Observation", "Patient"
# What results refer to; of these the words are kept with the result.
_NAMED = frozenset({"Specimen", "Organization"})
_TAKEN = frozenset({REPORT, OBSERVATION, PATIENT}) | _NAMED
_DIGEST_LENGTH = 32


class BundleInvalid(DomainError):
    """A Bundle is at fault at `field`, a FHIRPath such as `Bundle.entry[3]`."""


@dataclass(frozen=True, slots=True)
class SentReport:
    """A DiagnosticReport of a Bundle at `index`, with the indexes of its results.

    `resource` and the resources of `results` have ids that are the same each time they
    are sent, and refer to each other by them. `patient` is a uuid or a search such as
    `identifier=…`, `order` a ServiceRequest's id, empty without one.
    """

    index: int
    resource: Json
    patient: str
    order: str
    results: Mapping[int, Json]
    laboratory: str = ""
    samples: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SentBundle:
    """The reports of a Bundle, its Patients by index, and how many entries it has."""

    types: list[str]
    reports: list[SentReport]
    patients: dict[int, str]


def place_of(index: int, path: str = "") -> str:
    """Return the FHIRPath of an entry, or of something in it."""
    return f"Bundle.entry[{index}]{'.' if path else ''}{path}"


def read_transaction(bundle: Json) -> SentBundle:
    """Read a transaction of DiagnosticReports with their Observations.

    Raises BundleInvalid (400) with the place of the first fault: not_a_transaction,
    too_many_entries, entry_invalid, request_unsupported, resource_unsupported,
    duplicate_full_url, reference_unresolved, identifier_missing, status_invalid,
    code_missing, value_missing, value_invalid, time_invalid, patient_missing,
    patient_differs, observation_unreferenced, reports_missing, too_many_results.
    """
    if bundle.get("resourceType") != "Bundle" or bundle.get("type") != "transaction":
        raise BundleInvalid(
            "not_a_transaction", "Send a Bundle of type transaction.", "Bundle.type"
        )
    entries = bundle.get("entry", [])
    if not isinstance(entries, list):
        raise BundleInvalid("entry_invalid", "Send a list.", "Bundle.entry")
    if len(entries) > ENTRIES_MAX:
        raise BundleInvalid(
            "too_many_entries", f"Send at most {ENTRIES_MAX} entries.", "Bundle.entry"
        )
    resources = [_read_entry(index, entry) for index, entry in enumerate(entries)]
    known = _index_by_reference(entries, resources)
    reports = [
        _read_report(index, resource, resources, known)
        for index, resource in enumerate(resources)
        if resource["resourceType"] == REPORT
    ]
    if not reports:
        raise BundleInvalid(
            "reports_missing", "Send at least one DiagnosticReport.", "Bundle.entry"
        )
    _require_each_result_once(resources, reports)
    return SentBundle(
        types=[one["resourceType"] for one in resources],
        reports=reports,
        patients={
            index: _read_conditional(index, entries[index])
            for index, one in enumerate(resources)
            if one["resourceType"] == PATIENT
        },
    )


def _read_entry(index: int, entry: object) -> Json:
    resource = read_dict(read_dict(entry).get("resource"))
    if not resource:
        raise BundleInvalid(
            "entry_invalid", "An entry needs a resource.", place_of(index, "resource")
        )
    type_ = read_text(resource.get("resourceType"))
    if type_ not in _TAKEN:
        raise BundleInvalid(
            "resource_unsupported",
            f"Not taken here; taken are {', '.join(sorted(_TAKEN))}.",
            place_of(index, "resource"),
        )
    request = read_dict(read_dict(entry).get("request"))
    if request.get("method") != "POST" or request.get("url") != type_:
        raise BundleInvalid(
            "request_unsupported",
            f"Send request.method POST and request.url {type_}.",
            place_of(index, "request"),
        )
    if type_ != PATIENT and request.keys() & {"ifNoneExist", "ifMatch"}:
        raise BundleInvalid(
            "request_unsupported",
            "Leave this out: what is sent again makes no second one.",
            place_of(index, "request.ifNoneExist"),
        )
    return resource


def _read_conditional(index: int, entry: Any) -> str:
    """Return the search of a Patient, who has to be here already."""
    found = read_text(entry["request"].get("ifNoneExist"))
    if not found:
        raise BundleInvalid(
            "request_unsupported",
            "Patients are not created here: name one with ifNoneExist.",
            place_of(index, "request.ifNoneExist"),
        )
    return found


def _index_by_reference(entries: list[Any], resources: list[Json]) -> dict[str, int]:
    """Return the index of each entry by the references that may lead to it."""
    known: dict[str, int] = {}
    for index, (entry, resource) in enumerate(zip(entries, resources, strict=True)):
        names = {read_text(entry.get("fullUrl"))}
        if id_ := read_text(resource.get("id")):
            names.add(f"{resource['resourceType']}/{id_}")
        for name in names - {""}:
            if known.setdefault(name, index) != index:
                raise BundleInvalid(
                    "duplicate_full_url",
                    "Another entry has the same address.",
                    place_of(index, "fullUrl"),
                )
    return known


def _read_report(
    index: int, resource: Json, resources: list[Json], known: dict[str, int]
) -> SentReport:
    _check(index, resource, REPORT_STATUSES)
    identity = _read_identity(resource)
    if not identity:
        raise BundleInvalid(
            "identifier_missing",
            "Send an identifier with system and value: what has the same one later is"
            " its next version.",
            place_of(index, "resource.identifier"),
        )
    patient = _read_reference(index, resource.get("subject"), known, "subject")
    if not patient:
        raise BundleInvalid(
            "patient_missing", "Say whose it is.", place_of(index, "resource.subject")
        )
    results: dict[int, Json] = {}
    listed = read_dicts(resource.get("result"))
    if len(listed) > RESULTS_MAX:
        raise BundleInvalid(
            "too_many_results",
            f"A report has at most {RESULTS_MAX} results.",
            place_of(index, "resource.result"),
        )
    for position, reference in enumerate(listed):
        place = place_of(index, f"resource.result[{position}]")
        target = known.get(read_text(reference.get("reference")))
        if target is None or resources[target]["resourceType"] != OBSERVATION:
            raise BundleInvalid(
                "reference_unresolved", "No Observation here has this address.", place
            )
        results[target] = _read_result(
            target, resources[target], identity, patient, known
        )
    laboratory, samples = _read_named(resource, results, resources, known)
    return SentReport(
        index=index,
        resource={
            **resource,
            "id": identity,
            "result": [
                {"reference": f"{OBSERVATION}/{one['id']}"} for one in results.values()
            ],
        },
        patient=patient,
        order=_read_order(index, resource),
        results=results,
        laboratory=laboratory,
        samples=samples,
    )


def _read_result(
    index: int, resource: Json, of: str, patient: str, known: dict[str, int]
) -> Json:
    """Check an Observation; return it with an id that is the same each time."""
    _check(index, resource, OBSERVATION_STATUSES)
    subject = _read_reference(index, resource.get("subject"), known, "subject")
    if subject not in {"", patient}:
        raise BundleInvalid(
            "patient_differs",
            "The report is of another patient.",
            place_of(index, "resource.subject"),
        )
    values = [name for name in resource if name.startswith("value")]
    if not values and not {"dataAbsentReason", "component"} & resource.keys():
        raise BundleInvalid(
            "value_missing",
            "Send a value, or why there is none.",
            place_of(index, "resource"),
        )
    quantity = resource.get("valueQuantity")
    if len(values) > 1 or (
        quantity is not None and read_number(read_dict(quantity).get("value")) is None
    ):
        raise BundleInvalid(
            "value_invalid",
            "Send one value; that of a Quantity is a number.",
            place_of(index, f"resource.{values[0]}"),
        )
    # Without an identifier, a code stands for it: the same one again is a later value.
    code = "|".join(f"{c['system']}|{c['code']}" for c in read_codes(resource["code"]))
    identity = _read_identity(resource) or _digest(
        of, code or read_concept(resource["code"])
    )
    return {**resource, "id": identity}


def _check(index: int, resource: Json, statuses: frozenset[str]) -> None:
    """Check what both types need: a status, a code, a time that can be read."""
    if resource.get("status") not in statuses:
        raise BundleInvalid(
            "status_invalid",
            f"Send one of {', '.join(sorted(statuses))}.",
            place_of(index, "resource.status"),
        )
    if not read_concept(resource.get("code")):
        raise BundleInvalid(
            "code_missing", "Send a code or a text.", place_of(index, "resource.code")
        )
    for name in ("effectiveDateTime", "issued"):
        if name in resource and parse_fhir_time(read_text(resource[name])) is None:
            raise BundleInvalid(
                "time_invalid",
                "Send a FHIR time, with an offset.",
                place_of(index, f"resource.{name}"),
            )


def _require_each_result_once(resources: list[Json], reports: list[SentReport]) -> None:
    seen: dict[int, int] = {}
    for report in reports:
        ids = set()
        for index, one in report.results.items():
            if seen.setdefault(index, report.index) != report.index:
                raise BundleInvalid(
                    "observation_shared",
                    "Two reports refer to this Observation.",
                    place_of(index),
                )
            if one["id"] in ids:
                raise BundleInvalid(
                    "observation_twice",
                    "Another Observation of this report has the same code: give each"
                    " an identifier.",
                    place_of(index, "resource.identifier"),
                )
            ids.add(one["id"])
    for index, resource in enumerate(resources):
        if resource["resourceType"] == OBSERVATION and index not in seen:
            raise BundleInvalid(
                "observation_unreferenced",
                "No DiagnosticReport refers to this Observation.",
                place_of(index),
            )


def _read_named(
    report: Json, results: dict[int, Json], resources: list[Json], known: dict[str, int]
) -> tuple[str, dict[str, Json]]:
    """Return the name of the laboratory, and Specimens by how they are referred to."""
    laboratory = ""
    for performer in read_dicts(report.get("performer")):
        target = known.get(read_text(performer.get("reference")))
        named = resources[target] if target is not None else {}
        laboratory = laboratory or (
            read_text(performer.get("display")) or read_text(named.get("name"))
        )
    samples = {}
    references = [
        *read_dicts(report.get("specimen")),
        *(read_dict(one.get("specimen")) for one in results.values()),
    ]
    for reference in references:
        name = read_text(reference.get("reference"))
        target = known.get(name)
        if target is not None:
            samples[name] = resources[target]
    return laboratory, samples


def _read_reference(index: int, value: object, known: dict[str, int], name: str) -> str:
    """Return what a reference to a Patient names: an id, a search, or `entry:3`."""
    text = read_text(read_dict(value).get("reference"))
    if not text:
        return ""
    if text in known:
        return f"entry:{known[text]}"
    own = build_own_url("R4/")
    kind, _, rest = text.removeprefix(own).partition("/")
    if kind == PATIENT and rest:
        return rest
    search = text.removeprefix(f"{PATIENT}?")
    if search != text:
        return search
    raise BundleInvalid(
        "reference_unresolved",
        "No entry and no Patient here has this address.",
        place_of(index, f"resource.{name}"),
    )


def _read_order(index: int, resource: Json) -> str:
    """Return the id of the order that a report answers; empty without one."""
    found = [
        read_text(each.get("reference")) for each in read_dicts(resource.get("basedOn"))
    ]
    if not found:
        return ""
    kind, _, id_ = found[0].removeprefix(build_own_url("R4/")).partition("/")
    if len(found) > 1 or kind != "ServiceRequest" or not id_:
        raise BundleInvalid(
            "reference_unresolved",
            "Name one ServiceRequest of this server.",
            place_of(index, "resource.basedOn"),
        )
    return id_


def _read_identity(resource: Json) -> str:
    """Return an id made of the first identifier with system and value."""
    for each in read_dicts(resource.get("identifier")):
        system, value = read_text(each.get("system")), read_text(each.get("value"))
        if system and value:
            return _digest(system, value)
    return ""


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:_DIGEST_LENGTH]
