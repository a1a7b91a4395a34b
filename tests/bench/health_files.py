"""What becomes of health files as people really have them: read, refused, crashed.

Run `python -m tests.bench.health_files FOLDER`, with a folder of forms, each a folder
of files. Each file is told by its content and read whole, as an import reads it before
anything is stored; no database is needed. Prints a table by form and outcome and what
differs from health_files.csv; fails at a crash, or if fewer than 95% of valid files
are read. `--write` writes the table, which has no content of the files: the digest of
each, its form, whether it is valid, its outcome, the rows read and the rows skipped.

Valid is a file of its form that holds measurements. The third column says why one is
not, by hand; `--write` keeps it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import sys
import tempfile
from collections import Counter
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

TABLE = Path(__file__).with_suffix(".csv")
MUST = 0.95
READ, REFUSED, CRASHED = "read", "refused", "crashed"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file; `invalid` says why it need not be read."""

    digest: str
    form: str
    invalid: str
    outcome: str
    code: str
    rows: int = 0
    skipped: int = 0

    @property
    def is_valid(self) -> bool:
        return not self.invalid


def process(path: Path, invalid: dict[str, str], parts: Path) -> Outcome:
    """Tell a file's format and read it whole."""
    from portal.lib.periods import find_time_zone_by_name
    from users.wearables.formats.refusals import FileRefused
    from users.wearables.formats.sniffing import detect_file_format
    from users.wearables.formats.staging import parse_file_into_parts
    from users.wearables.readings import Context

    context = Context(
        user_uuid=UUID(int=7),
        provider="manual",
        time_zone="UTC",
        zone=find_time_zone_by_name("UTC"),
        now=NOW,
    )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    known = digest, path.parent.name, invalid.get(digest, "")
    name = path.name.partition("-")[2] or path.name
    try:
        format_ = detect_file_format(path, name)
        staged = parse_file_into_parts(
            path,
            parts,
            format_=format_,
            file_name=name,
            context=context,
            on_progress=lambda _: None,
        )
    except FileRefused as refused:
        return Outcome(*known, REFUSED, refused.code)
    except Exception as fault:  # noqa: BLE001 - a crash is what is counted
        return Outcome(*known, CRASHED, type(fault).__name__)
    rows, skipped = staged.rows_read, staged.rows_dropped
    if not staged.parts:
        return Outcome(*known, REFUSED, "nothing_to_import", rows, skipped)
    return Outcome(*known, READ, str(format_), rows, skipped)


def read_table() -> dict[str, list[str]]:
    """Return the rows of the last table by digest."""
    if not TABLE.exists():
        return {}
    with TABLE.open(newline="") as opened:
        return {row[0]: row for row in csv.reader(opened)}


def print_table(found: list[Outcome]) -> None:
    outcomes = (READ, REFUSED, CRASHED)
    print(f"{'form':20}{'files':>7}{'valid':>7}" + "".join(f"{o:>9}" for o in outcomes))
    counts: Counter[Any] = Counter()
    for one in found:
        counts[one.form, "files"] += 1
        counts[one.form, "valid"] += one.is_valid
        counts[one.form, one.outcome] += 1
    for form in sorted({one.form for one in found}):
        figures = "".join(f"{counts[form, name]:>9}" for name in outcomes)
        print(f"{form:20}{counts[form, 'files']:>7}{counts[form, 'valid']:>7}{figures}")
    for one in found:
        if one.outcome == CRASHED or (one.is_valid and one.outcome != READ):
            print(f"{one.form}/{one.digest} {one.outcome}: {one.code}")


def compare_with_table(found: list[Outcome], before: dict[str, list[str]]) -> None:
    for one in found:
        known, now = before.get(one.digest), [str(each) for each in astuple(one)]
        if known is not None and known[3:] != now[3:]:
            print(f"{one.form}/{one.digest}: {known[3:]} is now {now[3:]}")


def main() -> int:
    """Print the table; 1 for a crash or too many valid files refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    before = read_table()
    invalid = {digest: row[2] for digest, row in before.items()}
    with tempfile.TemporaryDirectory() as scratch:
        parts = Path(scratch) / "parts"
        files = sorted(each for each in options.folder.rglob("*") if each.is_file())
        found = [process(path, invalid, parts) for path in files]
    print_table(found)
    compare_with_table(found, before)
    if options.write:
        with TABLE.open("w", newline="") as opened:
            csv.writer(opened, lineterminator="\n").writerows(map(astuple, found))
    crashed = sum(one.outcome == CRASHED for one in found)
    valid = [one.outcome == READ for one in found if one.is_valid]
    share = sum(valid) / len(valid) if valid else 1.0
    print(
        f"{len(found)} files of {len({one.form for one in found})} forms, {crashed}"
        f" crashed; of {len(valid)} valid {share:.1%} read, must be {MUST:.0%}"
    )
    return int(bool(crashed) or share < MUST)


if __name__ == "__main__":
    sys.exit(main())
