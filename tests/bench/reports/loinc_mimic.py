"""Counts how the tests of a hospital, MIMIC-IV's d_labitems, get their LOINC codes.

Run `python -m tests.bench.reports.loinc_mimic MAPPING [--errors N]`. MAPPING is
mimic-iv/mapping/d_labitems_to_loinc.csv of github.com/MIT-LCP/mimic-code, a public
table by hand: label, fluid, category and unit of each test, its code, and how often it
was measured. It is no part of the project. Rows without a LOINC code are left out.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from reports.parser.loinc import load_loinc_catalogue, rank_loinc_matches
from reports.parser.report import LoincMatchStatus, SampleType

Item = dict[str, str]
# A fluid of the table, as a report's heading names its specimen.
SPECIMENS = {
    "Blood": SampleType.BLOOD,
    "Urine": SampleType.URINE,
    "Stool": SampleType.STOOL,
}
NO_UNIT = frozenset({"N/A", "#ERROR!"})
# A text in place of a value, which the table does not have, for tests without a unit.
NUMBER, FINDING = "1", "Negative"


def read_items(path: Path) -> list[Item]:
    """Columns: label, fluid, category, valueuom, omop_concept_code, and others."""
    rows = csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines())
    return [
        row
        for row in rows
        if row["omop_vocabulary_id"] == "LOINC" and row["omop_concept_code"]
    ]


def rank_codes(item: Item) -> tuple[bool, list[str]]:
    """Whether the first code is given without a person, and all codes, best first."""
    unit = item["valueuom"].split("|")[0]
    units = None if unit in NO_UNIT or not unit else unit
    found = rank_loinc_matches(
        name=item["label"],
        units=units,
        value=NUMBER if units else FINDING,
        panel=f"{item['category']}, {item['fluid']}",
        sample_type=SPECIMENS.get(item["fluid"], SampleType.OTHER),
    )
    sure = found.status is LoincMatchStatus.AUTO_MATCH
    return sure, [match.loinc_code for match in found.matches]


def count_measured(item: Item) -> int:
    return int(item["labevents_row_count"].replace(",", "") or 0)


def show_shares(
    title: str, items: Sequence[Item], ranked: dict[str, list[str]]
) -> None:
    """Print how many items, and how many measurements, have the right code."""
    weights = {
        item["itemid (omop_source_code)"]: count_measured(item) for item in items
    }
    total = sum(weights.values())
    print(f"{title}: {len(items)} tests, {total} measurements")
    for depth in (1, 3):
        right = [
            key
            for key, item in zip(weights, items, strict=True)
            if item["omop_concept_code"] in ranked[key][:depth]
        ]
        measured = sum(weights[key] for key in right)
        print(
            f"  right among the first {depth}: {len(right) / len(items):6.1%} of tests,"
            f" {measured / total:6.1%} of measurements"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mapping", type=Path)
    parser.add_argument("--errors", type=int, default=0, help="show the most measured")
    options = parser.parse_args()
    items = read_items(options.mapping)
    ranked: dict[str, list[str]] = {}
    outcomes: Counter[str] = Counter()
    for item in items:
        sure, codes = rank_codes(item)
        ranked[item["itemid (omop_source_code)"]] = codes
        right = codes[:1] == [item["omop_concept_code"]]
        outcome = "nothing" if not codes else "given" if sure else "asked"
        outcomes[
            f"{outcome}, {'right' if right else 'other'}" if codes else outcome
        ] += 1
    entries = load_loinc_catalogue().entries.values()
    shipped = {entry.code for several in entries for entry in several}
    show_shares("all", items, ranked)
    own = [item for item in items if item["omop_concept_code"] in shipped]
    show_shares("with a code that the catalogue ships", own, ranked)
    print(", ".join(f"{name} {number}" for name, number in outcomes.most_common()))
    wrong = [
        item
        for item in own
        if ranked[item["itemid (omop_source_code)"]][:1] != [item["omop_concept_code"]]
    ]
    for item in sorted(wrong, key=count_measured, reverse=True)[: options.errors]:
        print(
            *(item[name] for name in ("label", "fluid", "category", "valueuom")),
            f"{item['omop_concept_code']} {item['omop_concept_name']}",
            ranked[item["itemid (omop_source_code)"]][:3],
            sep=" | ",
        )


if __name__ == "__main__":
    main()
