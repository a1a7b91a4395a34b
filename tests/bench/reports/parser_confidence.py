"""Fit the tables that turn evidence into confidence.

Run `python -m tests.bench.reports.parser_confidence [--pictures N] [--seed N ...]`:
reads the synthetic corpus with evidence left as it is, fits a rising step function to
what was right (pool adjacent violators), and prints the tables with the error they
leave on layouts held out. The tables are then copied by hand, so that a change is seen.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from reports.management.scorecard.calibration import expected_error
from reports.management.scorecard.marking import Claim
from reports.management.scorecard.scoring import score_reports, spread_sample
from reports.parser.assembly import confidence
from reports.parser.assembly.confidence import (
    PARTS,
    Table,
    interpolate_calibration_table,
)
from tests.reports.corpus import draw_report, layout_names

_PLAIN: Table = ((0.0, 0.0), (1.0, 1.0))
# A step of fewer claims than this says nothing.
_LEAST_CLAIMS = 60
# What is always right among so few may be wrong in the world.
_PRIOR_WRONG = 1.0


def collect_claims(
    *, pictures: int, seeds: Iterable[int], held_out: bool
) -> list[Claim]:
    """Claims whose confidence is bare evidence, over text and pictures."""
    used = dict(confidence.TABLES)
    claims: list[Claim] = []
    try:
        confidence.TABLES.update(dict.fromkeys(PARTS, _PLAIN))
        with tempfile.TemporaryDirectory() as scratch:
            for seed in seeds:
                for kind in ("text", "screenshot", "scan", "photo"):
                    names = layout_names(held_out=held_out, kind=kind)
                    if kind != "text":
                        names = spread_sample(names, limit=pictures, salt=kind)
                    reports = (
                        draw_report(
                            Path(scratch) / str(seed), name, kind=kind, seed=seed
                        )
                        for name in names
                    )
                    for scored in score_reports(reports):
                        claims += scored.marks.claims
    finally:
        confidence.TABLES.update(used)
    return claims


def fit_table(claims: Sequence[Claim]) -> Table:
    """The share right as a rising function of the evidence, in few points.

    Below what was ever seen it falls to nothing: no evidence is no confidence.
    """
    steps: list[_Step] = []
    for evidence, right, count in _bins(claims):
        steps.append((evidence, right, count))
        while len(steps) > 1 and _share(steps[-2]) >= _share(steps[-1]):
            last, before = steps.pop(), steps.pop()
            steps.append(_together(before, last))
    points = ((round(e / n, 3), round(_share((e, r, n)), 3)) for e, r, n in steps)
    return ((0.0, 0.0), *points)


_Step = tuple[float, float, float]  # evidence summed, right, claims


def _share(step: _Step) -> float:
    _, right, count = step
    return right / (count + _PRIOR_WRONG)


def _together(one: _Step, other: _Step) -> _Step:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def _bins(claims: Sequence[Claim]) -> list[_Step]:
    """Claims of like evidence, enough in each; equal evidence is never parted."""
    bins: list[_Step] = []
    last = -1.0
    for claim in sorted(claims, key=lambda claim: claim.confidence):
        one = (claim.confidence, float(claim.right), 1.0)
        is_open = bins and (claim.confidence == last or bins[-1][2] < _LEAST_CLAIMS)
        bins[-1:] = [_together(bins[-1], one)] if is_open else [*bins[-1:], one]
        last = claim.confidence
    if len(bins) > 1 and bins[-1][2] < _LEAST_CLAIMS:
        bins[-2:] = [_together(bins[-2], bins[-1])]
    return bins


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="tests.bench.reports.parser_confidence")
    options.add_argument("--pictures", type=int, default=8, help="of a kind")
    options.add_argument("--unseen", type=int, default=4, help="of a kind, held out")
    options.add_argument("--seed", type=int, nargs="+", default=[0])
    chosen = options.parse_args(arguments)
    fitted = collect_claims(pictures=chosen.pictures, seeds=chosen.seed, held_out=False)
    unseen = collect_claims(pictures=chosen.unseen, seeds=[0], held_out=True)
    for part in PARTS:
        mine = [claim for claim in fitted if claim.part == part]
        table = fit_table(mine) if mine else _PLAIN
        print(f'    "{part}": {table},')
        for name, claims in (("fitted", fitted), ("held out", unseen)):
            own = [claim for claim in claims if claim.part == part]
            stated = [
                Claim(
                    part,
                    interpolate_calibration_table(table, claim.confidence),
                    claim.right,
                )
                for claim in own
            ]
            print(
                f"    # {name}: {len(own)} claims, expected error "
                f"{expected_error(own):.3f} bare, {expected_error(stated):.3f} fitted"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
