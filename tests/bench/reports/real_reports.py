"""Scores the parser on real reports that are no part of the project.

Run `python -m tests.bench.reports.real_reports TRUTH FILES [--folds 1 2] [--errors]`.
TRUTH is a folder with manifest.json (one entry a document: id, kind, fold, rows) and
score.py (its `score` and `show` count predictions). FILES holds each document as its
id with the ending of its kind. Documents of folds 4 and 5 are never shown, only their
totals.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from reports.management.scorecard.kept_pages import parse_with_cached_pages
from reports.management.scorecard.scoring import Parser, naive_rows, parse_rows
from reports.parser.report import ParsedResult
from reports.parser.rows.grammar import breaks_value_grammar

OPEN_FOLDS = frozenset({1, 2, 3})
Document = dict[str, Any]


def load_scorer(path: Path) -> ModuleType:
    """The scorer of the truth's authors, run as it is."""
    found = importlib.util.spec_from_file_location("real_reports_score", path)
    if found is None or found.loader is None:
        raise SystemExit(f"{path} is no Python module.")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def describe_row(row: ParsedResult) -> dict[str, str]:
    """One row in the words of the scorer."""
    return {
        "name": row.test_name,
        "value": row.value,
        "unit": row.units or "",
        "reference_range": row.reference_range or "",
        "loinc": row.loinc_matches[0].loinc_code if row.loinc_matches else "",
        "interpretation": row.interpretation,
    }


def show_documents(
    documents: Sequence[Document], scorer: ModuleType, found: Any
) -> None:
    """Print every miss of the documents that are open to learn from."""
    for document in documents:
        if document["fold"] in OPEN_FOLDS:
            print(f"{document['id']} ({document['kind']}, {document['layout']})")
            scorer.score([document], found, False, document["id"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("truth", type=Path)
    parser.add_argument("files", type=Path)
    parser.add_argument("--folds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--kind", action="append")
    parser.add_argument("--only", default="", help="ids that match this pattern")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--naive", action="store_true")
    parser.add_argument("--pages", type=Path, help="cache the words read here")
    options = parser.parse_args()
    manifest: list[Document] = [
        document
        for document in json.loads((options.truth / "manifest.json").read_text())
        if document["fold"] in options.folds
        and document["kind"] in (options.kind or [document["kind"]])
        and re.search(options.only, document["id"])
    ]
    read: Parser = naive_rows if options.naive else parse_rows
    if options.pages and not options.naive:
        read = partial(parse_with_cached_pages, options.pages)
    found: dict[str, list[dict[str, str]]] = {}
    refused: Counter[str] = Counter()
    broken = 0
    for document in manifest:
        rows, refusal = read(sorted(options.files.glob(f"{document['id']}.*")))
        found[document["id"]] = [describe_row(row) for row in rows]
        broken += sum(1 for row in rows if breaks_value_grammar(row.value))
        refused.update([refusal] if refusal else [])
    scorer = load_scorer(options.truth / "score.py")
    if options.errors:
        show_documents(manifest, scorer, found)
    for fold in options.folds:
        own = [document for document in manifest if document["fold"] == fold]
        if own and len(options.folds) > 1 and fold in OPEN_FOLDS:
            print(f"fold {fold}")
            scorer.show(scorer.score(own, found))
    print("all folds asked for")
    scorer.show(scorer.score(manifest, found))
    print(f"values that break the grammar {broken}, refused {dict(refused)}")


if __name__ == "__main__":
    main()
