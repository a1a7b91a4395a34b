"""Whether a confidence of 0.9 is right nine times in ten.

Works on the claims that marking kept; knows no report and prints nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from reports.management.scorecard.marking import Claim

# Finer where confidences gather. The upper edge belongs to the next bin, but for 1.
EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)


@dataclass(frozen=True, slots=True)
class Bin:
    """Claims of similar confidence: number, stated share and true share (0 to 1)."""

    low: float
    high: float
    claims: int
    stated: float
    right: float


def build_reliability_bins(claims: Sequence[Claim]) -> list[Bin]:
    """Return the bins with any claims, lowest confidence first."""
    found = []
    for low, high in itertools.pairwise(EDGES):
        last = high == EDGES[-1]
        inside = [
            claim
            for claim in claims
            if low <= claim.confidence < high or (last and claim.confidence == high)
        ]
        if inside:
            stated = sum(claim.confidence for claim in inside) / len(inside)
            right = sum(claim.right for claim in inside) / len(inside)
            found.append(Bin(low, high, len(inside), stated, right))
    return found


def expected_error(claims: Sequence[Claim]) -> float:
    """Mean distance of stated from true confidence, weighed by claims; 0 if none."""
    if not claims:
        return 0.0
    gaps = (abs(b.stated - b.right) * b.claims for b in build_reliability_bins(claims))
    return sum(gaps) / len(claims)
