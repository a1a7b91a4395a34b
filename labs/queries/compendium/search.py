"""Find tests in the compendiums of all labs, by what they report."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.queries.catalogue import list_labs
from labs.queries.compendium.comparison import (
    EQUIVALENT,
    Candidate,
    compare_tests,
    rank_candidate,
)
from labs.queries.compendium.offered import (
    CompendiumTest,
    find_words,
    hash_loinc_set,
    load_compendium,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from accounts.models import Tenant


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
    selected = shown[0] if shown and shown[0].confidence >= EQUIVALENT else None
    if selected is None or not crosses:
        return CompendiumSearch(shown, selected)
    return CompendiumSearch(
        shown,
        selected,
        _cross(selected, tests, limit),
        _relate(selected, groups, limit) if with_related else (),
    )


def _rate_text(text: str, test: CompendiumTest) -> float:
    """Return how well a text names a test; 0 where it does not."""
    wanted = text.strip().lower()
    if not wanted:
        return 0.0
    name = test.marker.name.lower()
    if wanted in {name, test.marker.provider_id.lower()} or wanted in test.codes:
        return 1.0
    words = find_words(wanted)
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
    return {
        slug: sorted(found[slug], key=rank_candidate)[:limit] for slug in sorted(found)
    }


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
    found.sort(key=lambda pair: rank_candidate(pair[1]))
    return tuple(found[:limit])
