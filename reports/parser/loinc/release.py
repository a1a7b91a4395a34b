"""The official LOINC table, imported: what the search looks through besides our own.

Reads the release's CSV and writes one file of it that is searched in place. The
release is optional, and never decides a match: its names are offered to a person.
Which folder it lies in, the caller says.
"""

from __future__ import annotations

import csv
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from .catalogue import normalize_name_text

FILE_NAME = "loinc.sqlite3"
_VERSION = 1
_REQUIRED = (
    "LOINC_NUM",
    "COMPONENT",
    "PROPERTY",
    "TIME_ASPCT",
    "SYSTEM",
    "SCALE_TYP",
    "METHOD_TYP",
    "LONG_COMMON_NAME",
    "STATUS",
)
_CODE = re.compile(r"\d{1,7}-\d")
_LABORATORY = "1"
_GONE = frozenset({"DEPRECATED", "DISCOURAGED"})
_WORD = re.compile(r"[a-z0-9]+")
_MOST_WORDS = 8
# Rows of the table without a rank among the common tests come after those with one.
_NO_RANK = 1_000_000

_SPECIMENS: dict[str, str] = {
    "ser": "serum",
    "plas": "serum",
    "ser/plas": "serum",
    "ser/plas/bld": "serum",
    "ppp": "serum",
    "bld": "blood",
    "rbc": "blood",
    "bldc": "capillary",
    "blda": "arterial",
    "bldv": "venous",
    "urine": "urine",
    "urine sed": "urine",
    "stool": "stool",
    "csf": "csf",
    "saliva": "saliva",
    "semen": "semen",
}


class ReleaseFault(StrEnum):
    """Why a file is not taken."""

    FOREIGN = "not_a_loinc_table"
    DAMAGED = "damaged_loinc_table"
    EMPTY = "empty_loinc_table"


class ReleaseRefused(Exception):
    """The file is no LOINC table, or not a whole one. `line` is from 1, or None."""

    def __init__(self, fault: ReleaseFault, line: int | None = None) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.line = line


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One laboratory code of the release; specimen in the catalogue's words."""

    code: str
    component: str
    property: str
    specimen: str
    system: str
    scale: str
    method: str
    long_common_name: str
    units: tuple[str, ...]


def import_loinc_release(source: Path, folder: Path) -> int:
    """Import the table; what was there before stays until the new file is whole.

    Takes the release's Loinc.csv or LoincTableCore.csv: active laboratory codes.
    Returns how many codes it holds. Raises: ReleaseRefused, and OSError where the
    folder can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=FILE_NAME, suffix=".part")
    os.close(handle)
    unfinished = Path(name)
    try:
        count = _fill(unfinished, source)
        unfinished.chmod(0o644)
        unfinished.replace(folder / FILE_NAME)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return count


def search_loinc_release(
    folder: Path, text: str, *, limit: int = 50
) -> list[ReleaseRow]:
    """Return codes whose names have all words or their beginnings, common tests first.

    Empty where nothing is imported, and where the file is not one of this version.
    """
    words = _WORD.findall(normalize_name_text(text))[:_MOST_WORDS]
    file = folder / FILE_NAME
    if not words or not file.is_file():
        return []
    wanted = " ".join(f'"{word}"*' for word in words)
    try:
        # Immutable: a reader writes no journal, for which the parser has no right.
        with closing(_open(f"{file.resolve().as_uri()}?mode=ro&immutable=1")) as table:
            if table.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                return []
            rows = table.execute(
                "SELECT code, component, property, specimen, system, scale, method,"
                " long_common_name, units FROM names JOIN codes ON codes.id ="
                " names.rowid WHERE names MATCH ? ORDER BY rank_of, length("
                "long_common_name), code LIMIT ?",
                (wanted, limit),
            ).fetchall()
    except sqlite3.DatabaseError:
        return []
    return [_stored(row) for row in rows]


def has_valid_loinc_check_digit(code: str) -> bool:
    """Return whether a text is a LOINC code with a valid check digit (modulus 10)."""
    if not _CODE.fullmatch(code):
        return False
    body, _, digit = code.partition("-")
    total = 0
    for place, sign in enumerate(reversed(body)):
        number = int(sign) * (2 if place % 2 == 0 else 1)
        total += number - 9 if number > 9 else number
    return (10 - total % 10) % 10 == int(digit)


def _stored(row: Sequence[str]) -> ReleaseRow:
    code, component, kind, specimen, system, scale, method, name, units = row
    return ReleaseRow(
        code=code,
        component=component,
        property=kind,
        specimen=specimen,
        system=system,
        scale=scale,
        method=method,
        long_common_name=name,
        units=tuple(filter(None, units.split("|"))),
    )


def _fill(file: Path, source: Path) -> int:
    with closing(_open(f"{file.resolve().as_uri()}?mode=rwc")) as table:
        table.execute(
            "CREATE TABLE codes (id INTEGER PRIMARY KEY, code TEXT UNIQUE, component,"
            " property, specimen, system, scale, method, long_common_name, units,"
            " rank_of INTEGER)"
        )
        table.execute(
            "CREATE VIRTUAL TABLE names USING fts5(text, content='', prefix='2 3')"
        )
        count = 0
        try:
            for count, (row, names, rank) in enumerate(_read(source), start=1):
                table.execute(
                    "INSERT INTO codes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        count,
                        row.code,
                        row.component,
                        row.property,
                        row.specimen,
                        row.system,
                        row.scale,
                        row.method,
                        row.long_common_name,
                        "|".join(row.units),
                        rank,
                    ),
                )
                table.execute(
                    "INSERT INTO names (rowid, text) VALUES (?, ?)",
                    (count, normalize_name_text(names)),
                )
        except sqlite3.IntegrityError:  # a code twice
            raise ReleaseRefused(ReleaseFault.DAMAGED) from None
        if not count:
            raise ReleaseRefused(ReleaseFault.EMPTY)
        table.execute(f"PRAGMA user_version = {_VERSION}")
        table.commit()
        table.execute("VACUUM")
    return count


def _read(source: Path) -> Iterator[tuple[ReleaseRow, str, int]]:
    """Every active laboratory code with its names and its rank."""
    try:
        with source.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            if not set(_REQUIRED) <= set(reader.fieldnames or ()):
                raise ReleaseRefused(ReleaseFault.FOREIGN, 1)
            for line in reader:
                if not has_valid_loinc_check_digit(line["LOINC_NUM"] or ""):
                    raise ReleaseRefused(ReleaseFault.DAMAGED, reader.line_num)
                if line["STATUS"] is None or not line["LONG_COMMON_NAME"]:
                    raise ReleaseRefused(ReleaseFault.DAMAGED, reader.line_num)
                if line["STATUS"].upper() in _GONE:
                    continue
                if line.get("CLASSTYPE", _LABORATORY) != _LABORATORY:
                    continue
                yield _row(line), _names(line), _rank(line)
    except (UnicodeDecodeError, csv.Error):
        raise ReleaseRefused(ReleaseFault.FOREIGN) from None


def _row(line: dict[str, str]) -> ReleaseRow:
    system = line["SYSTEM"] or ""
    specimen = _SPECIMENS.get(system.casefold().partition("^")[0], "other")
    if specimen == "urine" and line["TIME_ASPCT"] == "24H":
        specimen = "urine24"
    units = (line.get("EXAMPLE_UCUM_UNITS") or "").split(";")
    return ReleaseRow(
        code=line["LOINC_NUM"],
        component=line["COMPONENT"] or "",
        property=line["PROPERTY"] or "",
        specimen=specimen,
        system=system,
        scale=line["SCALE_TYP"] or "",
        method=line["METHOD_TYP"] or "",
        long_common_name=line["LONG_COMMON_NAME"],
        units=tuple(unit.strip() for unit in units if unit.strip()),
    )


def _names(line: dict[str, str]) -> str:
    wanted = ("LOINC_NUM", "LONG_COMMON_NAME", "SHORTNAME", "COMPONENT")
    names = [line.get(column) or "" for column in (*wanted, "RELATEDNAMES2")]
    return " ".join(names)


def _rank(line: dict[str, str]) -> int:
    rank = line.get("COMMON_TEST_RANK") or ""
    return int(rank) if rank.isdigit() and int(rank) else _NO_RANK


def _open(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True)
