"""A laboratory report as a document that stands by itself, with all that it refers to.

The profiles of Europe want more than is always known. What is missing is named, and
nothing is made up in its place. Source: HL7 Europe Laboratory Report 2.0.0
(`hl7.fhir.eu.laboratory`), on HL7 Europe Base and Core 2.0.0; FHIR R4, 3.3 Documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid4, uuid5

from django.utils import timezone

from exchange.queries.shareable import build_share_resources
from exchange.resources.composition import (
    EU_LAB,
    REPORT_TYPE,
    STATUSES,
    STUDIES,
    build_composition,
    build_report_identifier,
)
from exchange.resources.datatypes import (
    build_concept,
    build_own_url,
    build_reference,
    drop_empty,
)
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from accounts.models import Tenant
    from exchange.resources.base import Json

_EU_CORE = "http://hl7.eu/fhir/base/StructureDefinition/"
_PROFILES = {
    "Patient": f"{_EU_CORE}patient-eu-core",
    "Organization": f"{_EU_CORE}organization-eu-core",
    "Practitioner": f"{_EU_CORE}practitioner-eu-core",
    "DiagnosticReport": f"{EU_LAB}DiagnosticReport-eu-lab",
    "Observation": f"{EU_LAB}Observation-resultslab-eu-lab",
    "Specimen": f"{EU_LAB}Specimen-eu-lab",
    "ServiceRequest": f"{EU_LAB}ServiceRequest-eu-lab",
}
_COMPOSITION_EXTENSION = (
    "http://hl7.org/fhir/5.0/StructureDefinition/extension-DiagnosticReport.composition"
)
# A fault each; who reads them mends the first ones first.
_NAMED_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class Missing:
    """An element that a document needs, as FHIRPath, and a sentence about it."""

    path: str
    sentence: str


class DocumentIncomplete(DomainError):
    """A report lacks what a document of it must have; on the wire a 422."""

    def __init__(self, missing: Sequence[Missing]) -> None:
        super().__init__("element_missing", "The report is not complete.")
        self.missing = tuple(missing[:_NAMED_AT_MOST])


def build_laboratory_document(
    *, tenant: Tenant, report: Json, reduce: Callable[[Json], Json] = dict
) -> Json:
    """Return the Bundle of type document of a DiagnosticReport as it is served.

    `reduce` returns what of a resource is handed out. The same report gives a Bundle
    with another identifier each time. Raises: DocumentIncomplete.
    """
    named: dict[str, Json] = {}
    gathered = [
        _refer_to_named(reduce(one), named)
        for one in build_share_resources(tenant=tenant, reports=[report])
    ]
    if missing := list(_list_missing(report, gathered)):
        raise DocumentIncomplete(missing)
    by_reference = {f"{one['resourceType']}/{one['id']}": one for one in gathered}
    shown = by_reference[f"DiagnosticReport/{report['id']}"]
    interpreters = shown.get("resultsInterpreter", [])
    composition = build_composition(
        report=shown,
        authors=interpreters or shown["performer"],
        signer=interpreters[0] if interpreters else None,
        patient=by_reference[shown["subject"]["reference"]],
        results=[by_reference[one["reference"]] for one in shown["result"]],
    )
    entries = {
        build_own_url(f"R4/{one['resourceType']}/{one['id']}"): one
        for one in (composition, *map(_conform, gathered))
    }
    return {
        "resourceType": "Bundle",
        "meta": {"profile": [f"{EU_LAB}Bundle-eu-lab"]},
        "identifier": {"system": "urn:ietf:rfc:3986", "value": uuid4().urn},
        "type": "document",
        "timestamp": timezone.now().isoformat(),
        "entry": [
            {"fullUrl": url, "resource": one} for url, one in (entries | named).items()
        ],
    }


def _list_missing(report: Json, gathered: Sequence[Json]) -> Iterator[Missing]:
    """Yield what the profiles require and the report has not."""
    here = f"DiagnosticReport '{report['id']}'"
    if report["id"].startswith("outside-"):
        # Its institution is its author, and nobody here has reviewed it.
        yield Missing("Composition.author", f"{here} is of another institution.")
    if report["status"] not in STATUSES:
        yield Missing("Composition.status", f"{here} is {report['status']}.")
    if not report.get("result"):
        yield Missing("Composition.section.entry", f"{here} has no results.")
    if not (report.get("resultsInterpreter") or report.get("performer")):
        yield Missing("Composition.author", f"{here} names no laboratory.")
    if not report.get("issued"):
        yield Missing("Composition.date", f"{here} has no time of issue.")
    for one in gathered:
        type_ = one["resourceType"]
        for name, words in _REQUIRED.get(type_, ()):
            if not any(key.startswith(name) for key in one):
                yield Missing(
                    f"{type_}.where(id = '{one['id']}').{name}",
                    f"{type_} '{one['id']}' has no {words}.",
                )


# Elements by the beginning of their names; what we always have is not among them.
_REQUIRED = {
    "Patient": (("birthDate", "birth date"),),
    "Observation": (
        ("effective", "time of collection"),
        ("performer", "laboratory"),
    ),
    "Specimen": (("type", "type"),),
    "Organization": (("name", "name"),),
}


def _refer_to_named(resource: Json, named: dict[str, Json]) -> Json:
    """Let a resource refer to whoever it has only the name of, and note them.

    A laboratory is an Organization, who signed a Practitioner.
    """
    referred = dict(resource)
    for name, type_ in (
        ("performer", "Organization"),
        ("resultsInterpreter", "Practitioner"),
    ):
        if resource["resourceType"] in {"Observation", "DiagnosticReport"} and (
            given := resource.get(name)
        ):
            referred[name] = [_refer(one, type_, named) for one in given]
    return referred


def _refer(given: Json, type_: str, named: dict[str, Json]) -> Json:
    if "reference" in given:
        return given
    display = given["display"]
    urn = uuid5(NAMESPACE_URL, build_own_url(f"{type_}/{display}")).urn
    name = display if type_ == "Organization" else [{"text": display}]
    named[urn] = {
        "resourceType": type_,
        "id": urn.rpartition(":")[2],
        "meta": {"profile": [_PROFILES[type_]]},
        "name": name,
    }
    return {"reference": urn, "display": display}


def _conform(resource: Json) -> Json:
    """Return a resource with what the profiles want besides."""
    type_ = resource["resourceType"]
    meta = resource.get("meta", {})
    profiles = [*meta.get("profile", []), _PROFILES[type_]]
    conformed = {**resource, "meta": {**meta, "profile": profiles}}
    if type_ == "ServiceRequest":
        system = build_own_url("order")
        conformed["identifier"] = [{"system": system, "value": resource["id"]}]
    if type_ == "DiagnosticReport":
        code = resource["code"]
        others = [one for one in code.get("coding", []) if one != REPORT_TYPE]
        conformed |= {
            "extension": [
                {
                    "url": _COMPOSITION_EXTENSION,
                    "valueReference": build_reference("Composition", resource["id"]),
                }
            ],
            "identifier": [build_report_identifier(resource)],
            "category": [*resource["category"], build_concept("", STUDIES)],
            "code": build_concept(code.get("text", ""), REPORT_TYPE, *others),
        }
    return drop_empty(conformed)
