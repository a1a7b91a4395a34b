"""Write a stored catalogue as the CSV files that the import reads."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.utils.text import slugify

from labs.gateways.hl7.catalogue import build_hl7_catalogue_messages
from labs.models import ExpectedResult, Lab, Marker, ServiceCenter
from labs.operations.catalogue.catalogue_rows import NUMBERS, mark_formula
from labs.operations.catalogue.service_centers import describe_service_center

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from django.db.models import QuerySet

# Without ids: a file of one installation is the same file in another.
EXPORTED_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "labs": (
        *("slug", "name", "first_line_address", "city", "zipcode"),
        *("collection_methods", "sample_types"),
    ),
    "questions": (
        *("id", "key", "code", "value", "type", "required", "constraint", "answers"),
    ),
    "markers": (
        *("lab", "provider_id", "name", "type", "sample_type", "container"),
        *("stability", "unit", "price", "fasting", "a_la_carte_enabled"),
        *("is_orderable", "retired", "common_tat_days", "worst_case_tat_days"),
        *("questions", "description"),
    ),
    "expected_results": (
        *("lab", "marker", "provider_id", "name", "loinc_code", "loinc_name"),
        *("unit", "result_type", "low", "high", "coded_values", "required"),
    ),
    "service_centers": (
        *("lab", "site_code", "name", "first_line", "second_line", "city", "state"),
        *("zip_code", "phone_number", "fax_number", "website", "latitude"),
        *("longitude", "time_zone", "hours", "capabilities", "bill_types", "places"),
        *("confirmed_by", "email", "retired"),
    ),
}
Entry = dict[str, str]


def export_lab_catalogue(*, labs: QuerySet[Lab]) -> dict[str, bytes]:
    """Write labs with their markers, results, questions and centers, by file name.

    Importing the files changes nothing, and exporting again gives the same bytes: rows
    are sorted, lines end in a line feed, and texts that begin like a formula have an
    apostrophe before them, which the import takes off. Source: Ours.
    """
    entries = build_catalogue_entries(labs=labs)
    return {name: write_catalogue_file(name, rows) for name, rows in entries.items()}


def export_lab_catalogue_messages(*, labs: QuerySet[Lab], at: datetime) -> bytes:
    """Write the tests of labs as MFN^M08 and MFN^M10 messages, one after another.

    The import reads them; what they don't say stays as it is stored.
    """
    messages = []
    for lab in labs.order_by("slug"):
        markers = Marker.objects.filter(lab=lab).prefetch_related("expected_results")
        messages += build_hl7_catalogue_messages(lab=lab, markers=markers, at=at)
    return b"".join(messages)


def build_catalogue_entries(*, labs: QuerySet[Lab]) -> dict[str, list[Entry]]:
    """Return the values of each file's rows, in the order of the files."""
    markers = list(
        Marker.objects.filter(lab__in=labs)
        .select_related("lab")
        .prefetch_related("expected_results")
    )
    markers.sort(key=lambda marker: (marker.lab.slug, marker.provider_id))
    keys = build_question_keys(markers)
    results = [
        {"lab": marker.lab.slug, "marker": marker.provider_id, **describe_result(one)}
        for marker in markers
        for one in sorted(
            marker.expected_results.all(), key=lambda result: result.provider_id
        )
    ]
    return {
        "labs": [describe_lab(lab) for lab in labs.order_by("slug")],
        "questions": [
            {"key": key, **_describe_question(json.loads(text))}
            for text, key in keys.items()
        ],
        "markers": [describe_marker(marker, keys) for marker in markers],
        "expected_results": results,
        "service_centers": [
            describe_service_center(center)
            for center in ServiceCenter.objects.filter(lab__in=labs)
            .select_related("lab")
            .order_by("lab__slug", "site_code")
        ],
    }


def build_question_keys(markers: Iterable[Marker]) -> dict[str, str]:
    """Return a key for each question of the markers by its text, in order of the keys.

    A key is made of the question's code, and numbered where questions share one.
    """
    texts = {_question_text(each) for one in markers for each in one.aoe_questions}
    by_slug: dict[str, list[str]] = defaultdict(list)
    for text in sorted(texts, key=lambda one: (json.loads(one)["id"], one)):
        by_slug[slugify(json.loads(text)["code"]) or "question"].append(text)
    return {
        text: slug if number == 1 else f"{slug}_{number}"
        for slug in sorted(by_slug)
        for number, text in enumerate(by_slug[slug], 1)
    }


def describe_lab(lab: Lab) -> Entry:
    """Return a lab's row."""
    return {
        "slug": lab.slug,
        "name": lab.name,
        "first_line_address": lab.first_line_address,
        "city": lab.city,
        "zipcode": lab.zipcode,
        "collection_methods": "|".join(lab.collection_methods),
        "sample_types": "|".join(lab.sample_types),
    }


def describe_marker(marker: Marker, question_keys: Mapping[str, str]) -> Entry:
    """Return a marker's row; its questions by their keys, as build_question_keys."""
    questions = sorted(marker.aoe_questions, key=lambda each: int(each["sequence"]))
    return {
        "lab": marker.lab.slug,
        "provider_id": marker.provider_id,
        "name": marker.name,
        "type": marker.type,
        "sample_type": marker.sample_type,
        "container": marker.container,
        "stability": "|".join(
            f"{storage}={hours}" for storage, hours in sorted(marker.stability.items())
        ),
        "unit": marker.unit,
        "price": "" if marker.price is None else f"{marker.price:.2f}",
        "fasting": _flag(marker.fasting),
        "a_la_carte_enabled": _flag(marker.a_la_carte_enabled),
        "is_orderable": _flag(marker.is_orderable),
        "retired": _flag(marker.retired_at is not None),
        "common_tat_days": _number(marker.common_tat_days),
        "worst_case_tat_days": _number(marker.worst_case_tat_days),
        "questions": "|".join(
            question_keys[_question_text(each)] for each in questions
        ),
        "description": marker.description,
    }


def describe_result(result: ExpectedResult) -> Entry:
    """Return the row of an expected result, without its marker."""
    return {
        "provider_id": result.provider_id,
        "name": result.name,
        "loinc_code": result.loinc_code,
        "loinc_name": result.loinc_name,
        "unit": result.unit,
        "result_type": result.result_type,
        "low": _number(result.low),
        "high": _number(result.high),
        "coded_values": "|".join(result.coded_values),
        "required": _flag(result.required),
    }


def _describe_question(question: Mapping[str, Any]) -> Entry:
    return {
        "id": str(question["id"]),
        "code": question["code"],
        "value": question["value"],
        "type": question["type"],
        "required": _flag(question["required"]),
        "constraint": question["constraint"] or "",
        "answers": "|".join(
            f"{answer['code']}={answer['value']}" for answer in question["answers"]
        ),
    }


def _question_text(question: Mapping[str, Any]) -> str:
    """Return a question as text, whatever its place among a marker's."""
    return json.dumps({**question, "sequence": 0}, sort_keys=True)


def write_catalogue_file(name: str, entries: Sequence[Entry]) -> bytes:
    """Write the rows of one file; what begins like a formula is marked."""
    columns = EXPORTED_COLUMNS[name]
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [
            entry[column] if column in NUMBERS else mark_formula(entry[column])
            for column in columns
        ]
        for entry in entries
    )
    return written.getvalue().encode()


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else repr(value)
