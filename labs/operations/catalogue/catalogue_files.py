"""Parse the rows of a lab catalogue: those that ship, and imported ones.

`labs`, `markers`, `expected_results`, `questions` and `service_centers`; lists are
parted by `|`. A result names its marker by lab and provider_id, or by the marker's `id`
in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import count
from math import isfinite
from typing import TYPE_CHECKING, Any

from django.utils.text import slugify
from django.utils.translation import gettext as _

from labs.models import ExpectedResult, Lab, Marker
from labs.operations.catalogue.catalogue_cells import (
    clean_row,
    parse_choices,
    parse_flag,
    split_list,
)
from labs.operations.catalogue.catalogue_rows import COLUMNS, CellError
from labs.operations.catalogue.service_centers import parse_service_center
from labs.states.catalogue import CollectionMethod, QuestionType, SampleType, Storage
from labs.states.loinc import is_loinc_code
from portal.lib.units import normalize_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from labs.models import ServiceCenter
    from labs.operations.catalogue.catalogue_rows import (
        CatalogueRow,
        CatalogueRows,
        Fault,
    )
    from portal.lib.choices import OpenChoices

_ID_MAX = 2**31 - 1
_HOURS_MAX = 24 * 365 * 5
_BOUND_MAX = 1e15
_SLUG_MAX = 200


@dataclass(slots=True)
class ParsedCatalogue:
    """Unsaved rows under the ids of the files, and what is wrong with other rows.

    `retired` are the markers that a file says are retired. `places` says where a
    marker stands, by its id in the file.
    """

    labs: list[Lab] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    results: list[ExpectedResult] = field(default_factory=list)
    centers: list[ServiceCenter] = field(default_factory=list)
    retired: list[Marker] = field(default_factory=list)
    places: dict[int, CatalogueRow] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def parse_lab_catalogue(
    content: CatalogueRows,
    *,
    labs: Mapping[str, Lab],
    taken: Collection[str] = (),
) -> ParsedCatalogue:
    """Parse the rows of the files; one with a fault is left out.

    `labs` are those that are stored, by slug: a file without a lab may name them.
    `taken` are slugs of labs that are in another's catalogue.
    """
    found = ParsedCatalogue(faults=list(content.faults))
    stored = dict(labs)
    named: dict[str, Lab] = {}
    questions: dict[str, dict[str, Any]] = {}
    markers: dict[int, Marker] = {}
    codes: dict[tuple[str, str], Marker] = {}
    results: dict[int, ExpectedResult] = {}
    result_codes: dict[tuple[int, str], ExpectedResult] = {}
    centers: dict[tuple[str, str], ServiceCenter] = {}
    # Rows without an id of their own are distinguished by negative numbers.
    numbers = count(-1, -1)

    def add_lab(row: CatalogueRow) -> None:
        lab = _parse_lab(row.values, number=len(named) + 1)
        if lab.slug in taken and lab.slug not in stored:
            raise CellError("slug", _("another lab has this slug"))
        _add_once(named, lab.slug, lab, "slug")

    def add_question(row: CatalogueRow) -> None:
        entry = row.values
        _add_once(questions, entry["key"], _parse_question(entry), "key")

    def add_marker(row: CatalogueRow) -> None:
        entry = row.values
        known = named.get(entry["lab"]) or stored.get(entry["lab"])
        marker = _parse_marker(entry, known, questions, next(numbers))
        _add_once(codes, (entry["lab"], marker.provider_id), marker, "provider_id")
        _add_once(markers, marker.pk, marker, "id")
        found.places[marker.pk] = row
        if parse_flag(entry, "retired", otherwise=False):
            marker.is_orderable = marker.a_la_carte_enabled = False
            found.retired.append(marker)

    def add_result(row: CatalogueRow) -> None:
        entry = row.values
        marker = _find_marker(entry, markers, codes)
        result = _parse_result(entry, marker, next(numbers))
        code = (marker.pk, result.provider_id)
        _add_once(result_codes, code, result, "provider_id")
        _add_once(results, result.pk, result, "id")

    def add_center(row: CatalogueRow) -> None:
        entry = row.values
        lab = named.get(entry["lab"]) or stored.get(entry["lab"])
        center = parse_service_center(entry, lab)
        _add_once(centers, (entry["lab"], center.site_code), center, "site_code")

    for name, add in (
        ("labs", add_lab),
        ("questions", add_question),
        ("markers", add_marker),
        ("expected_results", add_result),
        ("service_centers", add_center),
    ):
        _parse_rows(name, content.rows[name], add, found.faults)
    found.labs = list(named.values())
    found.markers = list(markers.values())
    found.results = list(results.values())
    found.centers = list(centers.values())
    return found


def _parse_rows(
    name: str,
    rows: Sequence[CatalogueRow],
    add: Callable[[CatalogueRow], None],
    faults: list[Fault],
) -> None:
    for row in rows:
        try:
            _require_values(row.values, COLUMNS[name][0])
            add(row)
        except CellError as error:
            faults.append(row.build_fault(error))


def _require_values(entry: Mapping[str, str], columns: Sequence[str]) -> None:
    for name in columns:
        if not entry[name]:
            raise CellError(name, _("%(name)s is missing") % {"name": name})


def _parse_lab(entry: Mapping[str, str], *, number: int) -> Lab:
    lab = Lab(
        id=_parse_id(entry, "id") if entry["id"] else number,
        slug=entry["slug"],
        name=entry["name"],
        first_line_address=entry["first_line_address"],
        city=entry["city"],
        zipcode=entry["zipcode"],
        collection_methods=_parse_some(entry, "collection_methods", CollectionMethod),
        sample_types=_parse_some(entry, "sample_types", SampleType),
    )
    clean_row(lab)
    return lab


def _parse_marker(
    entry: Mapping[str, str],
    lab: Lab | None,
    questions: Mapping[str, dict[str, Any]],
    number: int,
) -> Marker:
    if lab is None:
        raise CellError("lab", _("lab is not in labs.csv"))
    keys = split_list(entry["questions"])
    if set(keys) - questions.keys():
        raise CellError("questions", _("questions are not in questions.csv"))
    marker = Marker(
        id=_parse_id(entry, "id") if entry["id"] else number,
        lab=lab,
        name=entry["name"],
        slug=_build_slug(entry),
        description=entry["description"],
        provider_id=entry["provider_id"],
        type=entry["type"],
        unit=_parse_unit(entry),
        price=_parse_price(entry["price"]),
        sample_type=entry["sample_type"],
        container=entry["container"],
        fasting=parse_flag(entry, "fasting", otherwise=False),
        a_la_carte_enabled=parse_flag(entry, "a_la_carte_enabled", otherwise=True),
        is_orderable=parse_flag(entry, "is_orderable", otherwise=True),
        common_tat_days=_parse_days(entry, "common_tat_days"),
        worst_case_tat_days=_parse_days(entry, "worst_case_tat_days"),
        aoe_questions=[
            {**questions[key], "sequence": place} for place, key in enumerate(keys, 1)
        ],
        stability=_parse_stability(entry["stability"]),
    )
    clean_row(marker, "lab", "aoe_questions", "stability")
    return marker


def _find_marker(
    entry: Mapping[str, str],
    markers: Mapping[int, Marker],
    codes: Mapping[tuple[str, str], Marker],
) -> Marker:
    if entry["marker_id"]:
        column, marker = "marker_id", markers.get(_parse_id(entry, "marker_id"))
    else:
        column, marker = "marker", codes.get((entry["lab"], entry["marker"]))
    if marker is None:
        message = _("%(name)s has no valid row in markers.csv") % {"name": column}
        raise CellError(column, message)
    return marker


def _parse_result(
    entry: Mapping[str, str], marker: Marker, number: int
) -> ExpectedResult:
    result = ExpectedResult(
        id=_parse_id(entry, "id") if entry["id"] else number,
        marker=marker,
        name=entry["name"],
        slug=_build_slug(entry),
        provider_id=entry["provider_id"],
        required=parse_flag(entry, "required", otherwise=True),
        loinc_code=_parse_loinc(entry),
        loinc_name=entry["loinc_name"],
        unit=_parse_unit(entry),
        result_type=entry["result_type"],
        low=_parse_bound(entry, "low"),
        high=_parse_bound(entry, "high"),
        coded_values=split_list(entry["coded_values"]),
    )
    if result.low is not None and result.high is not None and result.low > result.high:
        raise CellError("high", _("high is below low"))
    clean_row(result, "marker", "coded_values")
    return result


def _parse_question(entry: Mapping[str, str]) -> dict[str, Any]:
    if QuestionType.known(entry["type"]) is None:
        raise CellError("type", _("type has an unknown value"))
    answers = [answer.partition("=") for answer in split_list(entry["answers"])]
    if any(not (code and text) for code, _equals, text in answers):
        raise CellError("answers", _("answers are not written as code=text"))
    return {
        "id": _parse_id(entry, "id"),
        "required": parse_flag(entry, "required", otherwise=False),
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
        raise CellError(name, _("%(name)s is listed twice") % {"name": name})
    known[key] = value


def _parse_some(
    entry: Mapping[str, str], name: str, choices: type[OpenChoices]
) -> list[str]:
    if not entry[name]:
        raise CellError(name, _("%(name)s is missing") % {"name": name})
    return parse_choices(entry, name, choices)


def _parse_id(entry: Mapping[str, str], name: str) -> int:
    text = entry[name]
    if not (text.isascii() and text.isdigit() and int(text[:12]) <= _ID_MAX):
        raise CellError(name, _("%(name)s is not a whole number") % {"name": name})
    return int(text)


def _build_slug(entry: Mapping[str, str]) -> str:
    """Return the slug of a name; of one without Latin letters, its code's."""
    slug = slugify(entry["name"]) or slugify(entry["provider_id"]) or "test"
    return slug[:_SLUG_MAX]


def _parse_unit(entry: Mapping[str, str]) -> str:
    unit = entry["unit"]
    if unit and normalize_unit(unit) is None:
        raise CellError("unit", _("the unit is unknown"))
    return unit


def _parse_loinc(entry: Mapping[str, str]) -> str:
    code = entry["loinc_code"]
    if code and not is_loinc_code(code):
        raise CellError("loinc_code", _("the LOINC code or its check digit is wrong"))
    return code


def _parse_stability(text: str) -> dict[str, int]:
    """Parse `refrigerated=168|frozen=720`: hours by storage."""
    found: dict[str, int] = {}
    for part in split_list(text):
        storage, _equals, hours = part.partition("=")
        if (
            Storage.known(storage) is None
            or storage in found
            or not (hours.isascii() and hours.isdigit() and len(hours) < 6)
            or not 0 < int(hours) <= _HOURS_MAX
        ):
            message = _("stability is not written as storage=hours")
            raise CellError("stability", message)
        found[storage] = int(hours)
    return found


def _parse_days(entry: Mapping[str, str], name: str) -> int | None:
    return _parse_id(entry, name) if entry[name] else None


def _parse_price(text: str) -> Decimal | None:
    try:
        price = Decimal(text) if text else None
    except InvalidOperation:
        price = Decimal("nan")
    if price is not None and not (price.is_finite() and price >= 0):
        raise CellError("price", _("price is not an amount"))
    return price


def _parse_bound(entry: Mapping[str, str], name: str) -> float | None:
    try:
        bound = float(entry[name]) if entry[name] else None
    except ValueError:
        bound = float("nan")
    if bound is not None and not (isfinite(bound) and abs(bound) < _BOUND_MAX):
        raise CellError(name, _("%(name)s is not a number") % {"name": name})
    return bound
