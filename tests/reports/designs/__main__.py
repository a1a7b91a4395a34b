"""Prints designs into a folder; see the package."""

from __future__ import annotations

import argparse
from pathlib import Path

from reports.management.scorecard.truth import KINDS
from tests.reports.designs import design_paths
from tests.reports.designs.printing import print_designs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.reports.designs")
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", help="parts of names, or paths of designs")
    parser.add_argument("--kind", choices=KINDS, default="text")
    parser.add_argument("--seed", type=int, default=0, help="other wear of pictures")
    asked = parser.parse_args()
    own = [Path(part) for part in asked.parts if part.endswith(".html")]
    parts = [part for part in asked.parts if not part.endswith(".html")]
    paths = own + (design_paths(*parts) if parts or not own else [])
    reports = print_designs(paths, asked.folder, kind=asked.kind, seed=asked.seed)
    rows = sum(len(report.required_rows) for report in reports)
    print(f"{len(reports)} designs, {rows} rows in {asked.folder}")  # noqa: T201


if __name__ == "__main__":
    main()
