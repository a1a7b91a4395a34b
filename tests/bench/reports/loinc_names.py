"""Counts how names as laboratories print them are matched to LOINC.

Run `python -m tests.bench.reports.loinc_names [--round N] [--errors]`. The rows of
tests/reports/parser/loinc_unseen.csv were written down, with every code that a careful
coder accepts, before they were looked for in the catalogue. A round is unseen once
only: what it missed at first sight was mended.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reports.parser.loinc import LoincMatches, rank_loinc_matches
from reports.parser.report import LoincMatchStatus

ROWS = Path(__file__).parents[2] / "reports/parser/loinc_unseen.csv"
OUTCOMES = ("right", "asked, right first", "asked, wrong first", "nothing", "wrong")


def read_rows() -> tuple[dict[str, str], ...]:
    """Columns: round, country, panel, name, units, value, codes (any is accepted)."""
    return tuple(csv.DictReader(ROWS.read_text(encoding="utf-8").splitlines()))


def match_row(row: dict[str, str]) -> LoincMatches:
    return rank_loinc_matches(
        name=row["name"],
        units=row["units"] or None,
        value=row["value"],
        panel=row["panel"] or None,
        sample_type=None,
    )


def outcome(row: dict[str, str], found: LoincMatches) -> str:
    """One of OUTCOMES; "asked" is a row that waits for a person."""
    if not found.matches:
        return "nothing"
    right = found.matches[0].loinc_code in row["codes"].split()
    if found.status is LoincMatchStatus.AUTO_MATCH:
        return "right" if right else "wrong"
    return "asked, right first" if right else "asked, wrong first"


def outcomes(round_: str | None = None) -> Iterator[tuple[dict[str, str], str]]:
    for row in read_rows():
        if round_ in (None, row["round"]):
            yield row, outcome(row, match_row(row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--round")
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for row, found in outcomes(options.round):
        counts[found] += 1
        if options.errors and found != "right":
            first = [
                f"{one.loinc_code} {one.loinc_name}"
                for one in match_row(row).matches[:2]
            ]
            print(found, *(row[k] for k in ("panel", "name", "units")), sep=" | ")
            print("    wanted", row["codes"], "got", *first, sep="\n      ")
    total = sum(counts.values())
    for name in OUTCOMES:
        print(f"{name:20} {counts[name]:4} {counts[name] / total:6.1%}")


if __name__ == "__main__":
    main()
