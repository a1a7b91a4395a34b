"""Parse the CSV files of a lab catalogue: those that ship, and imported ones.

`labs`, `markers`, `expected_results` and `questions`; lists are parted by `|`. The ids
of a file join its lines: `marker_id` of a result is the `id` of a marker.
"""

from __future__ import annotations

import csv
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext as _

from labs.models import ExpectedResult, Lab, Marker
from labs.states.catalogue import CollectionMethod, QuestionType, SampleType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from django.db.models import Model

    from portal.lib.choices import OpenChoices

# The columns that each file must have, and those that may be missing or empty.
COLUMNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "labs": (
        ("slug", "name", "first_line_address", "city", "zipcode"),
        ("id", "collection_methods", "sample_types"),
    ),
    "questions": (
        ("id", "key", "code", "value", "type"),
        ("required", "constraint", "answers"),
    ),
    "markers": (
        ("id", "lab", "name", "provider_id", "type", "sample_type"),
        (
            *("unit", "price", "container", "fasting", "a_la_carte_enabled"),
            "is_orderable",
            *("common_tat_days", "worst_case_tat_days", "questions", "description"),
        ),
    ),
    "expected_results": (
        ("id", "marker_id", "name", "provider_id", "result_type"),
        (
            *("loinc_code", "loinc_name", "unit", "low", "high"),
            *("coded_values", "required"),
        ),
    ),
}
_ID_MAX = 2**31 - 1


@dataclass(slots=True)
class ParsedCatalogue:
    """Unsaved rows under the ids of the files, and what is wrong with other lines."""

    labs: list[Lab] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    results: list[ExpectedResult] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def parse_lab_catalogue(files: Mapping[str, Iterable[str]]) -> ParsedCatalogue:
    """Parse the lines of the files by name; a line with a fault is left out."""
    found = ParsedCatalogue()
    labs: dict[str, Lab] = {}
    questions: dict[str, dict[str, Any]] = {}
    markers: dict[int, Marker] = {}
    results: dict[int, ExpectedResult] = {}

    def add_lab(entry: dict[str, str]) -> None:
        lab = _parse_lab(entry, number=len(labs) + 1)
        _add_once(labs, lab.slug, lab, "slug")

    def add_question(entry: dict[str, str]) -> None:
        _add_once(questions, entry["key"], _parse_question(entry), "key")

    def add_marker(entry: dict[str, str]) -> None:
        marker = _parse_marker(entry, labs, questions)
        _add_once(markers, marker.pk, marker, "id")
        _add_once(codes, (entry["lab"], marker.provider_id), marker, "provider_id")

    def add_result(entry: dict[str, str]) -> None:
        result = _parse_result(entry, markers)
        _add_once(results, result.pk, result, "id")
        code = (result.marker_id, result.provider_id)
        _add_once(result_codes, code, result, "provider_id")

    codes: dict[tuple[str, str], Marker] = {}
    result_codes: dict[tuple[int, str], ExpectedResult] = {}
    for name, add in (
        ("labs", add_lab),
        ("questions", add_question),
        ("markers", add_marker),
        ("expected_results", add_result),
    ):
        _parse_file(name, files[name], add, found.faults)
    found.labs = list(labs.values())
    found.markers = list(markers.values())
    found.results = list(results.values())
    return found


@contextmanager
def read_catalogue_folder(folder: Path) -> Iterator[dict[str, Iterable[str]]]:
    """Open the files of a folder by name. Raises: OSError."""
    with ExitStack() as opened:
        yield {
            name: opened.enter_context(
                (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="")
            )
            for name in COLUMNS
        }


def _parse_file(
    name: str,
    lines: Iterable[str],
    add: Callable[[dict[str, str]], None],
    faults: list[str],
) -> None:
    reader = csv.DictReader(lines, restkey="more")
    needed, optional = COLUMNS[name]
    missing = [one for one in needed if one not in (reader.fieldnames or ())]
    if missing:
        faults.append(
            _("%(file)s.csv: add the missing columns to the header: %(columns)s.")
            % {"file": name, "columns": ", ".join(missing)}
        )
        return
    for entry in reader:
        try:
            add(_read_values(entry, needed, optional))
        except ValueError as fault:
            faults.append(
                _("%(file)s.csv, line %(line)d: %(fault)s.")
                % {"file": name, "line": reader.line_num, "fault": fault}
            )


def _read_values(
    entry: dict[str, str], needed: tuple[str, ...], optional: tuple[str, ...]
) -> dict[str, str]:
    if entry.get("more"):
        raise ValueError(_("more values than columns"))
    values = {one: (entry.get(one) or "").strip() for one in needed + optional}
    for one in needed:
        if not values[one]:
            raise ValueError(_("%(name)s is missing") % {"name": one})
    return values


def _parse_lab(entry: dict[str, str], *, number: int) -> Lab:
    lab = Lab(
        id=_parse_id(entry, "id") if entry["id"] else number,
        slug=entry["slug"],
        name=entry["name"],
        first_line_address=entry["first_line_address"],
        city=entry["city"],
        zipcode=entry["zipcode"],
        collection_methods=_parse_choices(
            entry, "collection_methods", CollectionMethod
        ),
        sample_types=_parse_choices(entry, "sample_types", SampleType),
    )
    _clean(lab)
    return lab


def _parse_marker(
    entry: dict[str, str], labs: dict[str, Lab], questions: dict[str, dict[str, Any]]
) -> Marker:
    lab = labs.get(entry["lab"])
    if lab is None:
        raise ValueError(_("lab is not in labs.csv"))
    keys = _split_list(entry["questions"])
    if set(keys) - questions.keys():
        raise ValueError(_("questions are not in questions.csv"))
    marker = Marker(
        id=_parse_id(entry, "id"),
        lab=lab,
        name=entry["name"],
        slug=slugify(entry["name"]),
        description=entry["description"],
        provider_id=entry["provider_id"],
        type=entry["type"],
        unit=entry["unit"],
        price=_parse_price(entry["price"]),
        sample_type=entry["sample_type"],
        container=entry["container"],
        fasting=_parse_flag(entry, "fasting", otherwise=False),
        a_la_carte_enabled=_parse_flag(entry, "a_la_carte_enabled", otherwise=True),
        is_orderable=_parse_flag(entry, "is_orderable", otherwise=True),
        common_tat_days=_parse_days(entry, "common_tat_days"),
        worst_case_tat_days=_parse_days(entry, "worst_case_tat_days"),
        aoe_questions=[
            {**questions[key], "sequence": place} for place, key in enumerate(keys, 1)
        ],
    )
    _clean(marker, "lab", "aoe_questions")
    return marker


def _parse_result(entry: dict[str, str], markers: dict[int, Marker]) -> ExpectedResult:
    marker = markers.get(_parse_id(entry, "marker_id"))
    if marker is None:
        raise ValueError(_("marker_id is not in markers.csv"))
    result = ExpectedResult(
        id=_parse_id(entry, "id"),
        marker=marker,
        name=entry["name"],
        slug=slugify(entry["name"]),
        provider_id=entry["provider_id"],
        required=_parse_flag(entry, "required", otherwise=True),
        loinc_code=entry["loinc_code"],
        loinc_name=entry["loinc_name"],
        unit=entry["unit"],
        result_type=entry["result_type"],
        low=_parse_bound(entry, "low"),
        high=_parse_bound(entry, "high"),
        coded_values=_split_list(entry["coded_values"]),
    )
    _clean(result, "marker", "coded_values")
    return result


def _parse_question(entry: dict[str, str]) -> dict[str, Any]:
    if QuestionType.known(entry["type"]) is None:
        raise ValueError(_("type has an unknown value"))
    answers = [answer.partition("=") for answer in _split_list(entry["answers"])]
    if any(not (code and text) for code, _equals, text in answers):
        raise ValueError(_("answers are not written as code=text"))
    return {
        "id": _parse_id(entry, "id"),
        "required": _parse_flag(entry, "required", otherwise=False),
        "code": entry["code"],
        "value": entry["value"],
        "type": entry["type"],
        "answers": [
            {"id": place, "code": code, "value": text}
            for place, (code, _equals, text) in enumerate(answers, 1)
        ],
        "constraint": entry["constraint"] or None,
        "default": None,
    }


def _add_once(known: dict[Any, Any], key: Any, value: Any, name: str) -> None:
    if key in known:
        raise ValueError(_("%(name)s is listed twice") % {"name": name})
    known[key] = value


def _clean(row: Model, *unchecked: str) -> None:
    empty = (one.name for one in row._meta.fields if getattr(row, one.attname) is None)
    try:
        row.clean_fields(exclude={*unchecked, *empty})
    except ValidationError as fault:
        names = ", ".join(sorted(fault.error_dict))
        raise ValueError(_("not valid: %(names)s") % {"names": names}) from None


def _parse_id(entry: dict[str, str], name: str) -> int:
    text = entry[name]
    if not (text.isascii() and text.isdigit() and int(text[:12]) <= _ID_MAX):
        raise ValueError(_("%(name)s is not a whole number") % {"name": name})
    return int(text)


def _parse_days(entry: dict[str, str], name: str) -> int | None:
    return _parse_id(entry, name) if entry[name] else None


def _parse_flag(entry: dict[str, str], name: str, *, otherwise: bool) -> bool:
    text = entry[name].lower()
    if text not in {"", "true", "false"}:
        raise ValueError(_("%(name)s is neither true nor false") % {"name": name})
    return text == "true" if text else otherwise


def _parse_price(text: str) -> Decimal | None:
    try:
        price = Decimal(text) if text else None
    except InvalidOperation:
        price = Decimal("nan")
    if price is not None and not (price.is_finite() and price >= 0):
        raise ValueError(_("price is not an amount"))
    return price


def _parse_bound(entry: dict[str, str], name: str) -> float | None:
    try:
        bound = float(entry[name]) if entry[name] else None
    except ValueError:
        bound = float("nan")
    if bound is not None and not isfinite(bound):
        raise ValueError(_("%(name)s is not a number") % {"name": name})
    return bound


def _parse_choices(
    entry: dict[str, str], name: str, choices: type[OpenChoices]
) -> list[str]:
    parts = _split_list(entry[name])
    if not parts or any(choices.known(part) is None for part in parts):
        raise ValueError(_("%(name)s has no or an unknown value") % {"name": name})
    return parts


def _split_list(text: str) -> list[str]:
    return [part.strip() for part in text.split("|") if part.strip()]
