"""Compare tests of two labs by the LOINC codes of their results.

The same codes count first, then codes of one analyte by another method or unit. Names
alone never convert a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from labs.states.compendium import ConversionReason, Relation

if TYPE_CHECKING:
    from labs.models import Marker
    from labs.queries.compendium.offered import CompendiumTest

# From here on a candidate counts as the other lab's test. Source: Ours: below it, a
# person decides.
CONVERTED_FROM = 0.8
_EXACT = 0.99
EQUIVALENT = 0.9
_OTHER_METHOD = 0.7
_SAME_NAME = 0.6
_COVERS = 0.6
_PART = 0.4
_OVERLAP_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A test of another lab that may stand for one; confidence from 0 to 1.

    `likeness` is how alike their names are, from 0 to 1: of two tests with the same
    codes, the one of the same name is meant.
    """

    test: CompendiumTest
    relation: Relation
    confidence: float
    reasons: tuple[ConversionReason, ...]
    likeness: float = 0.0

    @property
    def is_certain(self) -> bool:
        """Return whether it counts without a person."""
        return self.confidence >= CONVERTED_FROM


def compare_tests(source: CompendiumTest, target: CompendiumTest) -> Candidate | None:
    """Return how a test stands for another; None where nothing says that it does.

    A test one of whose results has no code is never certain, nor one whose methods
    differ where both name theirs. Source: Ours: the answer lists relation and reasons,
    so that a person can check each.
    """
    pairs = pair_results(source, target)
    lacking = source.required - pairs.keys()
    added = target.required - set(pairs.values())
    reasons: list[ConversionReason] = []
    if pairs and not lacking and not added:
        relation, confidence = Relation.EXACT, _EXACT
        if any(code != other for code, other in pairs.items()):
            relation, confidence = Relation.EQUIVALENT, EQUIVALENT
    elif pairs and not lacking:
        relation = Relation.BROADER
        confidence = _COVERS + 0.3 * len(pairs) / len(target.codes)
    elif pairs and not added:
        relation = Relation.NARROWER
        confidence = _PART * (1 + len(pairs) / len(source.codes)) / 2
    elif pairs and len(pairs) >= _OVERLAP_FROM * len(source.codes):
        relation = Relation.OVERLAPPING
        confidence = _PART * len(pairs) / len(source.codes)
    elif source.words and source.words == target.words:
        relation, confidence = Relation.SAME_NAME, _SAME_NAME
    else:
        return None
    if pairs and added:
        reasons.append(ConversionReason.ADDS_RESULTS)
    if pairs and lacking:
        reasons.append(ConversionReason.LACKS_RESULTS)
    if any(code != other for code, other in pairs.items()):
        reasons.append(ConversionReason.METHOD_OR_UNIT_DIFFERS)
        if _have_other_methods(source, target, pairs):
            confidence = min(confidence, _OTHER_METHOD)
    if not (source.is_coded and target.is_coded):
        reasons.append(ConversionReason.RESULTS_WITHOUT_LOINC)
        confidence = min(confidence, _SAME_NAME)
    if source.marker.sample_type != target.marker.sample_type:
        reasons.append(ConversionReason.SAMPLE_DIFFERS)
        confidence = min(confidence, _OTHER_METHOD)
    reasons += _list_changes(source.marker, target.marker)
    return Candidate(
        target,
        relation,
        round(confidence, 3),
        tuple(reasons),
        len(source.words & target.words) / max(1, len(source.words | target.words)),
    )


def pair_results(source: CompendiumTest, target: CompendiumTest) -> dict[str, str]:
    """Return codes of a test with those of another for the same, else the analyte."""
    pairs = {code: code for code in source.codes & target.codes}
    for one in source.results:
        other = target.by_analyte.get(one.analyte)
        if one.code not in pairs and other and other.code not in pairs.values():
            pairs[one.code] = other.code
    return pairs


def rank_candidate(candidate: Candidate) -> tuple[float, float, int, Decimal, int]:
    """Return what sorts candidates: the best first, then the cheapest."""
    marker = candidate.test.marker
    price = marker.price if marker.price is not None else Decimal("Infinity")
    return (
        -candidate.confidence,
        -candidate.likeness,
        len(candidate.test.codes),
        price,
        marker.pk,
    )


def _have_other_methods(
    source: CompendiumTest, target: CompendiumTest, pairs: dict[str, str]
) -> bool:
    mine = {one.code: one.method for one in source.results}
    theirs = {one.code: one.method for one in target.results}
    return any(
        mine[code] and theirs[other] and mine[code] != theirs[other]
        for code, other in pairs.items()
        if code != other
    )


def _list_changes(source: Marker, target: Marker) -> list[ConversionReason]:
    pairs = (
        (ConversionReason.TUBE_DIFFERS, source.container, target.container),
        (ConversionReason.FASTING_DIFFERS, source.fasting, target.fasting),
        (ConversionReason.PRICE_DIFFERS, source.price, target.price),
    )
    return [reason for reason, before, after in pairs if before != after]
