"""Composition: the head of a laboratory report that is handed out as a document.

Nothing here is stored: it is made of a DiagnosticReport and its results, whose id it
has. Source: HL7 Europe Laboratory Report 2.0.0 (`hl7.fhir.eu.laboratory`).
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

import orjson

from exchange.resources.datatypes import (
    LOINC,
    build_coding,
    build_concept,
    build_own_url,
    build_reference,
    drop_empty,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exchange.resources.base import Json

EU_LAB = "http://hl7.eu/fhir/laboratory/StructureDefinition/"
REPORT_TYPE = build_coding(LOINC, "11502-2", "Laboratory report")
STUDIES = build_coding(LOINC, "26436-6", "Laboratory studies (set)")
_REPORT_EXTENSION = (
    "http://hl7.eu/fhir/extensions/StructureDefinition/"
    "composition-diagnosticReportReference"
)
# What a document can be of a report; a report with another status is none yet.
STATUSES = {
    "partial": "preliminary",
    "preliminary": "preliminary",
    "final": "final",
    "amended": "amended",
    "corrected": "amended",
    "appended": "amended",
}
_XHTML = "http://www.w3.org/1999/xhtml"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEADS = ("Test", "Result", "Unit", "Reference range", "Interpretation")


def build_report_identifier(report: Json) -> Json:
    """Return the identifier of a report, the same in every version of it."""
    return {"system": build_own_url("laboratory-report"), "value": report["id"]}


def build_composition(
    *,
    report: Json,
    authors: Sequence[Json],
    signer: Json | None,
    patient: Json,
    results: Sequence[Json],
) -> Json:
    """Build the Composition of a report; `authors` and `signer` are References.

    Texts are in English, as the names of codes are.
    """
    return drop_empty(
        {
            "resourceType": "Composition",
            "id": report["id"],
            "meta": {**report["meta"], "profile": [f"{EU_LAB}Composition-eu-lab"]},
            "language": "en",
            "text": _build_narrative(_write_head(report, patient)),
            "extension": [
                {
                    "url": _REPORT_EXTENSION,
                    "valueReference": build_reference("DiagnosticReport", report["id"]),
                }
            ],
            "identifier": build_report_identifier(report),
            "status": STATUSES[report["status"]],
            "type": build_concept("", REPORT_TYPE),
            "category": [build_concept("", STUDIES)],
            "subject": report["subject"],
            "date": report["issued"],
            "author": list(authors),
            "title": "Laboratory report",
            "attester": [
                {"mode": "professional", "time": report["issued"], "party": signer}
            ]
            if signer
            else None,
            "section": [
                {
                    "title": "Laboratory studies",
                    "code": build_concept("", STUDIES),
                    "text": _build_narrative(_write_table(results)),
                    "entry": [
                        build_reference("Observation", one["id"]) for one in results
                    ],
                }
            ],
        }
    )


def _build_narrative(xhtml: str) -> Json:
    return {"status": "generated", "div": f'<div xmlns="{_XHTML}">{xhtml}</div>'}


def _write_head(report: Json, patient: Json) -> str:
    [name, *_] = patient["name"]
    words = [*name.get("given", []), name.get("family", "")]
    lines = (
        ("Patient", " ".join(filter(None, words))),
        ("Birth date", patient["birthDate"]),
        ("Report", report["code"].get("text", "")),
        ("Collected", report.get("effectiveDateTime", "")),
        ("Issued", report["issued"]),
        ("Status", report["status"]),
    )
    return "".join(f"<p>{head}: {_write(text)}</p>" for head, text in lines if text)


def _write_table(results: Sequence[Json]) -> str:
    heads = "".join(f"<th>{head}</th>" for head in _HEADS)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_write(cell)}</td>' for cell in _list_cells(one))}</tr>"
        for one in results
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _list_cells(result: Json) -> tuple[str, ...]:
    quantity = result.get("valueQuantity", {})
    number = _write_number(quantity.get("value"))
    value = (
        f"{quantity.get('comparator', '')}{number}"
        or result.get("valueString")
        or result.get("valueCodeableConcept", {}).get("text")
        or "Not available"
    )
    ranges = result.get("referenceRange", [])
    flags = [
        one.get("text") or one["coding"][0]["code"]
        for one in result.get("interpretation", [])
    ]
    return (
        _name(result["code"]),
        value,
        quantity.get("unit", ""),
        "; ".join(filter(None, map(_write_range, ranges))),
        ", ".join(flags),
    )


def _name(concept: Json) -> str:
    named = concept.get("text") or concept["coding"][0].get("display")
    return str(named or concept["coding"][0]["code"])


def _write_range(given: Json) -> str:
    if text := given.get("text"):
        return str(text)
    low, high = (
        _write_number(given.get(end, {}).get("value")) for end in ("low", "high")
    )
    return f"{low or '…'} to {high or '…'}" if low or high else ""


def _write_number(value: Any) -> str:
    """Return a number with the digits that are served."""
    return "" if value is None else orjson.dumps(value).decode()


def _write(text: str) -> str:
    return escape(_NOT_IN_XML.sub("�", text))
