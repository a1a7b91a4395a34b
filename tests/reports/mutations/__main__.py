"""Prints the rows lost by each mutation; see the package."""

from __future__ import annotations

import argparse

from reports.management.scorecard.marking import Marks, add_marks, mark_report
from reports.parser.parsing import parse_report_pages
from reports.parser.report import UnreadableReport
from tests.reports.mutations import MUTATIONS, Mutation, list_sources, make_report


def score_mutation(mutation: Mutation, *, every: int = 1) -> tuple[Marks, list[str]]:
    """Return the marks of a mutation, and the pages that were lost as a whole."""
    marks, lost = [], []
    for name, rows in list_sources(every=every):
        report, page = make_report(mutation, name, rows)
        try:
            found = parse_report_pages([page]).results
        except UnreadableReport:
            found = ()
        marks.append(mark_report(report, found))
        if marks[-1].parts["strict"].right == 0:
            lost.append(name)
    return add_marks(marks), lost


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.reports.mutations")
    parser.add_argument("--only", default="", help="mutations whose name has this")
    parser.add_argument("--every", type=int, default=1, help="every so many pages")
    parser.add_argument("--errors", action="store_true")
    asked = parser.parse_args()
    print("| Mutation | Rows | Lost | Strict | Invented | Pages lost whole |")  # noqa: T201
    print("|---|---|---|---|---|---|")  # noqa: T201
    for mutation in MUTATIONS:
        if asked.only not in mutation.name:
            continue
        total, lost = score_mutation(mutation, every=asked.every)
        rows = total.parts["strict"]
        print(  # noqa: T201
            f"| {mutation.name} | {rows.asked} | {rows.asked - rows.right}"
            f" | {100 * rows.rate:.1f} | {total.invented} | {len(lost)} |"
        )
        for fault in (*total.faults, *lost) if asked.errors else ():
            print(f"    {fault}")  # noqa: T201


if __name__ == "__main__":
    main()
