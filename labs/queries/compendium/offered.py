"""Describe the tests that labs offer by what their results measure."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.db.models import Count

from labs.models import ExpectedResult, LabTest, Marker
from labs.states.analytes import Analyte, parse_analyte

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from accounts.models import Tenant
    from labs.models import Lab

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class ReportedAnalyte:
    """What one result of a test measures, with its LOINC code and method."""

    code: str
    analyte: Analyte
    method: str
    is_required: bool


@dataclass(frozen=True)
class CompendiumTest:
    """A marker with what its results measure; `is_coded` if each has a LOINC code.

    `result_names` are the lab's own, of all results; `results` are those with a code.
    """

    marker: Marker
    result_names: tuple[str, ...]
    results: tuple[ReportedAnalyte, ...]
    is_coded: bool

    @cached_property
    def codes(self) -> frozenset[str]:
        """Return the LOINC codes of its results."""
        return frozenset(one.code for one in self.results)

    @cached_property
    def required(self) -> frozenset[str]:
        """Return the codes of the results it always has; all where none is marked."""
        needed = frozenset(one.code for one in self.results if one.is_required)
        return needed or self.codes

    @property
    def loinc_set_hash(self) -> str:
        """Return what names its set of LOINC codes; empty without a code."""
        return hash_loinc_set(self.codes)

    @property
    def components(self) -> list[str]:
        """Return what its results measure, in words, each once."""
        return sorted({one.analyte.component for one in self.results})

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the words of its name."""
        return find_words(self.marker.name)

    @cached_property
    def by_analyte(self) -> dict[Analyte, ReportedAnalyte]:
        """Return its results by what they measure."""
        return {one.analyte: one for one in self.results}


def hash_loinc_set(codes: Collection[str]) -> str:
    """Return a name of a set of LOINC codes that is the same everywhere."""
    if not codes:
        return ""
    return hashlib.sha256("|".join(sorted(codes)).encode()).hexdigest()[:32]


def find_words(text: str) -> frozenset[str]:
    """Return the words of a name, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def load_compendium(
    *, tenant: Tenant, labs: Iterable[Lab] | None = None
) -> list[CompendiumTest]:
    """Return the tests that a tenant can order, of these labs (None: all), by id."""
    rows = Marker.objects.visible_to(tenant).filter(retired_at=None, is_orderable=True)
    if labs is not None:
        rows = rows.filter(lab__in=list(labs))
    return describe_markers(rows.select_related("lab").order_by("pk"))


def describe_markers(markers: Iterable[Marker]) -> list[CompendiumTest]:
    """Return markers with what their results measure; one query for the results."""
    found = list(markers)
    results: dict[int, list[ReportedAnalyte]] = defaultdict(list)
    names: dict[int, list[str]] = defaultdict(list)
    uncoded = set()
    parsed: dict[tuple[str, str], tuple[Analyte, str]] = {}
    rows = ExpectedResult.objects.filter(marker__in=[one.pk for one in found])
    for marker_id, result_name, code, name, is_required in rows.order_by(
        "pk"
    ).values_list("marker_id", "name", "loinc_code", "loinc_name", "required"):
        names[marker_id].append(result_name)
        if not code:
            uncoded.add(marker_id)
            continue
        if (code, name) not in parsed:
            parsed[code, name] = parse_analyte(code, name)
        results[marker_id].append(
            ReportedAnalyte(code, *parsed[code, name], is_required)
        )
    return [
        CompendiumTest(
            marker,
            tuple(names[marker.pk]),
            tuple(results[marker.pk]),
            marker.pk in results and marker.pk not in uncoded,
        )
        for marker in found
    ]


def describe_panel(panel: LabTest) -> list[tuple[str, list[CompendiumTest]]]:
    """Return the tests of a panel, whose markers are loaded, by their codes."""
    found = describe_markers(sorted(panel.markers.all(), key=lambda one: one.pk))
    return [(one.marker.provider_id, [one]) for one in found]


def find_tests_by_codes(
    *, tenant: Tenant, provider_ids: Sequence[str], but: Lab
) -> list[tuple[str, list[CompendiumTest]]]:
    """Return the tests of all visible labs but one that have these codes, by code."""
    rows = Marker.objects.visible_to(tenant).filter(provider_id__in=provider_ids)
    found = describe_markers(rows.exclude(lab=but).select_related("lab").order_by("pk"))
    return [
        (code, [one for one in found if one.marker.provider_id == code])
        for code in dict.fromkeys(provider_ids)
    ]


def count_panels_of_markers(
    *, tenant: Tenant, marker_ids: Collection[int]
) -> dict[int, float]:
    """Return for each marker the share of the tenant's panels that hold it."""
    panels = LabTest.objects.for_tenant(tenant)
    total = panels.count()
    if not total:
        return {}
    counted = (
        panels.filter(markers__in=list(marker_ids))
        .values("markers")
        .annotate(number=Count("pk"))
    )
    return {
        row["markers"]: round(row["number"] / total, 3)
        for row in counted
        if row["markers"] in marker_ids
    }
