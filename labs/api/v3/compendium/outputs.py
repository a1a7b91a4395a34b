"""Response shapes of the compendium, as the published typed client reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict
from uuid import UUID

from labs.states.compendium import ConversionReason, Relation, SearchMode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.models import LabTest
    from labs.queries.compendium.comparison import Candidate
    from labs.queries.compendium.conversion import PanelConversion, TestConversion
    from labs.queries.compendium.search import CanonicalTest, CompendiumSearch


class PerLabCandidateAnswer(TypedDict):
    """A test of a lab; `marker_popularity_score` is the share of your panels."""

    marker_id: int
    lab_id: int
    lab_slug: str
    name: str
    result_names: list[str]
    provider_id: str
    loinc_set_hash: str
    loinc_codes: list[str]
    loinc_components: list[str]
    loinc_groups: list[str]
    cpt_codes: list[str]
    relation: Annotated[str, Relation]
    confidence: float
    reason_codes: list[Annotated[str, ConversionReason]]
    marker_popularity_score: float


class CanonicalCandidateAnswer(TypedDict):
    """All tests that report one set of LOINC codes."""

    loinc_set_hash: str
    display_name: str
    aliases: list[str]
    loinc_codes: list[str]
    provider_ids: list[str]
    loinc_components: list[str]
    loinc_groups: list[str]
    cpt_codes: list[str]
    popularity_score: float
    confidence: float


class RelatedCandidateAnswer(TypedDict):
    """A set of results that shares some with the selected one."""

    canonical: CanonicalCandidateAnswer
    relation: Annotated[str, Relation]
    confidence: float
    reason_codes: list[Annotated[str, ConversionReason]]


class CompendiumSearchAnswer(TypedDict):
    """What a search found; `selected_canonical` is null if several may be meant."""

    mode: Annotated[str, SearchMode]
    selected_canonical: CanonicalCandidateAnswer | None
    canonical_candidates: list[CanonicalCandidateAnswer]
    per_lab: dict[str, list[PerLabCandidateAnswer]]
    related: list[RelatedCandidateAnswer]


class TestConversionAnswer(TypedDict):
    """The candidates for one code, best first."""

    source_provider_id: str
    candidates: list[PerLabCandidateAnswer]


class CompendiumConversionAnswer(TypedDict):
    """A conversion; codes that nothing certain stands for are unresolved."""

    source_lab_test_id: UUID | None
    source_lab_id: int | None
    target_lab_id: int
    target_lab_slug: str
    source_provider_ids: list[str]
    converted_provider_ids: list[str]
    unresolved_provider_ids: list[str]
    by_source_provider_id: dict[str, TestConversionAnswer]


class OrderableTestsAnswer(TypedDict):
    """Tests of a lab by the codes they may stand for."""

    candidates: dict[str, list[PerLabCandidateAnswer]]


def build_compendium_search(
    found: CompendiumSearch, *, mode: SearchMode, shares: Mapping[int, float]
) -> CompendiumSearchAnswer:
    """Build the answer of a search; `shares` are popularity by marker id."""
    return {
        "mode": mode,
        "selected_canonical": (
            _build_canonical(found.selected, shares) if found.selected else None
        ),
        "canonical_candidates": [
            _build_canonical(one, shares) for one in found.candidates
        ],
        "per_lab": {
            slug: [_build_candidate(one, shares) for one in candidates]
            for slug, candidates in found.per_lab.items()
        },
        "related": [
            {
                "canonical": _build_canonical(canonical, shares),
                "relation": one.relation,
                "confidence": one.confidence,
                "reason_codes": list(one.reasons),
            }
            for canonical, one in found.related
        ],
    }


def build_compendium_conversion(
    found: PanelConversion, *, panel: LabTest | None, shares: Mapping[int, float]
) -> CompendiumConversionAnswer:
    """Build the answer of a conversion, of a panel or of codes."""
    labs = {one.source.marker.lab_id for one in found.tests if one.source}
    return {
        "source_lab_test_id": panel.pk if panel else None,
        "source_lab_id": labs.pop() if len(labs) == 1 else None,
        "target_lab_id": found.target.pk,
        "target_lab_slug": found.target.slug,
        "source_provider_ids": [one.provider_id for one in found.tests],
        "converted_provider_ids": [one.test.marker.provider_id for one in found.chosen],
        "unresolved_provider_ids": [one.provider_id for one in found.unresolved],
        "by_source_provider_id": {
            one.provider_id: {
                "source_provider_id": one.provider_id,
                "candidates": build_candidates(one, shares),
            }
            for one in found.tests
        },
    }


def build_candidates(
    conversion: TestConversion, shares: Mapping[int, float]
) -> list[PerLabCandidateAnswer]:
    """Build the candidates of one test."""
    return [_build_candidate(one, shares) for one in conversion.candidates]


def _build_candidate(
    candidate: Candidate, shares: Mapping[int, float]
) -> PerLabCandidateAnswer:
    test, marker = candidate.test, candidate.test.marker
    return {
        "marker_id": marker.pk,
        "lab_id": marker.lab_id,
        "lab_slug": marker.lab.slug,
        "name": marker.name,
        "result_names": list(test.result_names),
        "provider_id": marker.provider_id,
        "loinc_set_hash": test.loinc_set_hash,
        "loinc_codes": sorted(test.codes),
        "loinc_components": test.components,
        "loinc_groups": [],
        "cpt_codes": [],
        "relation": candidate.relation,
        "confidence": candidate.confidence,
        "reason_codes": list(candidate.reasons),
        "marker_popularity_score": shares.get(marker.pk, 0.0),
    }


def _build_canonical(
    canonical: CanonicalTest, shares: Mapping[int, float]
) -> CanonicalCandidateAnswer:
    name, *aliases = canonical.names
    return {
        "loinc_set_hash": canonical.loinc_set_hash,
        "display_name": name,
        "aliases": aliases,
        "loinc_codes": sorted(canonical.codes),
        "provider_ids": sorted({one.marker.provider_id for one in canonical.tests}),
        "loinc_components": canonical.tests[0].components,
        "loinc_groups": [],
        "cpt_codes": [],
        "popularity_score": max(
            shares.get(one.marker.pk, 0.0) for one in canonical.tests
        ),
        "confidence": canonical.confidence,
    }
