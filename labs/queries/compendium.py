"""Find tests in the compendiums of all labs, and convert those of one lab to another.

Two tests are compared by the LOINC codes of their results: the same codes, then codes
of one analyte by another method or unit. Names alone never convert a test.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

from django.db.models import Count

from labs.models import ExpectedResult, LabTest, Marker
from labs.models.catalogue import sum_prices
from labs.queries.catalogue import list_labs
from labs.states.analytes import Analyte, parse_analyte
from labs.states.compendium import ConversionReason, Relation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from accounts.models import Tenant
    from labs.models import Lab

# From here on a candidate counts as the other lab's test. Source: Ours: below it, a
# person decides.
CONVERTED_FROM = 0.8
_EXACT = 0.99
_EQUIVALENT = 0.9
_OTHER_METHOD = 0.7
_SAME_NAME = 0.6
_COVERS = 0.6
_PART = 0.4
_OVERLAP_FROM = 0.5
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
        return frozenset(_WORD.findall(self.marker.name.lower()))

    @cached_property
    def by_analyte(self) -> dict[Analyte, ReportedAnalyte]:
        """Return its results by what they measure."""
        return {one.analyte: one for one in self.results}


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


@dataclass(frozen=True, slots=True)
class TestConversion:
    """One test of a panel, or a code that no lab has, and what stands for it.

    `chosen` are the tests to order in its place: one, or several that report all of its
    results together; none where a person has to decide. `candidates` are best first.
    """

    provider_id: str
    source: CompendiumTest | None
    candidates: tuple[Candidate, ...] = ()
    chosen: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class PanelConversion:
    """The tests of a panel in another lab."""

    target: Lab
    tests: tuple[TestConversion, ...]

    @property
    def chosen(self) -> list[Candidate]:
        """Return the tests to order, each once."""
        found = {one.test.marker.pk: one for each in self.tests for one in each.chosen}
        return list(found.values())

    @property
    def unresolved(self) -> list[TestConversion]:
        """Return the tests that nothing stands for."""
        return [each for each in self.tests if not each.chosen]

    @property
    def price(self) -> Decimal | None:
        """Return the sum of the chosen tests' prices; None if one has none."""
        return sum_prices([one.test.marker for one in self.chosen])

    @property
    def source_price(self) -> Decimal | None:
        """Return the sum of what the tests cost that something was chosen for."""
        return sum_prices(
            [one.source.marker for one in self.tests if one.source and one.chosen]
        )


@dataclass(frozen=True, slots=True)
class CanonicalTest:
    """All tests that report one set of LOINC codes, whatever the labs call them."""

    codes: frozenset[str]
    tests: tuple[CompendiumTest, ...]
    confidence: float

    @property
    def loinc_set_hash(self) -> str:
        """Return what names the set."""
        return hash_loinc_set(self.codes)

    @property
    def names(self) -> list[str]:
        """Return its names, the most common first."""
        counts = Counter(one.marker.name for one in self.tests)
        return sorted(counts, key=lambda name: (-counts[name], len(name), name))


@dataclass(frozen=True, slots=True)
class CompendiumSearch:
    """What a search found: candidates best first, and by lab what stands for one."""

    candidates: tuple[CanonicalTest, ...] = ()
    selected: CanonicalTest | None = None
    per_lab: dict[str, list[Candidate]] = field(default_factory=dict)
    related: tuple[tuple[CanonicalTest, Candidate], ...] = ()


def hash_loinc_set(codes: Collection[str]) -> str:
    """Return a name of a set of LOINC codes that is the same everywhere."""
    if not codes:
        return ""
    return hashlib.sha256("|".join(sorted(codes)).encode()).hexdigest()[:32]


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


def compare_tests(source: CompendiumTest, target: CompendiumTest) -> Candidate | None:
    """Return how a test stands for another; None where nothing says that it does.

    A test one of whose results has no code is never certain, nor one whose methods
    differ where both name theirs. Source: Ours: the answer lists relation and reasons,
    so that a person can check each.
    """
    pairs = _pair_results(source, target)
    lacking = source.required - pairs.keys()
    added = target.required - set(pairs.values())
    reasons: list[ConversionReason] = []
    if pairs and not lacking and not added:
        relation, confidence = Relation.EXACT, _EXACT
        if any(code != other for code, other in pairs.items()):
            relation, confidence = Relation.EQUIVALENT, _EQUIVALENT
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


def _pair_results(source: CompendiumTest, target: CompendiumTest) -> dict[str, str]:
    """Return codes of a test with those of another for the same, else the analyte."""
    pairs = {code: code for code in source.codes & target.codes}
    for one in source.results:
        other = target.by_analyte.get(one.analyte)
        if one.code not in pairs and other and other.code not in pairs.values():
            pairs[one.code] = other.code
    return pairs


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


def convert_tests(
    *,
    tenant: Tenant,
    sources: Sequence[tuple[str, Sequence[CompendiumTest]]],
    target: Lab,
    limit: int = 5,
) -> PanelConversion:
    """Convert tests to another lab; `sources` are codes with the tests that have them.

    A code that several labs use has several tests: the best candidate of any counts.
    """
    offered = load_compendium(tenant=tenant, labs=[target])
    return PanelConversion(
        target,
        tuple(_convert(code, tests, offered, limit) for code, tests in sources),
    )


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


def search_compendium(
    *,
    tenant: Tenant,
    text: str = "",
    loinc_set_hash: str = "",
    lab_slugs: Collection[str] = (),
    limit: int = 10,
    crosses: bool = False,
    with_related: bool = False,
) -> CompendiumSearch:
    """Search the tests of all visible labs by name, code, LOINC code or set.

    `crosses`: also find, for the selected set, what stands for it at each lab.
    """
    labs = list_labs(tenant=tenant)
    if lab_slugs:
        labs = labs.filter(slug__in=lab_slugs)
    tests = load_compendium(tenant=tenant, labs=labs)
    groups: dict[frozenset[str], list[CompendiumTest]] = defaultdict(list)
    for test in tests:
        if test.codes:
            groups[test.codes].append(test)
    candidates = []
    for codes, members in groups.items():
        if loinc_set_hash:
            confidence = float(hash_loinc_set(codes) == loinc_set_hash)
        else:
            confidence = max(_rate_text(text, member) for member in members)
        if confidence:
            candidates.append(CanonicalTest(codes, tuple(members), confidence))
    candidates.sort(key=lambda one: (-one.confidence, -len(one.tests), one.names[0]))
    shown = tuple(candidates[:limit])
    selected = shown[0] if shown and shown[0].confidence >= _EQUIVALENT else None
    if selected is None or not crosses:
        return CompendiumSearch(shown, selected)
    return CompendiumSearch(
        shown,
        selected,
        _cross(selected, tests, limit),
        _relate(selected, groups, limit) if with_related else (),
    )


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


def _convert(
    code: str,
    sources: Sequence[CompendiumTest],
    offered: list[CompendiumTest],
    limit: int,
) -> TestConversion:
    best: dict[int, Candidate] = {}
    for source in sources:
        for test in offered:
            found = compare_tests(source, test)
            known = best.get(test.marker.pk)
            if found and (known is None or known.confidence < found.confidence):
                best[test.marker.pk] = found
    ranked = sorted(best.values(), key=_rank)
    if ranked and ranked[0].is_certain:
        chosen: tuple[Candidate, ...] = (ranked[0],)
    else:
        chosen = _combine(sources, ranked)
    shown = dict.fromkeys((*chosen, *ranked[:limit]))
    return TestConversion(code, sources[0] if sources else None, tuple(shown), chosen)


def _combine(
    sources: Sequence[CompendiumTest], ranked: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """Return tests that report all results of a source together, and nothing else."""
    if len(sources) != 1 or not sources[0].is_coded:
        return ()
    source = sources[0]
    left = set(source.required)
    parts = [
        (one, _pair_results(source, one.test).keys())
        for one in ranked
        if one.relation == Relation.NARROWER
        and one.test.is_coded
        and ConversionReason.SAMPLE_DIFFERS not in one.reasons
    ]
    chosen = []
    while left and parts:
        best, covered = max(parts, key=lambda part: len(part[1] & left))
        if not covered & left:
            return ()
        chosen.append(best)
        left -= covered
        parts.remove((best, covered))
    return () if left else tuple(chosen)


def _rank(candidate: Candidate) -> tuple[float, float, int, Decimal, int]:
    marker = candidate.test.marker
    price = marker.price if marker.price is not None else Decimal("Infinity")
    return (
        -candidate.confidence,
        -candidate.likeness,
        len(candidate.test.codes),
        price,
        marker.pk,
    )


def _list_changes(source: Marker, target: Marker) -> list[ConversionReason]:
    pairs = (
        (ConversionReason.TUBE_DIFFERS, source.container, target.container),
        (ConversionReason.FASTING_DIFFERS, source.fasting, target.fasting),
        (ConversionReason.PRICE_DIFFERS, source.price, target.price),
    )
    return [reason for reason, before, after in pairs if before != after]


def _rate_text(text: str, test: CompendiumTest) -> float:
    """Return how well a text names a test; 0 where it does not."""
    wanted = text.strip().lower()
    if not wanted:
        return 0.0
    name = test.marker.name.lower()
    if wanted in {name, test.marker.provider_id.lower()} or wanted in test.codes:
        return 1.0
    words = frozenset(_WORD.findall(wanted))
    if words and words == test.words:
        return 0.95
    if words and words <= test.words:
        return round(0.5 + 0.4 * len(words) / len(test.words), 3)
    if any(wanted in component for component in test.components):
        return round(0.5 / len(test.codes), 3)
    return 0.0


def _cross(
    selected: CanonicalTest, tests: Iterable[CompendiumTest], limit: int
) -> dict[str, list[Candidate]]:
    source = selected.tests[0]
    found: dict[str, list[Candidate]] = defaultdict(list)
    for test in tests:
        if candidate := compare_tests(source, test):
            found[test.marker.lab.slug].append(candidate)
    return {slug: sorted(found[slug], key=_rank)[:limit] for slug in sorted(found)}


def _relate(
    selected: CanonicalTest,
    groups: dict[frozenset[str], list[CompendiumTest]],
    limit: int,
) -> tuple[tuple[CanonicalTest, Candidate], ...]:
    found = []
    for codes, members in groups.items():
        candidate = compare_tests(selected.tests[0], members[0])
        if candidate and codes != selected.codes:
            canonical = CanonicalTest(codes, tuple(members), candidate.confidence)
            found.append((canonical, candidate))
    found.sort(key=lambda pair: _rank(pair[1]))
    return tuple(found[:limit])
