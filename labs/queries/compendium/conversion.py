"""Convert the tests of a panel to another lab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.models.catalogue import sum_prices
from labs.queries.compendium.comparison import (
    Candidate,
    compare_tests,
    pair_results,
    rank_candidate,
)
from labs.queries.compendium.offered import load_compendium
from labs.states.compendium import ConversionReason, Relation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from accounts.models import Tenant
    from labs.models import Lab
    from labs.queries.compendium.offered import CompendiumTest


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
    ranked = sorted(best.values(), key=rank_candidate)
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
        (one, pair_results(source, one.test).keys())
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
